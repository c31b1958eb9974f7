internal import Synchronization

/// Objects that live for ever, found by an address: classes by their metadata, types by theirs,
/// keys by key path object.
///
/// An open-addressed table of (address, object) pairs. Entries are only ever added. Readers take no
/// lock: an entry's object is there before its address is, and a table that has become too small is
/// replaced by a copy twice as large and left to its readers, so that all old ones together are
/// smaller than the present one.
///
/// | state | protection |
/// |---|---|
/// | `table` | atomic; stored under `count`'s lock |
/// | slots | atomic; stored under `count`'s lock |
/// | `count` | its own lock |
final class ForeverMap<Value: AnyObject & Sendable>: Sendable {
  // An atomic is made to be shared; pointers merely are not marked Sendable.
  private nonisolated(unsafe) let table = Atomic<UnsafeRawPointer?>(nil)
  private let count = Locked(0)

  /// How many entries there are.
  var size: Int { count.withLock { $0 } }

  /// The object at an address. O(1), any thread.
  subscript(address: UnsafeRawPointer) -> Value? { unretained(at: address)?.takeUnretainedValue() }

  /// The same without a reference of the caller's, which none needs: it lives for ever.
  func unretained(at address: UnsafeRawPointer) -> Unmanaged<Value>? {
    guard let table = table.load(ordering: .acquiring) else { return nil }
    // So do tables.
    return Unmanaged<Table>.fromOpaque(table)._withUnsafeGuaranteedRef { table in
      table.find(address).map { Unmanaged<Value>.fromOpaque($0) }
    }
  }

  /// Adds an object, unless the address has one; returns the one that is kept.
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

/// One size of a map's table.
private final class Table: Sendable {
  private struct Slot: ~Copyable {
    let address = Atomic<UnsafeRawPointer?>(nil)
    let object = Atomic<UnsafeRawPointer?>(nil)
  }

  /// A power of two, more than there are entries: every search ends at a free slot.
  let capacity: Int
  // The slots are atomic; the pointer never changes.
  private nonisolated(unsafe) let slots: UnsafeMutablePointer<Slot>

  /// The one that it replaced: readers may still be in it, and leak checkers should find it.
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

  /// Adds an entry that is not there. Under the map's lock.
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

  // Multiplying spreads addresses, whose low bits are alike, over the high ones.
  private func home(_ address: UnsafeRawPointer) -> Int {
    let spread = UInt64(UInt(bitPattern: address)) &* 0x9E37_79B9_7F4A_7C15
    return Int(truncatingIfNeeded: spread >> 32) & (capacity &- 1)
  }
}
