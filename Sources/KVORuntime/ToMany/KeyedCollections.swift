internal import CKVORuntime

// To-many keys that are read and set as a whole by key-value coding: their proxies set a changed copy.

/// A key whose value is an array, read and set by key-value coding.
struct KeyedArray: OrderedReading, OrderedMutation {
  let key: ToManyKey
  /// Nil for a key that only the object's hook for undefined keys answers.
  let property: Property?

  private var elements: [Any] {
    (try? key.object.value(forKey: key.name.string)).flatMap { $0.flatMap(anyArray) } ?? []
  }

  var count: Int { elements.count }
  func element(at index: Int) -> Any { elements[index] }
  func elements(in range: Range<Int>) -> [Any] { Array(elements[range]) }
  var snapshot: any OrderedReading { ArraySnapshot(all: elements) }

  func form(of member: AnyHashable) -> AnyHashable {
    property?.valueType?.shape?.form(of: member) ?? member.inSwiftForm
  }

  func index(of member: AnyHashable) -> Int? {
    let sought = SoughtElements([member.base], by: form)
    return elements.firstIndex { sought.contains($0) }
  }

  func apply(_ edit: () throws -> OrderedEdit<Any>?) throws {
    func made() throws -> (edit: OrderedEdit<Any>, before: [Any]?, elements: [Any])? {
      guard let edit = try edit() else { return nil }
      let (before, elements) = try changed { _ = try key.apply(edit, of: &$0) }
      try requireUnique(elements)
      return (edit, before, elements)
    }
    guard let first = try made() else { return }
    try key.change(first.edit.kind, at: first.edit.indexes) { open in
      guard let made = open.becameSetting ? try made() : first else { return }
      try key.object.setValue(made.elements, forKey: key.name.string)
      guard mayAdjust, !hasElements(elements, passed: passed(made.elements)) else { return }
      key.changeIsSetting(old: coreValue(of: first.before), isFirst: open.isFirst)
    }
  }

  func set(_ elements: [Any]) throws {
    let changed = try changed { $0 = elements }.elements
    try key.changeWhole { _ in try key.object.setValue(changed, forKey: key.name.string) }
  }

  // Foundation's ordered set would drop a member that it is given twice.
  private func requireUnique(_ elements: [Any]) throws {
    guard property?.valueType?.shape?.kind == .KVO_ORDERED_SET else { return }
    var known: Set<AnyHashable> = []
    for case let member as AnyHashable in elements where !known.insert(form(of: member)).inserted {
      throw KeyValueError.validationFailed(
        key: key.name.string, className: key.className,
        reason: "it is an ordered set and would have \(member) twice.")
    }
  }

  // A setter of the program may store other elements than it is passed. Plain storage does not.
  private var mayAdjust: Bool {
    let isPlain = property.map { $0.accessors == nil } ?? false
    return !isPlain && key.isObserved
  }

  // The elements as the setter gets them, in the property's type.
  private func passed(_ elements: [Any]) -> [Any] {
    property?.converted(elements).flatMap(anyArray) ?? elements
  }

  private func coreValue(of elements: [Any]?) -> kvo_value {
    guard let elements, let property else { return CoreValue.of(elements) }
    return property.observedValue(of: elements)
  }

  // Throws for elements that the key can't have, before any observer is notified.
  // - Returns: the elements before the change, nil if the value was nil, and the new ones. A setter may change the value
  //   itself in place.
  private func changed(
    _ body: (inout [Any]) throws -> Void
  ) throws -> (before: [Any]?, elements: [Any]) {
    let value = try key.object.value(forKey: key.name.string)
    guard let before = anyArray(value ?? []) else {
      throw key.holds(value as Any, no: [Any].self)
    }
    if property?.isUnused(in: key.object) == true { throw key.unused }
    var elements = before
    try body(&elements)
    _ = try property?.takes(elements, of: key.object)
    return (value == nil ? nil : before, elements)
  }
}

