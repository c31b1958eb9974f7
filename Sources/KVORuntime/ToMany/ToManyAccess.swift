internal import CKVORuntime

// To-many keys as proxies use them: elements of any type, read one by one and changed some at a time. They
// are implemented by declared accessors (DeclaredToMany), by a property that holds a collection
// (CollectionProperty), or by an object of C (ForeignCollection). Callers check bounds first.

/// Reads an ordered to-many key.
package protocol OrderedReading {
  var count: Int { get }
  /// Returns the element at a valid index.
  func element(at index: Int) -> Any
  /// Returns the elements of a valid range.
  func elements(in range: Range<Int>) -> [Any]
  /// How many elements to read at once in an iteration; 1 to read them one by one.
  var blockSize: Int { get }
  /// The index of an element of the key's own type; nil if there is none that is equal.
  func index(of member: AnyHashable) -> Int?
  /// Whether the key has an accessor of its own that finds an element.
  var findsMembers: Bool { get }
  /// A value that is equal to that of another member if the key takes the two for the same.
  func form(of member: AnyHashable) -> AnyHashable
  /// The element that a value stands for: itself, the equal number of the key's element type, or the value whose raw
  /// value it is. The value unchanged if it can't be an element.
  func sought(_ value: Any) -> Any
  /// The elements to iterate over: a copy of the present ones if that costs nothing, else the key itself.
  var snapshot: any OrderedReading { get }
}

extension OrderedReading {
  var blockSize: Int { 64 }
  var snapshot: any OrderedReading { self }

  func elements(in range: Range<Int>) -> [Any] { range.map(element(at:)) }

  var findsMembers: Bool { false }
  func form(of member: AnyHashable) -> AnyHashable { member.inSwiftForm }

  func index(of member: AnyHashable) -> Int? {
    elements(in: 0..<count).firstIndex { areEqual($0, member.base) }
  }

  func sought(_ value: Any) -> Any { value }

  /// The first index of an element; nil if there is none. An element that is not hashable is compared with
  /// all others.
  package func firstIndex(of element: Any) -> Int? {
    let element = sought(element)
    if let member = flattened(element) as? AnyHashable { return index(of: member) }
    return elements(in: 0..<count).firstIndex { areEqual($0, element) }
  }
}

/// Changes an ordered to-many key. Each call is one change, of which observers are notified once. If it throws, nothing
/// has changed, and no observer is notified, unless prior observers or accessors that throw half way have changed the key
/// (D7, D9).
package protocol OrderedMutation {
  /// Applies an edit as one change.
  /// - Parameter edit: works the edit out from the present elements; nil if there is nothing to do. Called again if prior
  ///   observers have changed the elements.
  func apply(_ edit: () throws -> OrderedEdit<Any>?) throws
  /// Replaces all elements: a change of kind setting.
  func set(_ elements: [Any]) throws
  /// Converts an element to the key's element type; throws if it can't be converted.
  func converted(_ element: Any) throws -> Any
}

extension OrderedMutation {
  func converted(_ element: Any) throws -> Any { element }
}

/// Reads an unordered to-many key.
package protocol MemberReading {
  var count: Int { get }
  func contains(_ member: AnyHashable) -> Bool
  var members: Set<AnyHashable> { get }
  /// The members that values stand for; without those that can't be members.
  func sought(_ values: Set<AnyHashable>) -> Set<AnyHashable>
}

extension MemberReading {
  func sought(_ values: Set<AnyHashable>) -> Set<AnyHashable> { values.inSwiftForm }
}

/// Changes an unordered to-many key. Each call is one change, of which observers are notified once. It throws as an
/// ordered one's does.
package protocol MemberMutation {
  func mutate(_ mutation: KeyValueSetMutation, _ members: Set<AnyHashable>) throws
}

// MARK: The key of an object

/// The change of a to-many key that is open while the mutation is made.
struct OpenChange {
  /// Whether it is not part of another one that the thread has open.
  let isFirst: Bool
  /// Whether prior observers have changed the elements themselves. The mutation is made to the present ones.
  let becameSetting: Bool
  /// Whether a body that throws has made a part of the change, so that observers are notified nevertheless (D9).
  var isMadeInPart = false

  /// - Parameter frame: nil if no change has been opened.
  init(_ frame: OpaquePointer?) {
    isFirst = frame != nil
    becameSetting = frame.map { kvo_stored_property_change_became_setting($0) } ?? false
  }
}

/// A to-many key of an object. Makes errors that name it, and notifies observers of its changes.
struct ToManyKey {
  let object: KVOObject
  let name: KeyName

  var className: String { KVORuntime.className(of: type(of: object)) }

  var isObserved: Bool { kvo_binding_is_observed(object.header) }

  // If the body of a change throws, the change is cancelled, unless it is made in part.

  /// Runs a body as one change of the elements at some indexes. A change that is made in part becomes a setting.
  func change<R>(
    _ kind: KeyValueChange, at indexes: RangeSet<Int>, isExact: Bool = false,
    _ body: (inout OpenChange) throws -> R
  ) rethrows -> R {
    try announcing(.elements(kind, indexes, isExact: isExact)) { open in
      do {
        return try body(&open)
      } catch {
        if open.isMadeInPart { changeIsSetting(old: nil, isFirst: open.isFirst) }
        throw error
      }
    }
  }

