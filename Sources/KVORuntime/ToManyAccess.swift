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
}

extension OrderedReading {
  var blockSize: Int { 64 }

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
  ) rethrows -> R {
    try tell(body) { header in
      withIndexSet(indexes) {
        var part = kvo_part()
        part.kind = kind.cKind
        part.indexes = $0
        return kvo_uniform_will_part(header, name.interned, &part)
      }
    }
  }

  /// Runs a body as one change of a set. What came and went is found by comparing.
  /// - Parameter members: what it is changed with, of the key's own type.
  func change<R>(
    _ mutation: KeyValueSetMutation, _ members: @autoclosure () -> kvo_value,
    _ body: () throws -> R
  ) rethrows -> R {
    try tell(body) { header in
      var members = members()
      defer { kvo_value_destroy(&members) }
      return withUnsafePointer(to: &members) {
        var part = kvo_part()
        part.kind = mutation.kind.cKind
        part.set_mutation = mutation.cMutation
        part.members = $0
        return kvo_uniform_will_part(header, name.interned, &part)
      }
    }
  }

  private func tell<R>(
    _ body: () throws -> R, _ will: (UnsafeMutablePointer<kvo_object>) -> OpaquePointer?
  ) rethrows -> R {
    let frame = kvo_binding_is_observed(object.header) ? will(object.header) : nil
    do {
      let result = try body()
      if let frame { kvo_uniform_did(frame) }
      return result
    } catch {
      if let frame { kvo_uniform_cancel(frame) }
      throw error
    }
  }
}

extension ToManyKey {
  func mismatch(_ found: Any, expected: Any.Type) -> KeyValueError {
    let found = flattened(found).map { KVORuntime.className(of: type(of: $0)) }
    return .typeMismatch(
      key: name.string, className: className,
      expected: KVORuntime.className(of: expected), found: found ?? "nil")
  }

  var readOnly: KeyValueError { .readOnly(key: name.string, className: className) }

  /// Refuses indexes that a change of so many elements can't have.
  func check(_ indexes: RangeSet<Int>, of kind: KeyValueChange, in count: Int) throws {
    guard let last = indexes.ranges.last else { return }
    let more = kind == .insertion ? indexes.ranges.reduce(0) { $0 + $1.count } : 0
    guard last.upperBound > count + more else { return }
    throw KeyValueError.indexOutOfBounds(
      key: name.string, className: className, index: max(last.lowerBound, count), count: count)
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