/// A key whose value is a set, read and set by key-value coding.
struct KeyedSet: MemberReading, MemberMutation {
  let key: ToManyKey
  /// Nil for a key that only the object's hook for undefined keys answers.
  let property: Property?

  var members: Set<AnyHashable> {
    (try? key.object.value(forKey: key.name.string)).flatMap { $0.flatMap(anySet) } ?? []
  }
  var count: Int { members.count }
  func contains(_ member: AnyHashable) -> Bool { sought([member]).isWithin(members) }
  func sought(_ values: Set<AnyHashable>) -> Set<AnyHashable> { own(values, among: members) }

  // The values. Each that Foundation's set takes for one of its members is replaced by that member.
  private func own(
    _ values: Set<AnyHashable>, among members: Set<AnyHashable>
  ) -> Set<AnyHashable> {
    let values = values.inSwiftForm
    guard let shape = property?.valueType?.shape, !values.isWithin(members) else { return values }
    var known = Dictionary(
      members.map { (shape.form(of: $0), $0) }, uniquingKeysWith: { first, _ in first })
    return Set(
      values.map { value in
        let form = shape.form(of: value)
        let own = known[form] ?? value
        known[form] = own
        return own
      })
  }

  func mutate(_ mutation: KeyValueSetMutation, _ members: Set<AnyHashable>) throws {
    let first = try mutated(mutation, members)
    // Returns the new members.
    let set = { (open: OpenChange) throws -> Set<AnyHashable> in
      let made = open.becameSetting ? try mutated(mutation, members) : first
      try key.object.setValue(made.value, forKey: key.name.string)
      return made.members
    }
    guard let property, property.observedType.hidesMembers else {
      return try key.change(mutation, .of(first.operand)) { _ = try set($0) }
    }
    // The type does not describe its members, so the core can't compare them. Compute the difference here.
    let present = first.before ?? []
    try key.change(
      mutation.kind, goes: property.observedValue(of: present.removing(first.members)),
      comes: property.observedValue(of: first.members.removing(present))
    ) { open in
      let made = try set(open)
      guard property.accessors != nil else { return }
      let (stored, passed) = (self.members, property.converted(made).flatMap(anySet) ?? made)
      if stored.isWithin(passed), passed.isWithin(stored) { return }
      let old = first.before.map { property.observedValue(of: $0) } ?? kvo_value()
      key.changeIsSetting(old: old, isFirst: open.isFirst)
    }
  }

  private struct Mutated {
    /// The operand, in the form of the members.
    let operand: Set<AnyHashable>
    /// The members before the mutation; nil if the value was nil.
    let before: Set<AnyHashable>?
    let members: Set<AnyHashable>
    /// The members, or a counted set of them.
    let value: Any
  }

  // Throws for members that the key can't have.
  private func mutated(
    _ mutation: KeyValueSetMutation, _ operand: Set<AnyHashable>
  ) throws -> Mutated {
    let value = try key.object.value(forKey: key.name.string)
    guard let present = anySet(value ?? Set<AnyHashable>()) else {
      throw key.holds(value as Any, no: Set<AnyHashable>.self)
    }
    if property?.isUnused(in: key.object) == true { throw key.unused }
    let operand = own(operand, among: present)
    let members = mutation.result(of: present, operand)
    _ = try property?.takes(members, of: key.object)
    let counted = value.flatMap { FoundationLink.linked?.countedSet($0, with: members) }
    return Mutated(
      operand: operand, before: value == nil ? nil : present, members: members,
      value: counted ?? members)
  }
}

extension KeyValueSetMutation {
  fileprivate func result(
    of present: Set<AnyHashable>, _ members: Set<AnyHashable>
  ) -> Set<AnyHashable> {
    switch self {
    case .union: present.adding(members)
    case .minus: present.removing(members)
    case .intersect: present.keeping(members)
    case .set: members.withOneNaN
    }
  }
}
