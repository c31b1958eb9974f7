internal import CKVORuntime

// An object of a recorded graph: found by the value that a log keeps with it (P2), which ends with it.

/// An object whose changes a log records. It doesn't keep the object alive.
///
/// | state | protection |
/// |---|---|
/// | `isAlive` | `RecordedObject.lives` |
/// | `token` | set by the thread that has made it, before another may end it |
/// | `registration`, `lastPositions`, `reads` | the log's state |
final class RecordedObject: @unchecked Sendable {
  let recorded: RecordedClass
  /// By which transcripts name it; nil where two equal graphs need not agree on one.
  let number: Int?
  /// Which of the registrations that threads have made at once is recorded; nil until there is one.
  var registration: RecordedRegistration?
  /// Where the last record of each key stands in the log.
  var lastPositions: [Int]
  /// Of each key, where its changes have overlapped.
  var reads: [ReadOrder]
  private let header: UnsafeMutablePointer<kvo_object>
  private var isAlive = true
  private let token = Locked<(token: KeyValueObservation?, isOver: Bool)>((nil, false))

  private static let lives = Lock()

  init(_ object: KVOObject, _ recorded: RecordedClass, number: Int?) {
    self.recorded = recorded
    self.number = number
    header = object.boundHeader
    lastPositions = Array(repeating: -1, count: recorded.keys.count)
    reads = Array(repeating: ReadOrder(), count: recorded.keys.count)
  }

  /// The object, unless it has died.
  var object: KVOObject? {
    Self.lives.withLock { isAlive && kvo_object_try_retain(header) }
      ? Unmanaged<KVOObject>.fromOpaque(ObjectHeader.object(of: header)).takeRetainedValue() : nil
  }

  /// Whether it is this object, which lives.
  func isRecord(of object: KVOObject) -> Bool { header == object.boundHeader }

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

/// Stands for one registration with an object.
final class RecordedRegistration: Sendable {}

/// What is kept with the object.
final class RecordedLife {
  let member: RecordedObject

  init(_ member: RecordedObject) { self.member = member }

  deinit { member.objectDied() }
}
