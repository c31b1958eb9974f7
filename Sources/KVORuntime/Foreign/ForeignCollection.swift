internal import CKVORuntime

/// A collection of the C runtime, read and changed through the core's functions. It is a proxy of a C
/// object's key, or a stored collection, which can't be changed.
final class ForeignCollection: OrderedReading, OrderedMutation, MemberReading, MemberMutation {
  private let collection: OpaquePointer
  /// For errors.
  private let key: String
  private let className: String

  /// - Parameter collection: a `kvo_collection *`, retained here.
  init(_ collection: OpaquePointer, key: String = "", className: String = "") {
    kvo_object_retain(UnsafeMutablePointer(collection))
    self.collection = collection
    self.key = key
    self.className = className
  }

  deinit { kvo_object_release(UnsafeMutablePointer(collection)) }

  /// Converts a collection to a Swift value. A stored one becomes an array or a set of its elements, or an
  /// array if a set's elements are not hashable. Any other becomes a lazy proxy.
  static func swiftValue(of collection: OpaquePointer) -> Any {
    let contents = ForeignCollection(collection)
    let isSet = kvo_collection_get_kind(collection) == .KVO_SET
    guard kvo_collection_is_stored(collection) else {
      return isSet ? SetProxy(contents) : ArrayProxy(contents)
    }
    let elements = contents.elements(in: 0..<contents.count)
    return (isSet ? set(of: elements) : nil) ?? elements
  }

  // Nil if an element is not hashable.
  private static func set(of elements: [Any]) -> Set<AnyHashable>? {
    var members: Set<AnyHashable> = []
    for element in elements {
      guard let value = flattened(element) else {
        members.insert(AnyHashable(AnyHashable?.none))
        continue
      }
      guard let member = value as? AnyHashable else { return nil }
      members.insert(member)
    }
    return members
  }

  var count: Int { kvo_collection_count(collection) }

  // MARK: Reading

  // Reads all elements at once, by the accessors for several elements if there are any.
  var blockSize: Int { .max }

  func element(at index: Int) -> Any {
    var value = kvo_value()
    _ = kvo_collection_get(collection, index, &value, nil)
    defer { kvo_value_destroy(&value) }
    return present(ValueType.any(of: &value))
  }

  func elements(in range: Range<Int>) -> [Any] {
    guard let stored = kvo_collection_snapshot(collection, nil) else { return [] }
    let snapshot = ForeignCollection(stored)
    kvo_object_release(UnsafeMutablePointer(stored))
    return range.clamped(to: 0..<snapshot.count).map(snapshot.element(at:))
  }

  // The class may have an accessor, which the core calls.
  var findsMembers: Bool { true }

  func index(of member: AnyHashable) -> Int? {
    guard var value = try? cValue(of: member.base) else { return nil }
    defer { kvo_value_destroy(&value) }
    let index = kvo_collection_index_of(collection, &value)
    // KVO_NOT_FOUND is the greatest `size_t`.
    return index < 0 || index == .max ? nil : index
  }

  func contains(_ member: AnyHashable) -> Bool {
    guard var value = try? cValue(of: member.base) else { return false }
    defer { kvo_value_destroy(&value) }
    return kvo_collection_contains(collection, &value)
  }

  var members: Set<AnyHashable> {
    Set(elements(in: 0..<count).lazy.compactMap { $0 as? AnyHashable })
  }

  // MARK: Mutation

  // The core calls `EditCall.call`, which calls `edit`.
  func apply(_ edit: () throws -> OrderedEdit<Any>?) throws {
    try withoutActuallyEscaping(edit) { edit in
      var editCall = EditCall(edit: edit, contents: self)
      try withUnsafeMutablePointer(to: &editCall) { editCall in
        try ThrownError.passing(describing: { described($0, editCall.pointee.elements) }) {
          kvo_collection_change(collection, EditCall.call, editCall, $0)
        }
      }
    }
  }

  /// The closure that works an edit out, as the context of the C function by which the core calls it.
  private struct EditCall {
    let edit: () throws -> OrderedEdit<Any>?
    let contents: ForeignCollection
    /// The new elements, for errors.
    var elements: [Any] = []

    static let call:
      @convention(c) (
        UnsafeMutableRawPointer?, UnsafeMutablePointer<kvo_worked_out_change>,
        UnsafeMutablePointer<kvo_error>?
      ) -> kvo_status = { editCall, change, error in
        let editCall = editCall!.assumingMemoryBound(to: EditCall.self)
        return ThrownError.catching(error) {
          let edit = try editCall.pointee.edit() ?? .removal(at: RangeSet())
          editCall.pointee.elements = edit.elements
          if edit.kind != .removal {
            change.pointee.elements = try editCall.pointee.contents.cElements(
              .KVO_ARRAY, edit.elements)
          }
          change.pointee.kind = edit.kind.cKind
          change.pointee.indexes = withIndexSet(edit.indexes) { $0.flatMap(kvo_index_set_copy) }
        }
      }
  }

  func set(_ elements: [Any]) throws {
    try change(.KVO_ARRAY, elements) { kvo_collection_set(collection, $0, $1) }
  }

