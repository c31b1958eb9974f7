/// Many observed keys of one Swift object, set in shuffled order.
import BenchmarkModel
import KVORuntime

/// Setting one of many observed keys of a Swift object.
var swiftManyKeysFamily: Family {
  var cases: [Case] = []
  for count in manyKeysCounts {
    cases.append(.time("swift.manykeys.token.\(count)", .uniform) { try byToken(keys: count) })
  }
  for count in manyKeysCounts {
    cases.append(.time("swift.manykeys.context.\(count)", .uniform) { try byContext(keys: count) })
  }
  for count in manyKeysCounts {
    cases.append(.time("swift.manykeys.strings.\(count)", .uniform) { try byStrings(keys: count) })
  }
  for count in manyKeysCounts {
    cases.append(.time("swift.manykeys.handle.\(count)", .uniform) { byHandle(keys: count) })
  }
  for count in manyKeysCounts {
    cases.append(
      .time("swift.manykeys.batchtoken.\(count)", .uniform) { byOneToken(keys: count) })
  }
  for count in manyKeysCounts {
    cases.append(.time("swift.manykeys.batch.\(count)", .uniform) { inBatches(keys: count) })
  }
  for count in manyKeysCounts {
    cases.append(
      .time("swift.manykeys.bracket.\(count)", .uniform, isExtra: true) { byBracket(keys: count) })
  }
  cases.append(
    .time("swift.manykeys.properties.token.10", .uniform, isExtra: true, propertiesByToken))
  return Family(cases: cases)
}

/// Visits the keys repeatedly in one shuffled order.
private final class ShuffledKeys {
  private let order: [Int]
  private var place = 0

  init(count: Int) {
    var random = XorShift()
    order = (0..<count).shuffled(using: &random)
  }

  /// Calls the body with one key after another, continuing where the last call stopped.
  @inline(__always)
  func visit(_ iterations: Int, _ body: (Int) -> Void) {
    var next = place
    for _ in 0..<iterations {
      body(order[next])
      next += 1
      if next == order.count { next = 0 }
    }
    place = next
  }

  /// Checks that the observer of every key was called as often as the key was visited.
  func check(_ deliveries: Deliveries, of iterations: Int) {
    for (place, key) in order.enumerated() {
      let visits = iterations / order.count + (place < iterations % order.count ? 1 : 0)
      require(
        deliveries[key] == visits,
        "the observer of key \(key) was notified of \(deliveries[key]) of \(visits) changes")
    }
  }
}

/// A generator with the same numbers in every run.
private struct XorShift: RandomNumberGenerator {
  private var state: UInt64 = 0x9E37_79B9_7F4A_7C15

  mutating func next() -> UInt64 {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return state
  }
}

@inline(never)
private func setCells(of object: KeyedCells, _ keys: ShuffledKeys, _ iterations: Int) {
  keys.visit(iterations) { object.setCell($0, to: 1) }
}

@inline(never)
private func setFoundCells(of object: KeyedCells, _ keys: ShuffledKeys, _ iterations: Int) {
  keys.visit(iterations) { object.setFoundCell($0, to: 1) }
}

@inline(never)
private func setRecorded(of object: RecordedCells, _ keys: ShuffledKeys, _ iterations: Int) {
  keys.visit(iterations) { object.setCell($0, to: 1) }
}

/// Sets the keys in batches, each of them once in a batch.
@inline(never)
private func setRecorded(
  of object: RecordedCells, _ keys: ShuffledKeys, inBatchesOf count: Int, _ iterations: Int
) {
  for start in stride(from: 0, to: iterations, by: count) {
    object.coalescingNotifications {
      keys.visit(min(count, iterations - start)) { object.setCell($0, to: 1) }
    }
  }
}

@inline(never)
private func setProperties(of object: TenProperties, _ keys: ShuffledKeys, _ iterations: Int) {
  keys.visit(iterations) { object.setProperty($0, to: 1) }
}

/// - Parameter observers: retained until the end.
private func workload(
  _ object: KeyedCells, keys count: Int, _ deliveries: Deliveries, observers: [AnyObject]
) -> Workload {
  let keys = ShuffledKeys(count: count)
  return Workload(
    run: { setCells(of: object, keys, $0) },
    finish: { iterations in
      withExtendedLifetime(observers) { keys.check(deliveries, of: iterations) }
    })
}

