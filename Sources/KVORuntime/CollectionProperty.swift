internal import CKVORuntime
internal import CSwiftRuntime

// To-many keys whose collection a property holds: stored, where it is changed in place, or behind
// accessors, which are given a changed copy.

/// Where the collection of a key is.
struct CollectionPlace {
  let key: ToManyKey
  let property: Property

  /// Nil where the property's getter throws.
  func read<R>(_ body: (UnsafeMutableRawPointer) -> R) -> R? {
    if property.accessors != nil { return (try? boxed())?.withAddress(body) }
    guard let address else { return nil }
    kvo_swift_check_access(address, false)
    return body(address)
  }

  func write(_ body: (UnsafeMutableRawPointer) throws -> Void) throws {
    if let accessors = property.accessors {
      let value = try boxed()
      try value.withAddress(body)
      return try accessors.set(value, of: key.object)
    }
    guard let address else { throw key.readOnly }
    var record = kvo_swift_access()
    try withUnsafeMutablePointer(to: &record) { record in
      kvo_swift_begin_modify(address, record)
      defer { kvo_swift_end_modify(record) }
      try body(address)
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

  func insert(_ elements: [Any], at indexes: RangeSet<Int>) throws {
    let elements: [Element] = try elements.map { try place.key.convert($0) }
    try update(.insertion, indexes) { $0.insert(elements, at: indexes) }
  }

  func remove(at indexes: RangeSet<Int>) throws {
    try update(.removal, indexes) { $0.removeSubranges(indexes) }
  }

  func replace(at indexes: RangeSet<Int>, with elements: [Any]) throws {
    let elements: [Element] = try elements.map { try place.key.convert($0) }
    try update(.replacement, indexes) { $0.replace(at: indexes, with: elements) }
  }

  // Whoever was told beforehand may have taken elements away.
  private func update(
    _ kind: KeyValueChange, _ indexes: RangeSet<Int>, _ body: (inout [Element]) -> Void
  ) throws {
    try place.key.change(kind, at: indexes) {
      try access { elements in
        try place.key.check(indexes, of: kind, in: elements.count)
        body(&elements)
      }
    }
  }

  // An optional's value is taken out, so that it has no second owner while it is changed.
  private func access(_ body: (inout [Element]) throws -> Void) throws {
    try place.write { address in
      guard isOptional else {
        return try body(&address.assumingMemoryBound(to: [Element].self).pointee)
      }
      let stored = address.assumingMemoryBound(to: [Element]?.self)
      let wasNil = stored.pointee == nil
      var elements = stored.pointee.take() ?? []
      defer { stored.pointee = wasNil && elements.isEmpty ? nil : elements }
      try body(&elements)
    }
  }
}

extension Array {
  /// Inserts as many elements as there are indexes, which are those that they have afterwards.
  mutating func insert(_ elements: [Element], at indexes: RangeSet<Int>) {
    var next = elements.startIndex
    for range in indexes.ranges {
      insert(contentsOf: elements[next..<next + range.count], at: range.lowerBound)
      next += range.count
    }
  }

  /// Puts as many elements as there are indexes in the places of those.
  mutating func replace(at indexes: RangeSet<Int>, with elements: [Element]) {
    var next = elements.startIndex
    for range in indexes.ranges {
      replaceSubrange(range, with: elements[next..<next + range.count])
      next += range.count
    }
  }
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
    (member as? Element).map { stored.contains($0) } ?? false
  }
  var members: Set<AnyHashable> { Set(stored.lazy.map { AnyHashable($0) }) }

  // What can't be a member is none that could be taken away or kept.
  func mutate(_ mutation: KeyValueSetMutation, _ members: Set<AnyHashable>) throws {
    let adds = mutation == .union || mutation == .set
    let members: Set<Element> =
      adds
      ? Set(try members.map { try place.key.convert($0.base) })
      : Set(members.lazy.compactMap { $0 as? Element })
    // Made only if somebody observes, by whom it is ended.
    try place.key.change(mutation, isOptional ? .of(Optional(members)) : .of(members)) {
      try update { make(mutation, members, &$0) }
    }
  }

  private func make(
    _ mutation: KeyValueSetMutation, _ members: Set<Element>, _ stored: inout Set<Element>?
  ) {
    switch mutation {
    case .union: stored = (stored.take() ?? []).union(members)
    case .minus: stored?.subtract(members)
    case .intersect: stored?.formIntersection(members)
    case .set: stored = members
    }
  }

  private func update(_ body: (inout Set<Element>?) -> Void) throws {
    try place.write { address in
      guard !isOptional else {
        return body(&address.assumingMemoryBound(to: Set<Element>?.self).pointee)
      }
      let stored = address.assumingMemoryBound(to: Set<Element>.self)
      var members: Set<Element>? = stored.move()
      body(&members)
      stored.initialize(to: members ?? [])
    }
  }
}

// MARK: By key-value coding

/// A key whose value is an array, whoever answers for it.
struct KeyedArray: OrderedReading, OrderedMutation {
  let key: ToManyKey

  private var elements: [Any] { (try? key.object.value(forKey: key.name.string)) as? [Any] ?? [] }

  var count: Int { elements.count }
  func element(at index: Int) -> Any { elements[index] }
  func elements(in range: Range<Int>) -> [Any] { Array(elements[range]) }

  func insert(_ elements: [Any], at indexes: RangeSet<Int>) throws {
    try update(.insertion, indexes) { $0.insert(elements, at: indexes) }
  }

  func remove(at indexes: RangeSet<Int>) throws {
    try update(.removal, indexes) { $0.removeSubranges(indexes) }
  }

  func replace(at indexes: RangeSet<Int>, with elements: [Any]) throws {
    try update(.replacement, indexes) { $0.replace(at: indexes, with: elements) }
  }

  private func update(
    _ kind: KeyValueChange, _ indexes: RangeSet<Int>, _ body: (inout [Any]) -> Void
  ) throws {
    let value = try key.object.value(forKey: key.name.string)
    guard var elements = (value ?? []) as? [Any] else {
      throw key.mismatch(value as Any, expected: [Any].self)
    }
    body(&elements)
    try key.change(kind, at: indexes) {
      try key.object.setValue(elements, forKey: key.name.string)
    }
  }
}

/// A key whose value is a set, whoever answers for it.
struct KeyedSet: MemberReading, MemberMutation {
  let key: ToManyKey

  var members: Set<AnyHashable> {
    (try? key.object.value(forKey: key.name.string)) as? Set<AnyHashable> ?? []
  }
  var count: Int { members.count }
  func contains(_ member: AnyHashable) -> Bool { members.contains(member) }

  func mutate(_ mutation: KeyValueSetMutation, _ members: Set<AnyHashable>) throws {
    let value = try key.object.value(forKey: key.name.string)
    guard let present = (value ?? Set<AnyHashable>()) as? Set<AnyHashable> else {
      throw key.mismatch(value as Any, expected: Set<AnyHashable>.self)
    }
    let changed =
      switch mutation {
      case .union: present.union(members)
      case .minus: present.subtracting(members)
      case .intersect: present.intersection(members)
      case .set: members
      }
    try key.change(mutation, .of(members)) {
      try key.object.setValue(changed, forKey: key.name.string)
    }
  }
}
