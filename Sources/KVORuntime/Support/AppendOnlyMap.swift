internal import Synchronization

/// A map from addresses to objects that are never freed: classes by metadata, types by metadata, keys by key
/// path object.
///
/// It is an open-addressed hash table of (address, object) pairs. Entries are only added. Readers take no
/// lock, because an entry's object is stored before its address. A table that has become too small is
/// replaced by a copy of twice the size, and kept for its readers; all old tables together are smaller than
/// the present one.
///
/// | state | protection |
/// |---|---|
/// | `table` | atomic; stored under `count`'s lock |
/// | slots | atomic; stored under `count`'s lock |
/// | `count` | its own lock |
final class AppendOnlyMap<Value: AnyObject & Sendable>: Sendable {
  // `Atomic` may be shared; it is not `Sendable` here only because raw pointers aren't marked so.
  private nonisolated(unsafe) let table = Atomic<UnsafeRawPointer?>(nil)
  private let count = LockedValue(0)

  /// The number of entries.
  var size: Int { count.withLock { $0 } }

  /// The object at an address; nil if there is none. O(1). Any thread.
  subscript(address: UnsafeRawPointer) -> Value? { unretained(at: address)?.takeUnretainedValue() }

  /// The object at an address, without a retain, which is not needed: it is never freed. O(1). Any thread.
  func unretained(at address: UnsafeRawPointer) -> Unmanaged<Value>? {
    guard let table = table.load(ordering: .acquiring) else { return nil }
    // Tables are never freed either.
    return Unmanaged<Table>.fromOpaque(table)._withUnsafeGuaranteedRef { table in
      table.find(address).map { Unmanaged<Value>.fromOpaque($0) }
    }
  }

  /// Adds an object, unless the address has one. Returns the object that the address has then.
  func insert(_ object: Value, at address: UnsafeRawPointer) -> Value {
    count.withLock { count in
      if let present = self[address] { return present }
      count += 1
      tableWithRoom(for: count).add(Unmanaged.passRetained(object).toOpaque(), at: address)
      return object
    }
  }

  private func tableWithRoom(for count: Int) -> Table {
    let old = table.load(ordering: .relaxed).map {
      Unmanaged<Table>.fromOpaque($0).takeUnretainedValue()
    }
    if let old, count * 4 <= old.capacity * 3 { return old }
    let new = Table(capacity: old.map { $0.capacity * 2 } ?? 8, previous: old)
    old?.copyEntries(to: new)
    table.store(UnsafeRawPointer(Unmanaged.passRetained(new).toOpaque()), ordering: .releasing)
    return new
  }
}

/// A map's table of one size.
private final class Table: Sendable {
  private struct Slot: ~Copyable {
    let address = Atomic<UnsafeRawPointer?>(nil)
    let object = Atomic<UnsafeRawPointer?>(nil)
  }

  /// A power of two, greater than the number of entries, so that every search reaches a free slot.
  let capacity: Int
  // The slots are atomic; the pointer never changes.
  private nonisolated(unsafe) let slots: UnsafeMutablePointer<Slot>

  /// The table that this one replaced. Readers may still use it, and leak checkers should find it.
  private let previous: Table?

  init(capacity: Int, previous: Table?) {
    self.capacity = capacity
    self.previous = previous
    slots = .allocate(capacity: capacity)
    for index in 0..<capacity { (slots + index).initialize(to: Slot()) }
  }

  func find(_ address: UnsafeRawPointer) -> UnsafeRawPointer? {
    var index = home(address)
    while true {
      let slot = slots + index
      switch slot.pointee.address.load(ordering: .acquiring) {
      case address: return slot.pointee.object.load(ordering: .relaxed)
      case nil: return nil
      default: index = (index &+ 1) & (capacity &- 1)
      }
    }
  }

  /// Adds an entry that is not in the table. Call under the map's lock.
  func add(_ object: UnsafeRawPointer, at address: UnsafeRawPointer) {
    var index = home(address)
    while slots[index].address.load(ordering: .relaxed) != nil {
      index = (index + 1) & (capacity - 1)
    }
    slots[index].object.store(object, ordering: .relaxed)
    slots[index].address.store(address, ordering: .releasing)
  }

  func copyEntries(to other: Table) {
    for index in 0..<capacity {
      guard let address = slots[index].address.load(ordering: .relaxed),
        let object = slots[index].object.load(ordering: .relaxed)
      else { continue }
      other.add(object, at: address)
    }
  }

  // Addresses have equal low bits; multiplication spreads them over the high ones.
  private func home(_ address: UnsafeRawPointer) -> Int {
    let spread = UInt64(UInt(bitPattern: address)) &* 0x9E37_79B9_7F4A_7C15
    return Int(truncatingIfNeeded: spread >> 32) & (capacity &- 1)
  }
}
