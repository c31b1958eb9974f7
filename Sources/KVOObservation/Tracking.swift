internal import CKVOObservation
internal import CKVORuntime
public import KVORuntime
public import Observation

// Swift's Observation sees what `@Observed` properties are read (O1, O2, O3). Linking this library is all that it takes: the core
// asks here about every read (`CKVOObservation`), and what is read while Observation tracks has a registrar of its own,
// which is told of the property's next change as any observer is.
//
// Observation tells nobody whether it tracks. But it hashes the key path that it is given if it does, and only then; so
// a key path with an argument that notes when it is hashed tells it (`Probe`). Each thread has a probe at hand, whose
// registrar becomes that of the next object which is read while there is tracking.

/// With this library linked, `@Observed` properties are observable to `withObservationTracking`, and to what is built
/// on it.
extension KVOObject: Observable {}

/// What the key paths begin at that registrars are asked and told about. They are all one.
private final class Subject: Observable, Sendable {
  static let shared = Subject()
  // Made once, never changed.
  nonisolated(unsafe) static let keyPath: KeyPath<Subject, Int> = \Subject[Hashed(nil)]

  subscript(_ argument: Hashed) -> Int { 0 }
}

/// Notes on its thread that it was hashed.
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
  /// Has whatever tracks on this thread wait for this registrar. False if nothing does.
  fileprivate func isAccessed(_ keyPath: KeyPath<Subject, Int> = Subject.keyPath) -> Bool {
    // It is also hashed by whatever begins to wait for a change, and where one comes.
    _ = kvo_observation_take_hashed()
    access(Subject.shared, keyPath: keyPath)
    return kvo_observation_take_hashed()
  }
}

/// A registrar that tells whether there is tracking, and never of a change. What tracks keeps what it waits for as long
/// as the registrar lives: so the first object that it told of keeps it.
private final class Probe: Sendable {
  let registrar = ObservationRegistrar()

  /// This thread's.
  static var ofThread: Probe {
    if let kept = kvo_observation_probe() {
      return Unmanaged<Probe>.fromOpaque(kept).takeUnretainedValue()
    }
    let made = Probe()
    kvo_observation_keep_probe(Unmanaged.passRetained(made).toOpaque())
    return made
  }

  /// This thread's no more.
  static func take() -> Probe? {
    guard let kept = kvo_observation_probe() else { return nil }
    kvo_observation_keep_probe(nil)
    return Unmanaged<Probe>.fromOpaque(kept).takeRetainedValue()
  }
}

@_cdecl("kvo_observation_end_probe")
func endProbe(_ probe: UnsafeMutableRawPointer) { Unmanaged<Probe>.fromOpaque(probe).release() }

// MARK: What the core asks

/// Whether there is tracking on this thread, to which an object is about to be read.
@_cdecl("kvo_observation_tracks")
func tracks(_ object: UnsafeMutablePointer<kvo_object>) -> Bool {
  if let known = TrackedObject.known(object) { return known.probe.registrar.isAccessed() }
  guard Probe.ofThread.registrar.isAccessed() else { return false }
  TrackedObject.make(object, Probe.take()!)
  return true
}

/// A key of such an object is read.
@_cdecl("kvo_observation_read")
func read(_ object: UnsafeMutablePointer<kvo_object>, _ key: UnsafePointer<CChar>) {
  TrackedObject.known(object)?.key(key).read(object)
}

// MARK: Objects and keys that have been read

/// What is kept with such an object.
private final class TrackedObject: Sendable {
  let probe: Probe
  // Keys are interned: they are addresses.
  private let keys = Mutexed<[UnsafePointer<CChar>: TrackedKey]>([:])

  private init(_ probe: Probe) { self.probe = probe }

  // An address that is no other's.
  private nonisolated(unsafe) static let address = UnsafeRawPointer(
    UnsafeMutablePointer<UInt8>.allocate(capacity: 1))

  static func known(_ object: UnsafeMutablePointer<kvo_object>) -> TrackedObject? {
    kvo_object_associated(object, address) { _ = Unmanaged<TrackedObject>.fromOpaque($0).retain() }
      .map { Unmanaged<TrackedObject>.fromOpaque($0).takeRetainedValue() }
  }

  // Outer: the runtime is called under it.
  private static let making = Lock(isOuter: true)

  /// - Parameter probe: what tracks knows of it already. Where another thread has been first, its own stays, and this
  ///   one ends.
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
    // Made, and given up, while no lock is held, as it has one of its own.
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

/// The threads that have read a key and do not wait for its next change yet. Observation waits from the end of the tracked
/// body on; until then it tells of no change. When it begins to wait it hashes the key path, on the thread of the body.
private final class Readers: @unchecked Sendable {
  private let threads = Mutexed<[UnsafeRawPointer]>([])
  // The object's. Not kept alive: what tracks keeps this, and would be kept by it.
  private weak var probe: Probe?

