internal import CKVOObservation
internal import CKVORuntime
public import KVORuntime
public import Observation

// Makes Swift's Observation track reads of `@Observed` properties (O1, O2, O3). Linking this library is all
// that is needed: while Observation tracks, the core reports each read (`CKVOObservation`). A key that is read gets
// a registrar, which is notified of the key's changes through an ordinary registration.

/// Makes `@Observed` properties observable by `withObservationTracking`, and by everything that is built on
/// it.
extension KVOObject: Observable {}

// MARK: Whether Observation tracks

/// The thread-local variable in which Observation keeps the list of what the current tracked body has read. It is nil
/// outside of such bodies. Observation does not export it, so it is found by its changes.
private enum Tracker {
  /// Where it is among the thread-local variables of Observation's library or, if that is linked statically, of the
  /// program; in words.
  static let index: Int = {
    touch()
    let object = OpenAccess()
    var (inside, beside): ([UInt], [UInt]) = ([], [])
    let before = words
    withObservationTracking {
      inside = words
      // Swift notes open accesses in a thread-local variable as well.
      object.during { beside = words }
    } onChange: {
    }
    let after = words
    let found = before.indices.filter {
      inside[$0] != 0 && inside[$0] != before[$0] && inside[$0] == beside[$0]
        && before[$0] == after[$0]
    }
    guard found.count == 1 else {
      fatalError(
        """
        KVORuntime: KVOObservation can't find out whether this version of Swift's Observation tracks. Use the version of \
        Swift that Package.swift names, or do not link KVOObservation.
        """)
    }
    return found[0]
  }()

  /// The thread-local variables of this thread.
  private static var words: [UInt] {
    let block = block
    guard let start = block.start else { return [] }
    return (0..<block.size / MemoryLayout<UInt>.stride).map {
      start.loadUnaligned(fromByteOffset: $0 * MemoryLayout<UInt>.stride, as: UInt.self)
    }
  }

  /// The variables of this thread, after Observation has used them. Those of a library that was loaded while the
  /// program runs are created when they are used.
  static var usedBlock: kvo_thread_locals {
    let block = block
    if block.start != nil { return block }
    touch()
    return self.block
  }

  private static func touch() {
    withObservationTracking {
    } onChange: {
    }
  }

  private static var block: kvo_thread_locals {
    let metadata: Any.Type = ObservationRegistrar.self
    return kvo_observation_thread_locals(unsafeBitCast(metadata, to: UnsafeRawPointer.self))
  }

  private final class OpenAccess {
    private var value = 0
    @inline(never) func during(_ body: () -> Void) { modify(&value, body) }
    @inline(never) private func modify(_ value: inout Int, _ body: () -> Void) { body() }
  }
}

@_cdecl("kvo_observation_find_tracker")
func findTracker() -> UnsafePointer<UnsafeMutableRawPointer?> {
  let index = Tracker.index
  guard let start = Tracker.usedBlock.start else {
    fatalError("KVORuntime: a thread has no thread-local variables of Swift's Observation.")
  }
  return UnsafePointer(start.assumingMemoryBound(to: UnsafeMutableRawPointer?.self) + index)
}

// MARK: Tracked objects and keys

/// Notes that a key is read while Observation tracks. Called by the core.
@_cdecl("kvo_observation_read")
func read(_ object: UnsafeMutablePointer<kvo_object>, _ key: UnsafePointer<CChar>) {
  TrackedObject.of(object)?.key(key).read(object)
}

/// Kept with an object that was read during tracking, as an associated value.
private final class TrackedObject: Sendable {
  // Keys are interned, so addresses identify them.
  private let keys = Mutexed<[UnsafePointer<CChar>: TrackedKey]>([:])

  // An address that nothing else uses.
  private nonisolated(unsafe) static let address = UnsafeRawPointer(
    UnsafeMutablePointer<UInt8>.allocate(capacity: 1))

  // Outer, since the runtime is called while it is held.
  private static let making = Lock(isOuter: true)

  /// The object's, made if there is none. Nil if there is no memory.
  static func of(_ object: UnsafeMutablePointer<kvo_object>) -> TrackedObject? {
    if let known = known(object) { return known }
    let made = TrackedObject()
    making.withLock { if known(object) == nil { made.keep(with: object) } }
    return known(object)
  }

  private static func known(_ object: UnsafeMutablePointer<kvo_object>) -> TrackedObject? {
    kvo_object_associated(object, address) { _ = Unmanaged<TrackedObject>.fromOpaque($0).retain() }
      .map { Unmanaged<TrackedObject>.fromOpaque($0).takeRetainedValue() }
  }