  func mutate(_ mutation: KeyValueSetMutation, _ members: Set<AnyHashable>) throws {
    try change(.KVO_SET, members.map(\.base)) { members, error in
      switch mutation {
      case .union: kvo_collection_union(collection, members, error)
      case .minus: kvo_collection_minus(collection, members, error)
      case .intersect: kvo_collection_intersect(collection, members, error)
      case .set: kvo_collection_set(collection, members, error)
      }
    }
  }

  private func change(
    _ kind: kvo_collection_kind, _ elements: [Any],
    _ body: (OpaquePointer, UnsafeMutablePointer<kvo_error>) -> kvo_status
  ) throws {
    guard let operand = try cElements(kind, elements) else {
      throw invalid("there is no memory for it.")
    }
    defer { kvo_object_release(UnsafeMutablePointer(operand)) }
    if let error = failure({ body(operand, $0) }) { throw described(error, elements) }
  }

  // The caller releases the collection. Nil if there is no memory for it.
  private func cElements(_ kind: kvo_collection_kind, _ elements: [Any]) throws -> OpaquePointer? {
    var values: [kvo_value] = []
    defer { for index in values.indices { kvo_value_destroy(&values[index]) } }
    for element in elements { values.append(try cValue(of: element)) }
    return kvo_collection_create(kind, values, values.count, nil)
  }

  private func cValue(of element: Any) throws -> kvo_value {
    guard let element = flattened(element) else { return kvo_value() }
    guard let value = ForeignValue.make(from: element) else {
      throw KeyValueError.typeMismatch(
        key: key, className: className, expected: "a value that C has a type for",
        found: typeName(of: element))
    }
    return value
  }

  private func described(_ error: CoreError, _ elements: [Any]) -> KeyValueError {
    switch error.status {
    case .KVO_TYPE_MISMATCH:
      let found = elements.first.flatMap(flattened).map { swiftName(of: type(of: $0)) }
      return .typeMismatch(
        key: key, className: className, expected: "elements of another type", found: found ?? "nil")
    case .KVO_INVALID_ARGUMENT, .KVO_INDEX_OUT_OF_BOUNDS, .KVO_NO_MEMORY:
      return invalid(error.text)
    default: return KeyValueError(error, key: key, className: className)
    }
  }

  private func invalid(_ reason: String) -> KeyValueError {
    .validationFailed(key: key, className: className, reason: reason)
  }
}

// MARK: To-many keys of C objects

extension ForeignObject: ToManyOwner {
  /// Returns a mutable array for an ordered to-many key, through which elements are changed one by one by the
  /// class's own methods. Elements are converted as in `value(forKey:)`. The proxy retains the object.
  ///
  /// - Throws: `KeyValueError.undefinedKey` if the object has no such key. If the key can't be changed, the
  ///   first mutation throws.
  public func mutableArrayValue(forKey key: String) throws -> MutableArrayProxy {
    MutableArrayProxy(try ordered(key, kvo_mutable_array))
  }

  /// Returns a mutable set for an unordered to-many key, through which members are changed one by one by the
  /// class's own methods. Members are converted as in `value(forKey:)`. The proxy retains the object.
  ///
  /// - Throws: `KeyValueError.undefinedKey` if the object has no such key. If the key can't be changed, the
  ///   first mutation throws.
  public func mutableSetValue(forKey key: String) throws -> MutableSetProxy {
    let contents = try collection(key, kvo_mutable_set)
    return MutableSetProxy(
      MemberContents(key: key, className: className, reading: contents, mutation: contents))
  }

  /// Returns a mutable ordered set for an ordered to-many key, which has each member once. Members are
  /// changed one by one by the class's own methods, and converted as in `value(forKey:)`. The proxy retains
  /// the object.
  ///
  /// - Throws: `KeyValueError.undefinedKey` if the object has no such key. If the key can't be changed, the
  ///   first mutation throws.
  public func mutableOrderedSetValue(forKey key: String) throws -> MutableOrderedSetProxy {
    MutableOrderedSetProxy(try ordered(key, kvo_mutable_ordered_set))
  }

  /// A C function that creates a collection of an object's key.
  private typealias Creation = (
    UnsafeMutablePointer<kvo_object>, UnsafePointer<CChar>,
    UnsafeMutablePointer<OpaquePointer?>, UnsafeMutablePointer<kvo_error>?
  ) -> kvo_status

  private func ordered(_ key: String, _ create: Creation) throws -> OrderedContents {
    let contents = try collection(key, create)
    return OrderedContents(
      key: key, className: className, reading: contents, mutation: contents)
  }

  private func collection(_ key: String, _ create: Creation) throws -> ForeignCollection {
    var created: OpaquePointer?
    let error = failure { create(header, key, &created, $0) }
    guard let created, error == nil else {
      throw error.map { KeyValueError($0, key: key, className: className) }
        ?? .undefinedKey(key: key, className: className)
    }
    defer { kvo_object_release(UnsafeMutablePointer(created)) }
    return ForeignCollection(created, key: key, className: className)
  }
}

// Several `ForeignObject`s may represent the same C object, so they are compared by its address.
extension ForeignObject: Hashable {
  /// Whether both represent the same C object.
  public static func == (a: ForeignObject, b: ForeignObject) -> Bool { a.header == b.header }

  /// Hashes the C object's address.
  public func hash(into hasher: inout Hasher) { hasher.combine(header) }
}
