import CFixtures
import CKVORuntime
import Expectations
import TestSupport
import Testing

/// Owns a C collection, stored or a proxy.
final class Many {
  let collection: OpaquePointer

  /// Takes ownership of the caller's reference.
  init(taking collection: OpaquePointer) { self.collection = collection }

  init(_ kind: kvo_collection_kind, _ values: [Value]) {
    collection = withCollection(kind, values) {
      kvo_object_retain(CObject($0))
      return $0
    }
  }

  convenience init(_ values: [Value]) { self.init(.KVO_ARRAY, values) }

  convenience init(_ kind: kvo_collection_kind = .KVO_ARRAY, ints: some Sequence<Int>) {
    self.init(kind, ints.map { .int(Int64($0)) })
  }

  /// For values that need no destruction.
  init(_ kind: kvo_collection_kind, elements: [kvo_value]) {
    guard let made = kvo_collection_create(kind, elements, elements.count, nil) else {
      preconditionFailure("no collection")
    }
    collection = made
  }

  /// The collection that reading the key gives.
  init?(_ object: CObject, _ key: String) {
    var value = kvo_value()
    kvo_value_for_key(object, key, &value, nil)
    defer { kvo_value_destroy(&value) }
    guard let collection = kvo_collection_of_value(&value) else { return nil }
    kvo_object_retain(CObject(collection))
    self.collection = collection
  }

  deinit { kvo_object_release(object) }

  /// Valid only during `body`; the pointer alone retains nothing.
  func lend<R>(_ body: (OpaquePointer) -> R) -> R {
    withExtendedLifetime(self) { body(collection) }
  }

  var object: CObject { CObject(collection) }
  var kind: kvo_collection_kind { kvo_collection_get_kind(collection) }
  var count: Int { kvo_collection_count(collection) }

  /// The description in the format of `text(_:)`.
  var text: String {
    var value = kvo_value_object(object)
    defer { kvo_value_destroy(&value) }
    return CKVORuntimeTests.text(&value)
  }

