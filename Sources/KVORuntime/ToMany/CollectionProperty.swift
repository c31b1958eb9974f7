internal import CKVORuntime
internal import CSwiftRuntime

// To-many keys whose collection is the value of a property. A stored property is changed in place; one with
// accessors is set to a changed copy.

/// The property that holds the collection of a key.
struct CollectionPlace {
  let key: ToManyKey
  let property: Property

  /// Calls a body with the collection's address. Nil if the property's getter throws.
  func read<R>(_ body: (UnsafeMutableRawPointer) -> R) -> R? {
    if kvo_is_recording() { key.object.reportRead(property.name.interned) }
    if property.accessors != nil { return (try? boxed())?.withAddress(body) }
    guard let address else { return nil }
    kvo_swift_check_access(address, false)
    return body(address)
  }

  func write<R>(_ body: (UnsafeMutableRawPointer) throws -> R) throws -> R {
    if let accessors = property.accessors {
      let value = try boxed()
      let result = try value.withAddress(body)
      try accessors.set(value, of: key.object)
      return result
    }
    guard let address else { throw key.readOnly }
    if Hint.areWanted {
      property.hintAtOverride(passedBy: "what changes its elements by a proxy", of: key.object)
    }
    var record = kvo_swift_access()
    return try withUnsafeMutablePointer(to: &record) { record in
      kvo_swift_begin_modify(address, record)
      defer { kvo_swift_end_modify(record) }
      return try body(address)
    }
  }

  /// The value of a property with accessors. Nil if its getter throws.
  func current<Stored>(as type: Stored.Type) -> Stored? {
    (try? boxed())?.withAddress { $0.assumingMemoryBound(to: type).pointee }
  }

  /// Throws for a lazy property that was not used yet, whose elements are unknown, and for one behind a link that its
  /// accessors force and that is nil.
  func requireElements() throws {
    if property.isUnused(in: key.object) { throw key.unused }
    if let accessors = property.accessors {
      try property.requireLinks(of: accessors, in: key.object)
    }
  }

  private var address: UnsafeMutableRawPointer? {
    property.storage.map { key.object.address + $0.offset }
  }

  private func boxed() throws -> ConvertedValue {
    let value = try property.accessors?.value(of: key.object)
    guard let type = property.valueType, case .value(let converted) = type.convert(value) else {
      throw key.mismatch(value as Any, expected: property.type.swiftType)
    }
    return converted
  }
}

/// An array property as an ordered to-many key.
struct ArrayProperty<Element>: OrderedReading, OrderedMutation {
  let place: CollectionPlace
  let isOptional: Bool

  private var elements: [Element] {
    let elements = place.read {
      isOptional
        ? $0.assumingMemoryBound(to: [Element]?.self).pointee ?? []
        : $0.assumingMemoryBound(to: [Element].self).pointee
    }
    return elements ?? []
  }

  var count: Int { elements.count }
  func element(at index: Int) -> Any { present(flattened(elements[index])) }
  func elements(in range: Range<Int>) -> [Any] {
    elements[range].map { present(flattened($0)) }
  }
  var snapshot: any OrderedReading { ArraySnapshot(all: elements) }

  func sought(_ value: Any) -> Any { KVORuntime.sought(value, as: Element.self) }
  func converted(_ element: Any) throws -> Any { try place.key.convert(element) as Element }

  func apply(_ edit: () throws -> OrderedEdit<Any>?) throws {
    func typed() throws -> OrderedEdit<Element>? {
      let edit = try edit()?.map { try place.key.convert($0) as Element }
      try place.requireElements()
      return edit
    }
    // The removed elements are released after the change, since their deinit may use the property.
    if place.property.accessors == nil {
      _ = try place.key.apply(typed, isExact: true) { edit, _ in
        try update { try place.key.apply(edit, of: &$0) }
      }
    } else if isOptional {
      _ = try set([Element]?.self, typed) { edit, stored in
        try stored.update([]) { try place.key.apply(edit, of: &$0) }
      }
    } else {
      _ = try set([Element].self, typed) { try place.key.apply($0, of: &$1) }
    }
  }

  func set(_ elements: [Any]) throws {
    let elements: [Element] = try elements.map { try place.key.convert($0) }
    try place.requireElements()
    _ = try place.key.changeWhole { _ in try update { exchange(&$0, elements) } }
  }

  private func exchange(_ stored: inout [Element], _ elements: [Element]) -> [Element] {
    let replaced = stored
    stored = elements
    return replaced
  }