  init(_ probe: Probe) { self.probe = probe }

  var areThere: Bool { threads.withLock { !$0.isEmpty } }

  func note() {
    let thread = kvo_observation_thread()
    threads.withLock { if !$0.contains(thread) { $0.append(thread) } }
  }

  /// A thread that has been in the list, and tracks no more, waits. One that still tracks has ended an inner body.
  func hashed() {
    let thread = kvo_observation_thread()
    // Without gates: Observation holds a lock of its own.
    guard threads.withLock(isGate: false, { $0.contains(thread) }),
      probe?.registrar.isAccessed() != true
    else { return }
    threads.withLock(isGate: false) { $0.removeAll { $0 == thread } }
  }
}

/// A key with its registrar. While something may wait for its next change it is observed, until that has come.
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

  // Observed before it is accessed, so that what tracks is told of what is set after it has been read. A change on another
  // thread may come between the two: it ends the registration, and is told to what has accessed before.
  func read(_ object: UnsafeMutablePointer<kvo_object>) {
    readers.note()
    while true {
      let observed = observed(object)
      _ = registrar.isAccessed(keyPath)
      guard let observed, !observed.waits else { return }
    }
  }

  /// The registration that waits for the next change, or a new one. Nil if it can't be observed.
  private func observed(_ object: UnsafeMutablePointer<kvo_object>) -> Registration? {
    if let known = registration.withLock({ $0 }), known.waits { return known }
    // In place of one that another thread is still making, which may begin too late for this one.
    let made = Registration(self)
    var last: Registration? = made
    registration.withLock { swap(&$0, &last) }
    return withExtendedLifetime(last) { made.begin(object, name) ? made : nil }
  }

  fileprivate func told(_ registration: Registration, isPrior: Bool) {
    // What reads from now on waits for the change after this one.
    if registration.isFirstToTell() || isPrior {
      // What was read, and does not wait yet, is told of the next change.
      if readers.areThere { registration.isAwaited = true }
      registrar.willSet(Subject.shared, keyPath: keyPath)
    }
    guard !isPrior else { return }
    registrar.didSet(Subject.shared, keyPath: keyPath)
    if registration.isAwaited { registration.waitAgain() } else { registration.end() }
  }

  // What is left does not die under the lock: somebody else has it.
  fileprivate func leave(_ left: Registration) {
    registration.withLock { if $0 === left { $0 = nil } }
  }
}

/// One registration with the core: until the key has changed once.
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

  /// Whether the next change will be the first that it is told of.
  var waits: Bool { state.withLock { $0.isBegun && !$0.isTold && !$0.isOver } }

  /// Whether nobody has been told of a change by it, as is from now on.
  func isFirstToTell() -> Bool {
    state.withLock { state in
      defer { state.isTold = true }
      return !state.isTold
    }
  }

  /// Whether it stays for the change after the one that it is told of.
  var isAwaited: Bool {
    get { state.withLock { $0.isAwaited } }
    set { state.withLock { $0.isAwaited = newValue } }
  }

  func waitAgain() { state.withLock { ($0.isTold, $0.isAwaited) = (false, false) } }

  /// False if there is no registration.
  func begin(_ object: UnsafeMutablePointer<kvo_object>, _ name: UnsafePointer<CChar>) -> Bool {
    var handle: OpaquePointer?
    let context = Unmanaged.passRetained(self).toOpaque()
    let status = kvo_add_callback(
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
    registration.key.told(registration, isPrior: kvo_change_is_prior(change))
  }

  // Where somebody else has ended it, the next read registers anew.
  private static let ended: @convention(c) (UnsafeMutableRawPointer?) -> Void = {
    let registration = Unmanaged<Registration>.fromOpaque($0!).takeRetainedValue()
    registration.key.leave(registration)
    registration.end()
  }
}

/// A value that is reached under its lock only, which is why this is Sendable. Of this module, so that it is specialised.
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

  /// - Parameter isGate: whether a test may let another thread go on before it.
  func withLock<R>(isGate: Bool = true, _ body: (inout Value) -> R) -> R {
    #if DEBUG
      if isGate { LockGates.willTake(lock) }
      defer { if isGate { LockGates.gaveBack(lock) } }
    #endif
    kvo_binding_lock_take(lock)
    defer { kvo_binding_lock_give_back(lock) }
    return body(&value)
  }
}