  private func keep(with object: UnsafeMutablePointer<kvo_object>) {
    let kept = Unmanaged.passRetained(self).toOpaque()
    let status = kvo_object_associate(
      object, Self.address, kept, { Unmanaged<TrackedObject>.fromOpaque($0).release() }, nil)
    if status != .KVO_OK { Unmanaged<TrackedObject>.fromOpaque(kept).release() }
  }

  func key(_ key: UnsafePointer<CChar>) -> TrackedKey {
    if let known = keys.withLock({ $0[key] }) { return known }
    // Created and released without holding the lock, since it has its own.
    let made = TrackedKey(key)
    return withExtendedLifetime(made) {
      keys.withLock { keys in
        if let known = keys[key] { return known }
        keys[key] = made
        return made
      }
    }
  }
}

/// The root of the key paths that are passed to registrars. All use the same object.
private final class Subject: Observable, Sendable {
  static let shared = Subject()

  subscript(_ argument: Hashed) -> Int { 0 }
}

/// The argument of a key's key path. Observation hashes it when a body reads the key, when it begins to wait for the
/// key's next change, and at changes.
private struct Hashed: Hashable, Sendable {
  let interest: Interest

  static func == (one: Hashed, other: Hashed) -> Bool { one.interest === other.interest }

  func hash(into hasher: inout Hasher) { interest.hashed() }
}

/// Who is interested in the next change of a key, and the registrations that report it.
private final class Interest: Sendable {
  private struct State {
    /// The threads that have read the key, but do not wait yet: Observation waits from the end of the tracked body.
    var readers: [UnsafeRawPointer] = []
    /// Whether the next change is of interest: since the last one, the key has been read, or there are readers.
    var isAwaited = false
    /// Whether the last change was of no interest when it began.
    var isIdle = false
    /// The thread that is changing the key; of several, the one that began last.
    var changer: UnsafeRawPointer?
    /// Whether the key has been read since the change began, perhaps before it was stored.
    var isReadMeanwhile = false
    /// The registrations of the key, of which there may be several if several threads read it first. The handle is nil
    /// until one has been made.
    var registrations: [(number: Int, handle: OpaquePointer?)] = []
    var lastNumber = 0

    /// Whether a change has to be reported. Threads that do not wait yet remain interested in the next one.
    mutating func takeAwaited() -> Bool {
      defer { isAwaited = !readers.isEmpty }
      return isAwaited
    }

    /// Whether a registration reports each change that begins from now on. One that another thread is still making may
    /// begin too late, and one that is being ended has stopped.
    var isRegistered: Bool {
      registrations.contains { $0.handle.map(kvo_handle_is_valid) ?? false }
    }

    func index(of number: Int) -> Int? { registrations.firstIndex { $0.number == number } }
  }

  private let state = Mutexed(State())

  /// Notes that this thread reads the key. Returns the number of the registration to make, if there is none.
  func read() -> Int? {
    let thread = kvo_observation_thread()
    return state.withLock { state in
      if !state.readers.contains(thread) {
        state.readers.append(thread)
        kvo_observation_count_read_key(true)
      }
      state.isAwaited = true
      // A thread that reads within its own change is notified of the next one, as by an `@Observable` class. In a batch
      // that may belong to the same change.
      if thread != state.changer || kvo_binding_is_collecting() { state.isReadMeanwhile = true }
      guard !state.isRegistered else { return nil }
      state.lastNumber += 1
      state.registrations.append((state.lastNumber, nil))
      return state.lastNumber
    }
  }

  /// Called when Observation hashes the key path. A thread that has read the key and is not tracking any more begins to
  /// wait. One that is still tracking has only ended an inner body, or reads the key.
  func hashed() {
    guard kvo_observation_may_wait() else { return }
    let thread = kvo_observation_thread()
    // Without gates, since Observation holds a lock of its own here.
    state.withLock(isGate: false) { state in
      guard let index = state.readers.firstIndex(of: thread) else { return }
      state.readers.remove(at: index)
      kvo_observation_count_read_key(false)
    }
  }

  /// Notes that this thread begins a change. Returns whether Observation has to be notified.
  func changeBegins() -> Bool {
    let thread = kvo_observation_thread()
    return state.withLock { state in
      state.changer = thread
      // A reader that does not wait yet may begin to wait before this change is stored.
      state.isReadMeanwhile = !state.readers.isEmpty
      state.isIdle = !state.isAwaited
      return state.takeAwaited()
    }
  }

