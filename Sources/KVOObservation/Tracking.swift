internal import CKVOObservation
internal import CKVORuntime
public import KVORuntime
public import Observation

// Makes Swift's Observation track reads of `@Observed` properties (O1, O2, O3). Linking this library is all
// that is needed: the core reports every read to it (`CKVOObservation`). A key that is read while Observation
// tracks gets a registrar. The registrar is notified of the key's next change through an ordinary
// registration.
//
// Observation does not reveal whether it is tracking. But it hashes the key path that it gets only if it is.
// So a key path with an argument that records when it is hashed shows it (`Probe`). Each thread has a probe
// ready. The probe becomes that of the next object that is read during tracking, and the thread then makes
// another one.

/// Makes `@Observed` properties observable by `withObservationTracking`, and by everything that is built on
/// it.
extension KVOObject: Observable {}

/// The root of the key paths that are passed to registrars. All use the same object.
private final class Subject: Observable, Sendable {
  static let shared = Subject()
  // Made once, never changed.
  nonisolated(unsafe) static let keyPath: KeyPath<Subject, Int> = \Subject[Hashed(nil)]

  subscript(_ argument: Hashed) -> Int { 0 }
}

/// An argument that records on its thread that it was hashed.
private struct Hashed: Hashable, Sendable {
  let readers: Readers?

  init(_ readers: Readers?) { self.readers = readers }

  static func == (one: Hashed, other: Hashed) -> Bool { one.readers === other.readers }

  func hash(into hasher: inout Hasher) {
    readers?.hashed()
    kvo_observation_set_hashed()
  }
}

extension ObservationRegistrar {
  /// Makes whatever tracks on this thread wait for this registrar. Returns false if nothing tracks.
  fileprivate func isAccessed(_ keyPath: KeyPath<Subject, Int> = Subject.keyPath) -> Bool {
    // Clears the mark first: Observation also hashes the key path when it begins to wait for a change, and at
    // a change.
    _ = kvo_observation_take_hashed()
    access(Subject.shared, keyPath: keyPath)
    return kvo_observation_take_hashed()
  }
}

/// A registrar that shows whether Observation is tracking, and never reports a change. Observation retains
/// what it waits for as long as the registrar lives. Therefore the probe is kept with the first object for
/// which it detected tracking.
private final class Probe: Sendable {
  let registrar = ObservationRegistrar()

  /// This thread's probe, made if there is none.
  static var ofThread: Probe {
    if let kept = kvo_observation_probe() {
      return Unmanaged<Probe>.fromOpaque(kept).takeUnretainedValue()
    }
    let made = Probe()
    kvo_observation_keep_probe(Unmanaged.passRetained(made).toOpaque())
    return made
  }

  /// Removes and returns this thread's probe.
  static func take() -> Probe? {
    guard let kept = kvo_observation_probe() else { return nil }
    kvo_observation_keep_probe(nil)
    return Unmanaged<Probe>.fromOpaque(kept).takeRetainedValue()
  }
}

@_cdecl("kvo_observation_end_probe")
func endProbe(_ probe: UnsafeMutableRawPointer) { Unmanaged<Probe>.fromOpaque(probe).release() }

// MARK: Functions called by the core

/// Whether Observation is tracking on this thread, which is about to read an object.
@_cdecl("kvo_observation_tracks")
func tracks(_ object: UnsafeMutablePointer<kvo_object>) -> Bool {
  guard !kvo_observation_is_registering() else { return false }
  if let known = TrackedObject.known(object) { return known.probe.registrar.isAccessed() }
  guard Probe.ofThread.registrar.isAccessed() else { return false }
  TrackedObject.make(object, Probe.take()!)
  return true
}

/// Notes that a key of such an object is read.
@_cdecl("kvo_observation_read")
func read(_ object: UnsafeMutablePointer<kvo_object>, _ key: UnsafePointer<CChar>) {
  TrackedObject.known(object)?.key(key).read(object)
}

// MARK: Tracked objects and keys

