/// Three ways to observe many keys of one object: a helper object per key, one observer with a
/// context per key, one observer that compares key paths. All count by key.
import BenchmarkModel
import KVORuntime

/// How often each key's observer was told.
final class Deliveries {
  private var counts: [Int]

  init(keys: Int) {
    counts = Array(repeating: 0, count: keys)
  }

  func count(_ key: Int) {
    counts[key] += 1
  }

  subscript(key: Int) -> Int { counts[key] }
}

/// What observes one key by a token, and ends with it.
final class KeyHelper {
  private let token: KeyValueObservation

  init(_ object: KeyedCells, key index: Int, _ deliveries: Deliveries) throws {
    token = try object.observe(keyPath: KeyedCells.keys[index]) { _, _ in deliveries.count(index) }
  }
}

/// Observes so many keys of an object by one token.
func observeKeys(
  of object: RecordedCells, count: Int, _ deliveries: Deliveries
) -> KeyValueObservation {
  object.observe(keys: Array(RecordedCells.keys.prefix(count))) { _, index, _ in
    deliveries.count(index)
  }
}

/// Tells the keys apart by their contexts: one byte each, of which only the address matters, and
/// the address says which key it is.
final class ContextObserver: KVOObject {
  private let contexts: UnsafeMutableRawPointer
  private let deliveries: Deliveries

  init(keys: Int, _ deliveries: Deliveries) {
    contexts = UnsafeMutableRawPointer.allocate(byteCount: keys, alignment: 1)
    self.deliveries = deliveries
    super.init()
  }

  deinit {
    contexts.deallocate()
  }

  /// - Parameter index: what is counted.
  func observe(_ object: KVOObject, _ key: String, as index: Int) throws {
    try object.addObserver(self, forKeyPath: key, context: contexts + index)
  }

  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [KeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    guard let context else { fatalError("a notification came without a context") }
    deliveries.count(context - contexts)
  }
}

/// Tells the keys apart by comparing key paths, after seeing by the one context that the
/// notification is its own. With thousands of keys nobody writes a chain of comparisons, which
/// would cost what the number of keys costs: a dictionary compares for it.
final class StringObserver: KVOObject {
  private static let context = KVOContext()

  private let indices: [String: Int]
  private let deliveries: Deliveries

  init(keys: Int, _ deliveries: Deliveries) {
    let keysAndIndices = KeyedCells.keys.prefix(keys).enumerated().map { ($1, $0) }
    indices = Dictionary(uniqueKeysWithValues: keysAndIndices)
    self.deliveries = deliveries
    super.init()
  }

  func observe(_ object: KeyedCells, key index: Int) throws {
    let key = KeyedCells.keys[index]
    try object.addObserver(self, forKeyPath: key, context: Self.context.pointer)
  }

  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [KeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    guard context == Self.context, let keyPath, let index = indices[keyPath] else {
      fatalError("a notification came that nobody asked for")
    }
    deliveries.count(index)
  }
}