  // A setter of the program may store other elements than it is passed: then the change is a setting.
  private func set<Stored>(
    _ type: Stored.Type, _ edit: () throws -> OrderedEdit<Element>?,
    _ body: (OrderedEdit<Element>, inout Stored) throws -> [Element]
  ) throws -> [Element]? {
    // Asked only once: another thread may register an observer.
    guard place.key.isObserved else {
      guard let edit = try edit() else { return nil }
      return try place.key.unannounced { try write(type) { try body(edit, &$0) }.gone }
    }
    let before = place.current(as: type)
    return try place.key.apply(edit) { edit, open in
      let (gone, passed) = try write(type) { try body(edit, &$0) }
      guard let before, let stored = place.current(as: type),
        !KVORuntime.hasElements(stored, passed: passed)
      else { return gone }
      place.key.changeIsSetting(old: .of(before), isFirst: open.isFirst)
      return gone
    }
  }

  private func write<Stored>(
    _ type: Stored.Type, _ body: (inout Stored) throws -> [Element]
  ) throws -> (gone: [Element], passed: Stored) {
    try place.write { address in
      let stored = address.assumingMemoryBound(to: type)
      let gone = try body(&stored.pointee)
      return (gone, stored.pointee)
    }
  }

  private func update<R>(_ body: (inout [Element]) throws -> R) throws -> R {
    try place.write { address in
      guard isOptional else {
        return try body(&address.assumingMemoryBound(to: [Element].self).pointee)
      }
      return try address.assumingMemoryBound(to: [Element]?.self).pointee.update([], body)
    }
  }
}

/// A copy of the elements, for an iteration.
private struct ArraySnapshot<Element>: OrderedReading {
  let all: [Element]

  var count: Int { all.count }
  func element(at index: Int) -> Any { present(flattened(all[index])) }
  func elements(in range: Range<Int>) -> [Any] { all[range].map { present(flattened($0)) } }
}

/// A set property as an unordered to-many key.
struct SetProperty<Element: Hashable>: MemberReading, MemberMutation {
  let place: CollectionPlace
  let isOptional: Bool

  private var stored: Set<Element> {
    let stored = place.read {
      isOptional
        ? $0.assumingMemoryBound(to: Set<Element>?.self).pointee ?? []
        : $0.assumingMemoryBound(to: Set<Element>.self).pointee
    }
    return stored ?? []
  }

  var count: Int { stored.count }
  func contains(_ member: AnyHashable) -> Bool {
    KVORuntime.member(member, as: Element.self).map { stored.has($0) } ?? false
  }
  var members: Set<AnyHashable> { Set(stored.lazy.map { AnyHashable($0) }) }
  func sought(_ values: Set<AnyHashable>) -> Set<AnyHashable> {
    Set(values.lazy.compactMap { member($0, as: Element.self) })
  }

  // A value that can't be a member is ignored when members are removed or kept.
  func mutate(_ mutation: KeyValueSetMutation, _ members: Set<AnyHashable>) throws {
    let adds = mutation == .union || mutation == .set
    let members: Set<Element> =
      adds
      ? Set(try members.map { try place.key.convert($0.base) })
      : Set(members.lazy.compactMap { member($0, as: Element.self) })
    try place.requireElements()
    // Made only if the key is observed. `ToManyKey.change` destroys the value.
    try place.key.change(mutation, isOptional ? .of(Optional(members)) : .of(members)) { _ in
      _ = try update { apply(mutation, members, &$0) }
    }
  }

  // Nil becomes a set when a member is inserted. The removed members are returned, to be released after the
  // access to the storage: their deinit may use the property.
  private func apply(
    _ mutation: KeyValueSetMutation, _ members: Set<Element>, _ stored: inout Set<Element>?
  ) -> Set<Element> {
    guard var present = stored.take() else {
      let comes = mutation == .union || mutation == .set
      stored = comes && !members.isEmpty ? members.withOneNaN : nil
      return []
    }
    switch mutation {
    case .union:
      present.add(members)
      stored = present
      return []
    case .minus:
      let gone = present.keeping(members)
      present.remove(members)
      stored = present
      return gone
    case .intersect:
      stored = present.keeping(members)
      return present
    case .set:
      stored = members.withOneNaN
      return present
    }
  }

  private func update<R>(_ body: (inout Set<Element>?) -> R) throws -> R {
    try place.write { address in
      guard !isOptional else {
        return body(&address.assumingMemoryBound(to: Set<Element>?.self).pointee)
      }
      let stored = address.assumingMemoryBound(to: Set<Element>.self)
      var members: Set<Element>? = stored.move()
      defer { stored.initialize(to: members ?? []) }
      return body(&members)
    }
  }
}

// MARK: Through key-value coding

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
