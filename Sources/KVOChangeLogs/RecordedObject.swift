internal import CKVORuntime
internal import KVORuntime

// An object of a recorded graph. It is found through an association of the log with the object (P2), and ends
// with that association.

/// An object whose changes a log records. It does not retain the object.
///
/// | state | protection |
/// |---|---|
/// | `isAlive` | `RecordedObject.lives` |
/// | `token` | its own lock; it is set by the thread that registers, before another may end it |
/// | `registration`, `states` | the log's lock, which also ensures exclusive access |
final class RecordedObject: @unchecked Sendable {
  let recorded: RecordedClass
  /// The object's number in transcripts; nil if two equal graphs might number it differently.
  let number: Int?
  /// The registration whose changes are recorded, in case several threads register at once; nil until there
  /// is one.
  @exclusivity(unchecked) var registration: RecordedRegistration?
  /// The state of each key.
  let states: UnsafeMutablePointer<KeyState>
  private let header: UnsafeMutablePointer<kvo_object>
  private var isAlive = true
  private let token = LockedValue<(token: KeyValueObservation?, isOver: Bool)>((nil, false))

  private static let lives = Lock()

  init(_ object: KVOObject, _ recorded: RecordedClass, number: Int?) {
    self.recorded = recorded
    self.number = number
    header = ObjectHeader.of(object)
    states = .allocate(capacity: recorded.keys.count)
    for (index, key) in recorded.keys.enumerated() {
      states.advanced(by: index).initialize(to: KeyState(wordType: key.wordType?.wordType))
    }
  }

  deinit {
    states.deinitialize(count: recorded.keys.count)
    states.deallocate()
  }

  /// The object, or nil if it has died.
  var object: KVOObject? {
    Self.lives.withLock { isAlive && kvo_object_try_retain(header) }
      ? Unmanaged<KVOObject>.fromOpaque(ObjectHeader.object(of: header)).takeRetainedValue() : nil
  }

  /// Whether this is the record of an object, which the caller knows to live.
  func isRecord(of object: KVOObject) -> Bool { header == ObjectHeader.of(object) }

  func keep(_ observation: KeyValueObservation) {
    let isOver = token.withLock { state in
      if !state.isOver { state.token = observation }
      return state.isOver
    }
    if isOver { observation.invalidate() }
  }

  func end() {
    let observation = token.withLock { state in
      defer { state = (nil, true) }
      return state.token
    }
    observation?.invalidate()
  }

  fileprivate func objectDied() {
    Self.lives.withLock { isAlive = false }
    end()
  }
}

/// The state of a recorded key of an object.
struct KeyState {
  /// The position of the key's last record; -1 if there is none.
  var lastPosition = -1
  /// The order of reads after overlapping changes.
  var reads = ReadOrder()
  /// `RecordedKey.wordType` for the core. It is read without the lock, and so is not the first field: the thread sanitizer
  /// takes a change of another field for one of the first.
  let wordType: UnsafePointer<kvo_type>?
}

/// One registration with an object.
// Unchecked `Sendable`: `stamp` is set under the log's lock, before the registration becomes the object's.
final class RecordedRegistration: @unchecked Sendable {
  /// A time after it was registered (`kvo_binding_stamp`).
  @exclusivity(unchecked) var stamp: UInt64 = 0
}

/// The associated value of a recorded object, which reports the object's death.
final class RecordedLife {
  let member: RecordedObject

  init(_ member: RecordedObject) { self.member = member }

  deinit { member.objectDied() }
}
