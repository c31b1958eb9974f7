internal import CKVORuntime

// Handlers that are called when an object dies. An object's handlers are kept with it, as one associated
// value.

extension KeyValueObserving where Self: KVOObject {
  /// Calls a handler once, when this object dies: after its `deinit`s, and after its registrations have
  /// ended. It is called on the thread that releases the last reference. Several handlers are called in the
  /// order in which they were added.
  ///
  /// ```swift
  /// token = document.onDeinit { cache.remove(id) }
  /// ```
  ///
  /// - Parameter handler: must not use the object, which is deinitialised.
  /// - Returns: a token; releasing it removes the handler, which is then not called. It is invalid after the
  ///   call.
  /// - Complexity: O(1).
  public func onDeinit(_ handler: @escaping () -> Void) -> KeyValueObservation {
    DeathWatches.of(boundHeader).add(handler)
  }
}

extension KeyValueObserving where Self: KVOObject & Sendable {
  /// Calls a handler once, when this object dies, on whatever thread releases the last reference: after its
  /// `deinit`s, and after its registrations have ended. Several handlers are called in the order in which
  /// they were added.
  ///
  /// - Parameter handler: must not use the object, which is deinitialised.
  /// - Returns: a token; releasing it removes the handler, which is then not called. It is invalid after the
  ///   call.
  /// - Complexity: O(1).
  public func onDeinit(_ handler: @escaping @Sendable () -> Void) -> KeyValueObservation {
    DeathWatches.of(boundHeader).add(handler)
  }
}

/// The handlers of one object.
final class DeathWatches: Sendable {
  private struct State {
    // The keys are ascending numbers, in the order of registration.
    var handlers: [UInt64: () -> Void] = [:]
    var last: UInt64 = 0
  }

  private nonisolated(unsafe) static var mark: UInt8 = 0
  private static let key = withUnsafeMutablePointer(to: &mark) { UInt(bitPattern: $0) }
  private static let making = Lock(isOuter: true)

  private let state = LockedValue(State())

  static func of(_ header: UnsafeMutablePointer<kvo_object>) -> DeathWatches {
    known(header) ?? making.withLock { known(header) ?? make(header) }
  }

  private static var address: UnsafeRawPointer { UnsafeRawPointer(bitPattern: key)! }

  private static func known(_ header: UnsafeMutablePointer<kvo_object>) -> DeathWatches? {
    kvo_object_associated(header, address) { _ = Unmanaged<DeathWatches>.fromOpaque($0).retain() }
      .map { Unmanaged<DeathWatches>.fromOpaque($0).takeRetainedValue() }
  }

  private static func make(_ header: UnsafeMutablePointer<kvo_object>) -> DeathWatches {
    let made = DeathWatches()
    let error = failure {
      kvo_object_associate(
        header, address, Unmanaged.passRetained(made).toOpaque(),
        { Unmanaged<DeathWatches>.fromOpaque($0).takeRetainedValue().callHandlers() }, $0)
    }
    if let error { KVODiagnostics.stop(error.text) }
    return made
  }

  func add(_ handler: @escaping () -> Void) -> KeyValueObservation {
    let number = state.withLock { state in
      state.last += 1
      state.handlers[state.last] = handler
      return state.last
    }
    return KeyValueObservation(DeathWatch(self, number))
  }

  // Called when the object has died. Skips handlers that are removed by an earlier handler or another thread.
  private func callHandlers() {
    let numbers = state.withLock { $0.handlers.keys.sorted() }
    for number in numbers { take(number)?() }
  }

  private func take(_ number: UInt64) -> (() -> Void)? {
    state.withLock { $0.handlers.removeValue(forKey: number) }
  }

  fileprivate func remove(_ number: UInt64) {
    withExtendedLifetime(take(number)) {}
  }

  fileprivate func has(_ number: UInt64) -> Bool {
    state.withLock { $0.handlers[number] != nil }
  }
}

/// Ends one handler, for its token.
private final class DeathWatch: ObservationEnd {
  private let watches: DeathWatches
  private let number: UInt64

  init(_ watches: DeathWatches, _ number: UInt64) {
    self.watches = watches
    self.number = number
  }

  override func end() { watches.remove(number) }
  override var isValid: Bool { watches.has(number) }
}
