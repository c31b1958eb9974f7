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
struct ArraySnapshot<Element>: OrderedReading {
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
