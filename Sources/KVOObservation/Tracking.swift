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
  nonisolated(unsafe) static let keyPath: KeyPath<Subject, Int> = \Subject[Hashed()]

  subscript(_ argument: Hashed) -> Int { 0 }
}

/// Notes on its thread that it was hashed.
private struct Hashed: Hashable, Sendable {
  func hash(into hasher: inout Hasher) { kvo_observation_set_hashed() }
}

extension ObservationRegistrar {
  /// Has whatever tracks on this thread wait for this registrar. False if nothing does.
  fileprivate func isAccessed() -> Bool {
    access(Subject.shared, keyPath: Subject.keyPath)
    return kvo_observation_take_hashed()
  }

  fileprivate func willChange() { willSet(Subject.shared, keyPath: Subject.keyPath) }
  fileprivate func didChange() { didSet(Subject.shared, keyPath: Subject.keyPath) }
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

  private static let making = Mutexed(false)

  /// - Parameter probe: what tracks knows of it already. Where another thread has been first, its own stays, and this
  ///   one ends.
  static func make(_ object: UnsafeMutablePointer<kvo_object>, _ probe: Probe) {
    making.withLock { _ in if known(object) == nil { keep(TrackedObject(probe), object) } }
  }

  private static func keep(_ tracked: TrackedObject, _ object: UnsafeMutablePointer<kvo_object>) {
    let made = Unmanaged.passRetained(tracked).toOpaque()
    let status = kvo_object_associate(
      object, address, made, { Unmanaged<TrackedObject>.fromOpaque($0).release() }, nil)
    if status != .KVO_OK { Unmanaged<TrackedObject>.fromOpaque(made).release() }
  }

  func key(_ key: UnsafePointer<CChar>) -> TrackedKey {
    keys.withLock { keys in
      if let known = keys[key] { return known }
      let made = TrackedKey(key)
      keys[key] = made
      return made
    }
  }
}

/// A key with its registrar. While somebody may wait for its next change it is observed, until that has come.
private final class TrackedKey: @unchecked Sendable {
  private let name: UnsafePointer<CChar>
  private let registrar = ObservationRegistrar()
  private let registration = Mutexed<Registration?>(nil)

  init(_ name: UnsafePointer<CChar>) { self.name = name }

  // Observed first: of what is set after it has been read, who tracks is told.
  func read(_ object: UnsafeMutablePointer<kvo_object>) {
    let made: Registration? = registration.withLock { registration in
      // One that another thread is still making may come too late for this one.
      guard registration?.isBegun != true else { return nil }
      registration = Registration(self)
      return registration
    }
    made?.begin(object, name)
    _ = registrar.isAccessed()
  }

  fileprivate func told(_ registration: Registration, isPrior: Bool) {
    // Whoever reads from now on waits for the change after this one.
    if registration.isFirstToTell() || isPrior {
      leave(registration)
      registrar.willChange()
    }
    guard !isPrior else { return }
    registrar.didChange()
    registration.end()
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
    var isOver = false
  }

  private let state = Mutexed(State())

  init(_ key: TrackedKey) { self.key = key }

  /// Whether it is told of every change from now on.
  var isBegun: Bool { state.withLock { $0.isBegun } }

  /// Whether nobody has been told of a change by it, as is from now on.
  func isFirstToTell() -> Bool {
    state.withLock { state in
      defer { state.isTold = true }
      return !state.isTold
    }
  }

  func begin(_ object: UnsafeMutablePointer<kvo_object>, _ name: UnsafePointer<CChar>) {
    var handle: OpaquePointer?
    let context = Unmanaged.passRetained(self).toOpaque()
    let status = kvo_add_callback(
      object, name, .KVO_PRIOR, Self.call, context, Self.ended, &handle, nil)
    guard status == .KVO_OK else {
      key.leave(self)
      return Unmanaged<Registration>.fromOpaque(context).release()
    }
    let isOver = state.withLock { state in
      if !state.isOver { (state.handle, state.isBegun) = (handle, true) }
      return state.isOver
    }
    if isOver { kvo_handle_release(handle) }
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

/// A value that is reached under its lock only, which is why this is Sendable.
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

  func withLock<R>(_ body: (inout Value) -> R) -> R {
    kvo_binding_lock_take(lock)
    defer { kvo_binding_lock_give_back(lock) }
    return body(&value)
  }
}