/// Kept with an object that was read during tracking, as an associated value.
private final class TrackedObject: Sendable {
  let probe: Probe
  // Keys are interned, so addresses identify them.
  private let keys = Mutexed<[UnsafePointer<CChar>: TrackedKey]>([:])

  private init(_ probe: Probe) { self.probe = probe }

  // An address that nothing else uses.
  private nonisolated(unsafe) static let address = UnsafeRawPointer(
    UnsafeMutablePointer<UInt8>.allocate(capacity: 1))

  static func known(_ object: UnsafeMutablePointer<kvo_object>) -> TrackedObject? {
    kvo_object_associated(object, address) { _ = Unmanaged<TrackedObject>.fromOpaque($0).retain() }
      .map { Unmanaged<TrackedObject>.fromOpaque($0).takeRetainedValue() }
  }

  // Outer, since the runtime is called while it is held.
  private static let making = Lock(isOuter: true)

  /// - Parameter probe: the one that detected tracking. If another thread was first, its probe is kept and
  ///   this one is released.
  static func make(_ object: UnsafeMutablePointer<kvo_object>, _ probe: Probe) {
    let made = TrackedObject(probe)
    making.withLock { if known(object) == nil { keep(made, object) } }
  }

  private static func keep(_ tracked: TrackedObject, _ object: UnsafeMutablePointer<kvo_object>) {
    let made = Unmanaged.passRetained(tracked).toOpaque()
    let status = kvo_object_associate(
      object, address, made, { Unmanaged<TrackedObject>.fromOpaque($0).release() }, nil)
    if status != .KVO_OK { Unmanaged<TrackedObject>.fromOpaque(made).release() }
  }

  func key(_ key: UnsafePointer<CChar>) -> TrackedKey {
    if let known = keys.withLock({ $0[key] }) { return known }
    // Created and released without holding the lock, since it has its own.
    let made = TrackedKey(key, probe)
    return withExtendedLifetime(made) {
      keys.withLock { keys in
        if let known = keys[key] { return known }
        keys[key] = made
        return made
      }
    }
  }
}

/// The threads that have read a key but are not yet waiting for its next change. Observation waits from the
/// end of the tracked body; until then it reports no change. When it begins to wait, it hashes the key path
/// on the thread of the body.
private final class Readers: @unchecked Sendable {
  private let threads = Mutexed<[UnsafeRawPointer]>([])
  // The object's probe. Weak, since Observation retains this object, and would thereby retain the probe.
  private weak var probe: Probe?

  init(_ probe: Probe) { self.probe = probe }

  var areThere: Bool { threads.withLock { !$0.isEmpty } }

  func note() {
    let thread = kvo_observation_thread()
    threads.withLock { if !$0.contains(thread) { $0.append(thread) } }
  }

  /// A listed thread that is no longer tracking now waits, and is removed. One that is still tracking has
  /// only ended an inner body.
  func hashed() {
    let thread = kvo_observation_thread()
    // Without gates, since Observation holds a lock of its own here.
    guard threads.withLock(isGate: false, { $0.contains(thread) }),
      probe?.registrar.isAccessed() != true
    else { return }
    threads.withLock(isGate: false) { $0.removeAll { $0 == thread } }
  }
}

/// A key with its registrar. It is observed while something may wait for its next change, until that change.
private final class TrackedKey: @unchecked Sendable {
  private let name: UnsafePointer<CChar>
  private let registrar = ObservationRegistrar()
  private let readers: Readers
  private let keyPath: KeyPath<Subject, Int>
  private let registration = Mutexed<Registration?>(nil)

  init(_ name: UnsafePointer<CChar>, _ probe: Probe) {
    self.name = name
    readers = Readers(probe)
    keyPath = \Subject[Hashed(readers)]
  }

  // Registers before the access, so that a change after the read is always reported. Another thread may
  // change the key between the two. That ends the registration, and is reported only to earlier accesses, so
  // try again.
  func read(_ object: UnsafeMutablePointer<kvo_object>) {
    readers.note()
    while true {
      let observed = observed(object)
      _ = registrar.isAccessed(keyPath)
      guard let observed, !observed.waits else { return }
    }
  }