  /// Applies an edit of an ordered key as one change.
  /// - Parameters:
  ///   - edit: works the edit out from the present elements.
  ///   - body: applies the edit.
  /// - Returns: the body's result; nil if there was nothing to do.
  func apply<Element, R>(
    _ edit: () throws -> OrderedEdit<Element>?, isExact: Bool = false,
    _ body: (OrderedEdit<Element>, inout OpenChange) throws -> R
  ) throws -> R? {
    guard let first = try edit() else { return nil }
    return try change(first.kind, at: first.indexes, isExact: isExact) { open in
      guard let edit = open.becameSetting ? try edit() : first else { return nil }
      return try body(edit, &open)
    }
  }

  /// Runs a body as one change of the whole collection.
  func changeWhole<R>(_ body: (inout OpenChange) throws -> R) rethrows -> R {
    try announcing(.whole, body)
  }

  /// Runs a body as one change of a set whose removed and added members are known.
  func change<R>(
    _ kind: KeyValueChange, goes: @autoclosure () -> kvo_value, comes: @autoclosure () -> kvo_value,
    _ body: (inout OpenChange) throws -> R
  ) rethrows -> R {
    try announcing(
      .members(
        kind, goes: kind == .insertion ? nil : goes(), comes: kind == .removal ? nil : comes()),
      body)
  }

  /// Runs a body as one change of a set. The core compares the set before and after to find the added and
  /// removed members.
  /// - Parameter members: the operand of the mutation, of the key's own type.
  func change<R>(
    _ mutation: KeyValueSetMutation, _ members: @autoclosure () -> kvo_value,
    _ body: (inout OpenChange) throws -> R
  ) rethrows -> R { try announcing(.mutation(mutation, members()), body) }

  /// Runs a body that changes the key, but announces no change. Observers that another thread registers in the meantime
  /// are notified.
  func unannounced<R>(_ body: () throws -> R) rethrows -> R {
    let result = try body()
    closeChange(nil, of: object.header, name)
    return result
  }

  private func announcing<R>(
    _ part: @autoclosure () -> ToManyChange, _ body: (inout OpenChange) throws -> R
  ) rethrows -> R {
    let frame = isObserved ? part().announce(object.header, name) : nil
    var open = OpenChange(frame)
    do {
      let result = try body(&open)
      closeChange(frame, of: object.header, name)
      return result
    } catch {
      if open.isMadeInPart {
        closeChange(frame, of: object.header, name)
      } else if let frame {
        kvo_stored_property_cancel_change(frame)
      }
      throw error
    }
  }
}

extension ToManyKey {
  func mismatch(_ found: Any, expected: Any.Type) -> KeyValueError {
    .typeMismatch(
      key: name.string, className: className,
      expected: swiftName(of: expected),
      found: ValueType.of(any: expected).found(found))
  }

  /// The error for a key that accepts values like its present one but no collection.
  func holds(_ value: Any, no collection: Any.Type) -> KeyValueError {
    .typeMismatch(
      key: name.string, className: className, expected: typeName(of: value),
      found: swiftName(of: collection))
  }

  var readOnly: KeyValueError { .readOnly(key: name.string, className: className) }

  /// The error for an index that is valid for the key's count, but not for the collection that is changed.
  func outOfBounds(_ index: Int, of count: Int) -> KeyValueError {
    .indexOutOfBounds(key: name.string, className: className, index: index, count: count)
  }

  /// The error for a lazy property that has not been used yet: its elements are unknown, so none can be
  /// added.
  var unused: KeyValueError {
    .validationFailed(
      key: name.string, className: className,
      reason: """
        the property is lazy, and has not been used yet. Declared in registerKeys, by \
        declareKeys { $0.stored("\(name.string)", \\.\(name.string.inSource)) }, it is used by its key.
        """)
  }

  /// Applies an edit to the key's collection.
  /// - Returns: the removed elements.
  func apply<Element>(
    _ edit: OrderedEdit<Element>, of elements: inout [Element]
  ) throws -> [Element] {
    if let index = edit.firstBeyond(elements.count) {
      throw outOfBounds(index, of: elements.count)
    }
    return elements.apply(edit)
  }

  /// Converts an element to the key's element type; throws if it can't be converted.
  func convert<Element>(_ element: Any) throws -> Element {
    let type = ValueType.of(Element.self)
    guard case .value(let converted) = type.convert(element) else {
      throw mismatch(element, expected: Element.self)
    }
    return converted.unbox(as: Element.self)
  }
}

/// Converts a member of a `Set<AnyHashable>` to a set's element type. It becomes itself, the equal number of
/// that type, or the value whose raw value it is, as when it is added. Nil if it can't be a member.
func member<Element: Hashable>(_ member: AnyHashable, as type: Element.Type) -> Element? {
  if let same = member as? Element { return same }
  guard case .value(let converted) = ValueType.of(type).convert(member.base) else { return nil }
  let element = converted.unbox(as: type)
  return stands(member.base, for: element) ? element : nil
}

/// As `member`, for elements that need not be hashable. Returns the value itself if it can't be an element.
func sought<Element>(_ value: Any, as type: Element.Type) -> Any {
  guard let value = flattened(value), !(value is Element),
    case .value(let converted) = ValueType.of(type).convert(value),
    let element = flattened(converted.unbox(as: type)), stands(value, for: element)
  else { return value }
  return element
}

/// Whether a value is equal to an element, is an equal number of another type, or is its raw value.
private func stands(_ value: Any, for element: Any) -> Bool {
  if areEqual(element, value) { return true }
  if let rawValue = (element as? any RawRepresentable)?.rawValue {
    return areEqual(rawValue, value)
  }
  guard let number = Number(element), let other = Number(value) else { return false }
  return number == other
}

extension KeyValueSetMutation {
  /// The kind of change with which observers are notified.
  var kind: KeyValueChange {
    switch self {
    case .union: .insertion
    case .minus, .intersect: .removal
    case .set: .replacement
    }
  }
}
