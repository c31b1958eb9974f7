/// Three ways to observe many keys of one object: a helper object per key, one observer with a context per
/// key, and one observer that compares key paths. All count deliveries by key.
import BenchmarkModel
import KVORuntime

/// Counts the calls of each key's observer.
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

/// Observes one key with a token, and ends with it.
final class KeyHelper {
  private let token: KeyValueObservation

  init(_ object: KeyedCells, key index: Int, _ deliveries: Deliveries) throws {
    token = try object.observe(keyPath: KeyedCells.keys[index]) { _, _ in deliveries.count(index) }
  }
}

/// Observes the first `count` keys of an object with one token.
func observeKeys(
  of object: RecordedCells, count: Int, _ deliveries: Deliveries
) -> KeyValueObservation {
  object.observe(keys: Array(RecordedCells.keys.prefix(count))) { _, index, _ in
    deliveries.count(index)
  }
}

/// Distinguishes the keys by their contexts. Each context is one byte. Only its address matters, which
/// determines the key.
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

  /// - Parameter index: the counter to increment.
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

/// Distinguishes the keys by key path, after the context has shown that the notification is its own. It uses
/// a dictionary, because the cost of a chain of comparisons would grow with the number of keys.
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