  /// The registration that waits for the next change, or a new one. Nil if the key can't be observed.
  private func observed(_ object: UnsafeMutablePointer<kvo_object>) -> Registration? {
    if let known = registration.withLock({ $0 }), known.waits { return known }
    // Replaces a registration that another thread is still making, which may begin too late for this read.
    let made = Registration(self)
    var last: Registration? = made
    registration.withLock { swap(&$0, &last) }
    kvo_observation_set_registering(true)
    defer { kvo_observation_set_registering(false) }
    return withExtendedLifetime(last) { made.begin(object, name) ? made : nil }
  }

  fileprivate func receive(_ registration: Registration, isPrior: Bool) {
    // From now on, a read waits for the change after this one.
    if registration.isFirstReport() || isPrior {
      // Threads that have read the key but are not waiting yet will be notified of the next change.
      if readers.areThere { registration.isAwaited = true }
      registrar.willSet(Subject.shared, keyPath: keyPath)
    }
    guard !isPrior else { return }
    registrar.didSet(Subject.shared, keyPath: keyPath)
    if registration.isAwaited { registration.waitAgain() } else { registration.end() }
  }

  // Another reference keeps the registration, so it is not released under the lock.
  fileprivate func leave(_ left: Registration) {
    registration.withLock { if $0 === left { $0 = nil } }
  }
}

/// A registration with the core, until the key's first change.
private final class Registration: @unchecked Sendable {
  private let key: TrackedKey
  private struct State {
    var handle: OpaquePointer?
    var isBegun = false
    var isTold = false
    var isAwaited = false
    var isOver = false
  }

  private let state = Mutexed(State())

  init(_ key: TrackedKey) { self.key = key }

  /// Whether the registration is in place and has not reported a change.
  var waits: Bool { state.withLock { $0.isBegun && !$0.isTold && !$0.isOver } }

  /// Marks the registration as having reported a change. Returns whether it had reported none before.
  func isFirstReport() -> Bool {
    state.withLock { state in
      defer { state.isTold = true }
      return !state.isTold
    }
  }

  /// Whether the registration remains for the change after the present one.
  var isAwaited: Bool {
    get { state.withLock { $0.isAwaited } }
    set { state.withLock { $0.isAwaited = newValue } }
  }

  func waitAgain() { state.withLock { ($0.isTold, $0.isAwaited) = (false, false) } }

  /// Registers with the core. Returns false if that fails.
  func begin(_ object: UnsafeMutablePointer<kvo_object>, _ name: UnsafePointer<CChar>) -> Bool {
    var handle: OpaquePointer?
    let context = Unmanaged.passRetained(self).toOpaque()
    let status = kvo_add_callback_of_key(
      object, name, .KVO_PRIOR, Self.call, context, Self.ended, &handle, nil)
    guard status == .KVO_OK else {
      key.leave(self)
      Unmanaged<Registration>.fromOpaque(context).release()
      return false
    }
    let isOver = state.withLock { state in
      if !state.isOver { (state.handle, state.isBegun) = (handle, true) }
      return state.isOver
    }
    if isOver { kvo_handle_release(handle) }
    return true
  }

  func end() {
    let handle = state.withLock { state in
      defer { (state.handle, state.isOver) = (nil, true) }
      return state.handle
    }
    kvo_handle_release(handle)
  }

  private static let call: kvo_callback = { context, _, _, change in
    let registration = Unmanaged<Registration>.fromOpaque(context!).takeUnretainedValue()
    registration.key.receive(registration, isPrior: kvo_change_is_prior(change))
  }

  // If the registration was ended by `removeAllObservers()`, for instance, the next read registers anew.
  private static let ended: @convention(c) (UnsafeMutableRawPointer?) -> Void = {
    let registration = Unmanaged<Registration>.fromOpaque($0!).takeRetainedValue()
    registration.key.leave(registration)
    registration.end()
  }
}

/// A value that is accessed under its lock only; that makes this class `Sendable`. It is declared in this
/// module so that the compiler specialises it.
private final class Mutexed<Value>: @unchecked Sendable {
  private let lock: UnsafeMutablePointer<kvo_binding_lock>
  private var value: Value

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