  /// Notes that a change has been made. Returns whether Observation has to be notified now, of reads since the change
  /// began; and the registrations to end, if the change was of no interest.
  func changeEnds() -> (isLate: Bool, ended: [OpaquePointer]) {
    let thread = kvo_observation_thread()
    return state.withLock { state in
      // Otherwise any read may precede its store: another change has begun since, or this one before the key was
      // registered.
      let isLast = thread == state.changer
      if isLast { state.changer = nil }
      if state.isAwaited, state.isReadMeanwhile || !isLast {
        // They may wait before an outer change, which has begun already, is stored.
        state.isReadMeanwhile = !state.readers.isEmpty
        return (state.takeAwaited(), [])
      }
      guard state.isIdle, !state.isAwaited else { return (false, []) }
      let made = state.registrations.compactMap(\.handle)
      state.registrations.removeAll { $0.handle != nil }
      return (false, made)
    }
  }

  /// Keeps the handle of a registration. Returns false if the registration has ended already.
  func keep(_ number: Int, _ handle: OpaquePointer?) -> Bool {
    state.withLock { state in
      guard let index = state.index(of: number) else { return false }
      state.registrations[index].handle = handle
      return true
    }
  }

  /// Forgets a registration that has ended, and returns its handle.
  func forget(_ number: Int) -> OpaquePointer? {
    state.withLock { state in
      state.index(of: number).flatMap { state.registrations.remove(at: $0).handle }
    }
  }
}

/// A key with its registrar. It is observed from its first read until a change in which nothing is interested.
private final class TrackedKey: Sendable {
  // Interned.
  private nonisolated(unsafe) let name: UnsafePointer<CChar>
  private let registrar = ObservationRegistrar()
  private let interest: Interest
  private nonisolated(unsafe) let keyPath: KeyPath<Subject, Int>

  init(_ name: UnsafePointer<CChar>) {
    self.name = name
    interest = Interest()
    keyPath = \Subject[Hashed(interest: interest)]
  }

  // Registers before the access, so that a change after the read is always reported.
  func read(_ object: UnsafeMutablePointer<kvo_object>) {
    if let number = interest.read() { observe(object, number) }
    registrar.access(Subject.shared, keyPath: keyPath)
  }

  /// What the callback of a registration gets.
  private struct Words {
    let key: Unmanaged<TrackedKey>
    let number: Int

  }

  private func observe(_ object: UnsafeMutablePointer<kvo_object>, _ number: Int) {
    kvo_observation_set_registering(true)
    defer { kvo_observation_set_registering(false) }
    var handle: OpaquePointer?
    var words = Words(key: .passRetained(self), number: number)
    let status = kvo_add_callback_of_key_with_words(
      object, name, .KVO_PRIOR, Self.call, &words, MemoryLayout<Words>.size, Self.ended, &handle,
      nil)
    if status != .KVO_OK {
      _ = interest.forget(number)
      words.key.release()
    } else if !interest.keep(number, handle) {
      kvo_handle_release(handle)
    }
  }

  private static let call: kvo_callback = { words, _, _, change in
    let key = words!.load(as: Words.self).key.takeUnretainedValue()
    if kvo_change_is_prior(change) { key.changeBegins() } else { key.changeEnds() }
  }

  // If the registration was ended by `removeAllObservers()`, for instance, the next read registers anew.
  private static let ended: @convention(c) (UnsafeMutableRawPointer) -> Void = {
    let words = $0.load(as: Words.self)
    let key = words.key.takeRetainedValue()
    kvo_handle_release(key.interest.forget(words.number))
  }

  private func changeBegins() {
    if interest.changeBegins() { registrar.willSet(Subject.shared, keyPath: keyPath) }
  }

  private func changeEnds() {
    let (isLate, ended) = interest.changeEnds()
    if isLate { registrar.willSet(Subject.shared, keyPath: keyPath) }
    registrar.didSet(Subject.shared, keyPath: keyPath)
    for handle in ended { kvo_handle_release(handle) }
  }
}

/// A value that is accessed under its lock only; that makes this class `Sendable`. It is declared in this
/// module so that the compiler specialises it.
private final class Mutexed<Value>: @unchecked Sendable {
  private let lock: UnsafeMutablePointer<kvo_binding_lock>
  // The lock ensures that accesses are exclusive, so Swift need not check it.
  @exclusivity(unchecked) private var value: Value

  init(_ value: Value) {
    self.value = value
    lock = .allocate(capacity: 1)
    kvo_binding_lock_init(lock, false)
  }

  deinit {
    kvo_binding_lock_destroy(lock)
    lock.deallocate()
  }

  /// - Parameter isGate: whether a test may run another thread before the lock is taken.
  func withLock<R>(isGate: Bool = true, _ body: (inout Value) -> R) -> R {
    #if DEBUG
      if isGate { LockGates.willTake(lock) }
      defer { if isGate { LockGates.didRelease(lock) } }
    #endif
    kvo_binding_lock_acquire(lock)
    defer { kvo_binding_lock_release(lock) }
    return body(&value)
  }
}
