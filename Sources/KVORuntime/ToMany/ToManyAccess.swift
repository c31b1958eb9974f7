internal import CKVORuntime

// To-many keys as proxies know them: elements of any type, read one by one, changed some at a time.
// What stands behind is declared accessors (DeclaredToMany), a property that holds a collection
// (CollectionProperty), or an object of C (ForeignCollection). Bounds are checked before any of
// these is called.

/// An ordered to-many key, to be read.
protocol OrderedReading {
  var count: Int { get }
  /// The element at an index that there is.
  func element(at index: Int) -> Any
  /// The elements of a range that there is.
  func elements(in range: Range<Int>) -> [Any]
  /// How many elements to read together when going through all: 1 where each is read by itself.
  var blockSize: Int { get }
  /// Where an element is; nil if it is not there.
  func index(of member: AnyHashable) -> Int?
  /// What to go through all elements by: those that there are now, where keeping them costs nothing.
  var snapshot: any OrderedReading { get }
}

extension OrderedReading {
  var blockSize: Int { 64 }
  var snapshot: any OrderedReading { self }

  func elements(in range: Range<Int>) -> [Any] { range.map(element(at:)) }

  func index(of member: AnyHashable) -> Int? {
    elements(in: 0..<count).firstIndex { $0 as? AnyHashable == member }
  }
}

/// An ordered to-many key, to be changed: each call is one change, which observers are told once. On
/// an error nothing has changed, and observers are not told.
protocol OrderedMutation {
  /// Inserts as many elements as there are indexes, which are those that they have afterwards.
  func insert(_ elements: [Any], at indexes: RangeSet<Int>) throws
  func remove(at indexes: RangeSet<Int>) throws
  /// Replaces elements by as many others.
  func replace(at indexes: RangeSet<Int>, with elements: [Any]) throws
  /// Puts other elements in place of all: a setting.
  func set(_ elements: [Any]) throws
  /// An element as the key will have it; an error for what can't become one.
  func converted(_ element: Any) throws -> Any
}

extension OrderedMutation {
  func converted(_ element: Any) throws -> Any { element }
}

/// An unordered to-many key, to be read.
protocol MemberReading {
  var count: Int { get }
  func contains(_ member: AnyHashable) -> Bool
  var members: Set<AnyHashable> { get }
}

/// An unordered to-many key, to be changed, as an ordered one is.
protocol MemberMutation {
  func mutate(_ mutation: KeyValueSetMutation, _ members: Set<AnyHashable>) throws
}

// MARK: Whose key it is

/// A to-many key of an object: for errors that name it, and to tell of its changes.
struct ToManyKey {
  let object: KVOObject
  let name: KeyName

  var className: String { KVORuntime.className(of: type(of: object)) }

  /// Runs a body as one change of elements at indexes, which comes to nothing if the body throws.
  func change<R>(
    _ kind: KeyValueChange, at indexes: RangeSet<Int>, _ body: () throws -> R
  ) rethrows -> R { try tell(.elements(kind, indexes), body) }

  /// Runs a body as one change of the whole collection, which comes to nothing if the body throws.
  func changeWhole<R>(_ body: () throws -> R) rethrows -> R { try tell(.whole, body) }

  /// Runs a body as one change of a set of which it is known what comes and goes.
  func change<R>(
    _ kind: KeyValueChange, goes: @autoclosure () -> kvo_value, comes: @autoclosure () -> kvo_value,
    _ body: () throws -> R
  ) rethrows -> R {
    try tell(
      .members(
        kind, goes: kind == .insertion ? nil : goes(), comes: kind == .removal ? nil : comes()),
      body)
  }

  /// Runs a body as one change of a set. What came and went is found by comparing.
  /// - Parameter members: what it is changed with, of the key's own type.
  func change<R>(
    _ mutation: KeyValueSetMutation, _ members: @autoclosure () -> kvo_value,
    _ body: () throws -> R
  ) rethrows -> R { try tell(.mutation(mutation, members()), body) }

  private func tell<R>(
    _ part: @autoclosure () -> ToManyChange, _ body: () throws -> R
  ) rethrows -> R {
    let frame = kvo_binding_is_observed(object.header) ? part().announce(object.header, name) : nil
    do {
      let result = try body()
      closeChange(frame, of: object.header, name)
      return result
    } catch {
      if let frame { kvo_uniform_cancel(frame) }
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

  /// For what takes values like the one that it has, and no collection.
  func holds(_ value: Any, no collection: Any.Type) -> KeyValueError {
    .typeMismatch(
      key: name.string, className: className, expected: typeName(of: value),
      found: swiftName(of: collection))
  }

  var readOnly: KeyValueError { .readOnly(key: name.string, className: className) }

  /// For a change that was right when it was announced, and no longer is: prior observers have
  /// changed the key as well.
  func outOfBounds(_ index: Int, of count: Int) -> KeyValueError {
    .indexOutOfBounds(key: name.string, className: className, index: index, count: count)
  }

  /// What a lazy property has before it is first used, nobody knows: elements can't be added to it.
  var unused: KeyValueError {
    .validationFailed(
      key: name.string, className: className,
      reason: """
        the property is lazy, and has not been used yet. Declared in registerKeys, by \
        declareKeys { $0.stored("\(name.string)", \\.\(name.string.inSource)) }, it is used by its key.
        """)
  }

  /// An element as the type that the key has; an error for what can't become one.
  func convert<Element>(_ element: Any) throws -> Element {
    let type = ValueType.of(Element.self)
    guard case .value(let converted) = type.convert(element) else {
      throw mismatch(element, expected: Element.self)
    }
    return converted.unbox(as: Element.self)
  }
}

/// A member of a set of anything as one of a set's own type: itself, the equal number of that type, or
/// what has it for its raw value, since these are added by it as well; nil for what can't be a member.
func member<Element: Hashable>(_ member: AnyHashable, as type: Element.Type) -> Element? {
  if let same = member as? Element { return same }
  guard case .value(let converted) = ValueType.of(type).convert(member.base) else { return nil }
  let element = converted.unbox(as: type)
  let rawValue = (element as? any RawRepresentable)?.rawValue as? AnyHashable
  return AnyHashable(element) == member || rawValue == member ? element : nil
}

// MARK: Bounds

extension RangeSet<Int> {
  /// The first index that an insertion of these can't reach, which may come up to what is there and
  /// what it inserts before; nil if there is none.
  func firstBeyond(insertingInto count: Int) -> Int? {
    var present = count
    for range in ranges {
      if range.lowerBound < 0 || range.lowerBound > present { return range.lowerBound }
      present += range.count
    }
    return nil
  }

  /// The first index at which no element is; nil if there is none.
  func firstBeyond(_ count: Int) -> Int? {
    if let first, first < 0 { return first }
    guard let range = ranges.last, range.upperBound > count else { return nil }
    return Swift.max(range.lowerBound, count)
  }
}

extension KeyValueSetMutation {
  /// As what it is told.
  var kind: KeyValueChange {
    switch self {
    case .union: .insertion
    case .minus, .intersect: .removal
    case .set: .replacement
    }
  }
}