  /// The runtime's own description, as its messages show it.
  var description: String {
    var buffer = [CChar](repeating: 0, count: 256)
    let length = kvo_object_describe(object, &buffer, buffer.count)
    return String(decoding: buffer.prefix(length).map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  var snapshot: Many? { kvo_collection_snapshot(collection, nil).map(Many.init(taking:)) }

  subscript(index: Int) -> String { element { kvo_collection_get(collection, index, $0, $1) } }
  var last: String { element { kvo_collection_last(collection, $0, $1) } }

  private func element(
    _ read: (UnsafeMutablePointer<kvo_value>, UnsafeMutablePointer<kvo_error>) -> kvo_status
  ) -> String {
    var value = kvo_value()
    let outcome = attempt { read(&value, $0) }
    defer { kvo_value_destroy(&value) }
    return outcome.status == .KVO_OK ? CKVORuntimeTests.text(&value) : brief(outcome)
  }

  /// nil for KVO_NOT_FOUND.
  func index(of value: Value) -> Int? {
    let index = value.withValue { kvo_collection_index_of(collection, $0!) }
    return index == notFound ? nil : index
  }

  func contains(_ value: Value) -> Bool {
    value.withValue { kvo_collection_contains(collection, $0!) }
  }
}

let notFound = Int(bitPattern: UInt.max)

// MARK: Mutable proxies

extension Many {
  /// The key's mutable proxy.
  convenience init(
    mutable object: CObject, _ key: String = "items", as kind: kvo_collection_kind = .KVO_ARRAY
  ) {
    var proxy: OpaquePointer?
    let outcome = Many.makeProxy(object, key, kind, &proxy)
    guard let proxy else { preconditionFailure("\(outcome)") }
    self.init(taking: proxy)
  }

  static func makeProxy(
    _ object: CObject, _ key: String, _ kind: kvo_collection_kind,
    _ proxy: UnsafeMutablePointer<OpaquePointer?>
  ) -> Outcome {
    attempt {
      switch kind {
      case .KVO_ARRAY: kvo_mutable_array(object, key, proxy, $0)
      case .KVO_SET: kvo_mutable_set(object, key, proxy, $0)
      case .KVO_ORDERED_SET: kvo_mutable_ordered_set(object, key, proxy, $0)
      }
    }
  }

  @discardableResult func insert(_ value: Value, at index: Int) -> Outcome {
    attempt { error in
      value.withValue { kvo_collection_insert(collection, index, $0!, error) }
    }
  }

  @discardableResult func insert(_ values: [Value], at indexes: Range<Int>...) -> Outcome {
    let many = Many(values)
    return withIndexes(indexes) { set in
      many.lend { many in attempt { kvo_collection_insert_many(collection, set, many, $0) } }
    }
  }

  @discardableResult func remove(at index: Int) -> Outcome {
    attempt { kvo_collection_remove_at(collection, index, $0) }
  }

  @discardableResult func remove(at indexes: Range<Int>...) -> Outcome {
    withIndexes(indexes) { set in
      attempt { kvo_collection_remove_indexes(collection, set, $0) }
    }
  }

  @discardableResult func replace(at index: Int, with value: Value) -> Outcome {
    attempt { error in
      value.withValue { kvo_collection_replace_at(collection, index, $0!, error) }
    }
  }

  @discardableResult func replace(at indexes: Range<Int>..., with values: [Value]) -> Outcome {
    let many = Many(values)
    return withIndexes(indexes) { set in
      many.lend { many in attempt { kvo_collection_replace_indexes(collection, set, many, $0) } }
    }
  }

  @discardableResult func append(_ value: Value) -> Outcome { with(value, kvo_collection_append) }
  @discardableResult func add(_ value: Value) -> Outcome { with(value, kvo_collection_add) }
  @discardableResult func remove(_ value: Value) -> Outcome { with(value, kvo_collection_remove) }
  @discardableResult func union(_ all: [Value]) -> Outcome { with(all, kvo_collection_union) }
  @discardableResult func minus(_ all: [Value]) -> Outcome { with(all, kvo_collection_minus) }
  @discardableResult func intersect(_ all: [Value]) -> Outcome {
    with(all, kvo_collection_intersect)
  }
  @discardableResult func set(_ all: [Value]) -> Outcome { with(all, kvo_collection_set) }

  private func with(
    _ value: Value,
    _ call: (OpaquePointer, UnsafePointer<kvo_value>, UnsafeMutablePointer<kvo_error>?) ->
      kvo_status
  ) -> Outcome {
    attempt { error in value.withValue { call(collection, $0!, error) } }
  }

  private func with(
    _ values: [Value],
    _ call: (OpaquePointer, OpaquePointer, UnsafeMutablePointer<kvo_error>?) -> kvo_status
  ) -> Outcome {
    Many(values).lend { many in attempt { call(collection, many, $0) } }
  }
}

func ints(_ values: Int...) -> [Value] { values.map { .int(Int64($0)) } }

// MARK: Indexes

func withIndexes<R>(_ ranges: [Range<Int>], _ body: (OpaquePointer) -> R) -> R {
  let set = kvo_index_set_create()!
  defer { kvo_index_set_destroy(set) }
  for range in ranges { expect(kvo_index_set_add_range(set, range.lowerBound, range.count)) }
  return body(set)
}

func ranges(_ set: OpaquePointer) -> [Range<Int>] {
  (0..<kvo_index_set_range_count(set)).map {
    let range = kvo_index_set_range(set, $0)
    return range.location..<(range.location + range.length)
  }
}

// MARK: Notifications of observers

/// Records changes of to-many keys, as `insertion 1..<3 new [2, 3]`, `prior removal 0..<1 old [1]` or `setting new
/// [1]`.
final class Mutations {
  private(set) var lines: [String] = []
  private let recorder = Recorder()

  init(
    of object: CObject, _ key: String = "items",
    _ options: kvo_options = [.KVO_OLD, .KVO_NEW],
    reaction: ((Call) -> Void)? = nil
  ) {
    let registration = recorder.observe(object, key, options) { [unowned self] call in
      lines.append(Self.line(call.change))
      reaction?(call)
    }
    expectEqual(registration.outcome.status, .KVO_OK)
  }

  deinit { recorder.end() }

  func end() { recorder.end() }

  func take() -> [String] {
    defer { lines = [] }
    return lines
  }

  private static func line(_ change: OpaquePointer) -> String {
    var words = kvo_change_is_prior(change) ? ["prior"] : []
    switch kvo_change_get_kind(change) {
    case .KVO_SETTING: words.append("setting")
    case .KVO_INSERTION: words.append("insertion")
    case .KVO_REMOVAL: words.append("removal")
    case .KVO_REPLACEMENT: words.append("replacement")
    }
    if let indexes = kvo_change_get_indexes(change) { words += ranges(indexes).map { "\($0)" } }
    if let old = kvo_change_get_old(change) { words += ["old", text(old)] }
    if let new = kvo_change_get_new(change) { words += ["new", text(new)] }
    return words.joined(separator: " ")
  }
}

// MARK: Fixtures

/// A binding's object with these `numbers`, valid only during `body`.
func withNumbers(_ numbers: [Int64], _ body: (CObject) -> Void) {
  let object = UnsafeMutablePointer<bound_object>.allocate(capacity: 1)
  defer { object.deallocate() }
  object.initialize(to: bound_object())
  object.pointee.header.isa = bound_object_class()
  object.pointee.numbers.count = numbers.count
  withUnsafeMutableBytes(of: &object.pointee.numbers.items) { items in
    numbers.withUnsafeBytes { items.copyMemory(from: $0) }
  }
  let header = UnsafeMutableRawPointer(object) + MemoryLayout<bound_object>.offset(of: \.header)!
  body(header.assumingMemoryBound(to: kvo_object.self))
}

extension to_many_object: CInstance { static var cClass: CClass { to_many_object_class() } }

typealias Shelf = UnsafeMutablePointer<shelf>

func makeShelf(_ methods: shelf_methods, _ items: [Int32] = []) -> Shelf {
  let made = UnsafeMutableRawPointer(make(shelf_class(methods))).assumingMemoryBound(to: shelf.self)
  made.fill(items)
  return made
}

extension Shelf {
  var object: CObject { UnsafeMutableRawPointer(self).assumingMemoryBound(to: kvo_object.self) }
  func release() { kvo_object_release(object) }

  /// The elements that its accessor methods use.
  var items: [Int32] {
    withUnsafeBytes(of: &pointee.items) { Array($0.bindMemory(to: Int32.self)[..<pointee.count]) }
  }

  func fill(_ items: [Int32]) {
    withUnsafeMutableBytes(of: &pointee.items) {
      $0.copyBytes(from: items.withUnsafeBytes(Array.init))
    }
    pointee.count = items.count
  }

  /// The value that its getter, setter and ivar use.
  var value: String { pointee.value.map { read(CObject($0)) } ?? "nil" }

  private func read(_ object: CObject) -> String {
    var value = kvo_value_object(object)
    defer { kvo_value_destroy(&value) }
    return text(&value)
  }

  func store(_ many: Many?) {
    withExtendedLifetime(many) { kvo_store_retained_object(&pointee.value, many?.object) }
  }

  /// The methods called since the last call of this function.
  func takeCalls() -> String {
    withUnsafeMutableBytes(of: &pointee.calls) { bytes in
      let text = String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      bytes[0] = 0
      return text.split(separator: " ").joined(separator: " ")
    }
  }
}

extension shelf_methods {
  static let array: Self = [.SHELF_COUNT, .SHELF_OBJECT]
  static let orderedSet: Self = [.SHELF_COUNT, .SHELF_OBJECT, .SHELF_INDEX]
  static let set: Self = [.SHELF_COUNT, .SHELF_ENUMERATOR, .SHELF_MEMBER]
  static let singles: Self = [.SHELF_INSERT, .SHELF_REMOVE]
  static let batches: Self = [.SHELF_INSERT_MANY, .SHELF_REMOVE_MANY]
  static let mutableArray: Self = [.array, .singles]
}
