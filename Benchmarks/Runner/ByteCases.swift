/// The memory that observations use.
import BenchmarkC
import BenchmarkModel
import KVOChangeLogs
import KVORuntime

/// Bytes for each of 10,000 observations: of as many keys of one object, or of one key of as many objects.
/// All memory in use afterwards, minus that before, counts: tables, records, tokens and handlers. `newkey`
/// also includes what the class stores about a key that is observed for the first time. `record` is a change log's, of a
/// set of a number.
var bytesFamily: Family {
  let count = KeyedCells.keyCount
  return Family(cases: [
    .bytes("c.bytes", .typed) { bench_bytes_for_keys(count, true) },
    .bytes("c.bytes.only", .typed) { bench_bytes_for_objects(count) },
    .bytes("c.bytes.newkey", .typed) { bench_bytes_for_keys(count, false) },
    .bytes("swift.bytes.token", .uniform) {
      try again { try tokenBytes(of: TokenCells(count: count)) }
    },
    .bytes("swift.bytes.context", .uniform) {
      try again { try contextBytes(of: ContextCells(count: count)) }
    },
    .bytes("swift.bytes.batchtoken", .uniform) { again { oneTokenBytes(keys: count) } },
    .bytes("swift.bytes.newkey", .uniform) { try tokenBytes(of: NewCells(count: count)) },
    .bytes("swift.bytes.record", .uniform) { try recordBytes(count) },
    .bytes("swift.bytes.token.objects", .uniform, isExtra: true) { tokenBytes(objects: count) },
    .bytes("swift.bytes.context.objects", .uniform, isExtra: true) {
      try contextBytes(objects: count)
    },
  ])
}

// Memory that the runtime keeps for a class counts too, so no two cases share a class.
private final class TokenCells: KeyedCells {}
private final class ContextCells: KeyedCells {}
private final class NewCells: KeyedCells {}

/// The bytes for a second object, when the class already has all that the first one needed.
private func again(_ bytes: () throws -> Double) rethrows -> Double {
  _ = try bytes()
  return try bytes()
}

/// Bytes for each observation that the body makes. The body's result lives until the memory has been
/// measured.
private func bytesPerObservation<Kept>(_ count: Int, _ body: () throws -> Kept) rethrows -> Double {
  _ = bench_memory_in_use()  // The measurement's own allocations are done now.
  let before = bench_memory_in_use()
  let kept = try body()
  let after = withExtendedLifetime(kept) { bench_memory_in_use() }
  return (Double(after) - Double(before)) / Double(count)
}

/// Makes the class look up its keys.
private func prepareClass(of object: KeyedCells) {
  require(object.isObserved(forKey: KeyedCells.keys[0]) == false, "an object is observed already")
}

/// An empty array with reserved capacity, so that its own growth does not count.
private func emptyTokens(_ capacity: Int) -> [KeyValueObservation] {
  var tokens: [KeyValueObservation] = []
  tokens.reserveCapacity(capacity)
  return tokens
}

private func check(_ deliveries: Deliveries, keys: Int) {
  for key in 0..<keys {
    require(deliveries[key] == 1, "an observer was notified \(deliveries[key]) times, not once")
  }
}

private func tokenBytes(of object: KeyedCells) throws -> Double {
  let keys = object.count
  let deliveries = Deliveries(keys: keys)
  prepareClass(of: object)
  var tokens = emptyTokens(keys)
  let bytes = try bytesPerObservation(keys) {
    for (index, key) in KeyedCells.keys.prefix(keys).enumerated() {
      tokens.append(try object.observe(keyPath: key) { _, _ in deliveries.count(index) })
    }
    for index in 0..<keys { object.setCell(index, to: 1) }
  }
  check(deliveries, keys: keys)
  for token in tokens { token.invalidate() }
  return bytes
}

private func contextBytes(of object: KeyedCells) throws -> Double {
  let keys = object.count
  let deliveries = Deliveries(keys: keys)
  let observer = ContextObserver(keys: keys, deliveries)
  prepareClass(of: object)
  let bytes = try bytesPerObservation(keys) {
    for (index, key) in KeyedCells.keys.prefix(keys).enumerated() {
      try observer.observe(object, key, as: index)
    }
    for index in 0..<keys { object.setCell(index, to: 1) }
  }
  check(deliveries, keys: keys)
  object.removeAllObservers()
  return bytes
}

private func oneTokenBytes(keys: Int) -> Double {
  let object = RecordedCells()
  let deliveries = Deliveries(keys: keys)
  require(RecordedCells.keys.count >= keys, "the class has fewer keys")
  let bytes = bytesPerObservation(keys) {
    let token = observeKeys(of: object, count: keys, deliveries)
    for index in 0..<keys { object.setCell(index, to: 1) }
    return token
  }
  check(deliveries, keys: keys)
  return bytes
}

private func recordBytes(_ count: Int) throws -> Double {
  let account = ObservedAccount()
  let log = try ChangeLog(of: account, recording: .keys(of: ObservedAccount.self, \.balance))
  account.balance = 1
  let bytes = bytesPerObservation(count) {
    for value in 0..<count { account.balance = Double(value) }
  }
  require(log.count == count + 1, "the log has \(log.count) records")
  return bytes
}

private func tokenBytes(objects count: Int) -> Double {
  let accounts = (0..<count).map { _ in ObservedAccount() }
  let deliveries = Deliveries(keys: count)
  var tokens = emptyTokens(count)
  let bytes = bytesPerObservation(count) {
    for (index, account) in accounts.enumerated() {
      tokens.append(account.observe(\.balance) { _, _ in deliveries.count(index) })
    }
    for account in accounts { account.balance = 1 }
  }
  check(deliveries, keys: count)
  for token in tokens { token.invalidate() }
  return bytes
}

private func contextBytes(objects count: Int) throws -> Double {
  let accounts = (0..<count).map { _ in ObservedAccount() }
  let deliveries = Deliveries(keys: count)
  let observer = ContextObserver(keys: count, deliveries)
  let bytes = try bytesPerObservation(count) {
    for (index, account) in accounts.enumerated() {
      try observer.observe(account, "balance", as: index)
    }
    for account in accounts { account.balance = 1 }
  }
  check(deliveries, keys: count)
  for account in accounts { account.removeAllObservers() }
  return bytes
}