private func byToken(keys: Int) throws -> Workload {
  let object = KeyedCells(count: keys)
  let deliveries = Deliveries(keys: keys)
  let helpers = try (0..<keys).map { try KeyHelper(object, key: $0, deliveries) }
  return workload(object, keys: keys, deliveries, observers: helpers)
}

private func byContext(keys: Int) throws -> Workload {
  let object = KeyedCells(count: keys)
  let deliveries = Deliveries(keys: keys)
  let observer = ContextObserver(keys: keys, deliveries)
  for key in 0..<keys { try observer.observe(object, KeyedCells.keys[key], as: key) }
  return workload(object, keys: keys, deliveries, observers: [observer])
}

private func byStrings(keys: Int) throws -> Workload {
  let object = KeyedCells(count: keys)
  let deliveries = Deliveries(keys: keys)
  let observer = StringObserver(keys: keys, deliveries)
  for key in 0..<keys { try observer.observe(object, key: key) }
  return workload(object, keys: keys, deliveries, observers: [observer])
}

/// Key handles looked up once, and values that the runtime stores: a token for each key, and sets by the same
/// handles.
private func byHandle(keys count: Int) -> Workload {
  let object = RecordedCells()
  let deliveries = Deliveries(keys: count)
  let tokens = (0..<count).map { index in
    object.observe(key: RecordedCells.keys[index]) { _, _ in deliveries.count(index) }
  }
  return workload(object, keys: count, deliveries, tokens: tokens)
}

/// As `byHandle`, in batches of all keys.
private func inBatches(keys count: Int) -> Workload {
  let object = RecordedCells()
  let deliveries = Deliveries(keys: count)
  let tokens = (0..<count).map { index in
    object.observe(key: RecordedCells.keys[index]) { _, _ in deliveries.count(index) }
  }
  let keys = ShuffledKeys(count: count)
  return Workload(
    run: { setRecorded(of: object, keys, inBatchesOf: count, $0) },
    finish: { iterations in
      withExtendedLifetime(tokens) { keys.check(deliveries, of: iterations) }
    })
}

/// Key handles with one token for all of them, whose handler gets the index of the key.
private func byOneToken(keys count: Int) -> Workload {
  let object = RecordedCells()
  let deliveries = Deliveries(keys: count)
  let token = observeKeys(of: object, count: count, deliveries)
  return workload(object, keys: count, deliveries, tokens: [token])
}

private func workload(
  _ object: RecordedCells, keys count: Int, _ deliveries: Deliveries, tokens: [KeyValueObservation]
) -> Workload {
  let keys = ShuffledKeys(count: count)
  return Workload(
    run: { setRecorded(of: object, keys, $0) },
    finish: { iterations in
      withExtendedLifetime(tokens) { keys.check(deliveries, of: iterations) }
    })
}

/// Key handles looked up once, and values that the program stores and whose changes it brackets.
private func byBracket(keys count: Int) -> Workload {
  let object = KeyedCells(count: count)
  let deliveries = Deliveries(keys: count)
  let tokens = (0..<count).map { index in
    object.observe(key: KeyedCells.foundKeys[index]) { _, _ in deliveries.count(index) }
  }
  let keys = ShuffledKeys(count: count)
  return Workload(
    run: { setFoundCells(of: object, keys, $0) },
    finish: { iterations in
      withExtendedLifetime(tokens) { keys.check(deliveries, of: iterations) }
    })
}

/// Declared properties and typed key paths, for comparison with keys that are data.
private func propertiesByToken() -> Workload {
  let object = TenProperties()
  let keys = ShuffledKeys(count: TenProperties.keyPaths.count)
  let deliveries = Deliveries(keys: TenProperties.keyPaths.count)
  let tokens = TenProperties.keyPaths.enumerated().map { index, keyPath in
    object.observe(keyPath) { _, _ in deliveries.count(index) }
  }
  return Workload(
    run: { setProperties(of: object, keys, $0) },
    finish: { iterations in
      withExtendedLifetime(tokens) { keys.check(deliveries, of: iterations) }
    })
}
