internal import Foundation
public import KVORuntime
public import OpenCombine

// Built only if the environment names a copy of OpenCombine (`KVO_OPENCOMBINE`, Package.swift). It uses
// public names only, so that programs may copy it (Documentation/Foundation.md).

extension KeyValueObserving where Self: KVOObject {
  /// Returns a publisher of a property's values: the present one, unless the options leave out `initial`, and
  /// each later one (R9).
  ///
  /// ```swift
  /// let subscription = account.publisher(for: \.balance).sink { print($0) }
  /// ```
  ///
  /// The publisher retains the object; its subscriptions do not. Each subscription is a registration, which
  /// ends when it is cancelled or the object is destroyed. As with Combine, the object's death is no
  /// completion.
  ///
  /// A value is published on the thread of its change. One thread at a time calls a subscriber. If another
  /// thread changes the property during such a call, the calling thread publishes that value, too. During a
  /// call by another thread, or without demand, only the newest value is kept. So the last value received is
  /// the property's last.
  ///
  /// - Parameters:
  ///   - keyPath: a property that can be observed; otherwise the program stops with a message.
  ///   - options: with `initial`, the present value is published first; with `prior`, the value before each
  ///     change as well.
  public func publisher<Value>(
    for keyPath: KeyPath<Self, Value>, options: KeyValueObservingOptions = [.initial, .new]
  ) -> KVOObject.KeyValueObservingPublisher<Self, Value> {
    KVOObject.KeyValueObservingPublisher(object: self, keyPath: keyPath, options: options)
  }
}

extension KVOObject {
  /// A publisher of the values of an object's property, from `publisher(for:options:)`.
  ///
  /// Two publishers are equal if they have the same object, key path and options.
  public struct KeyValueObservingPublisher<Subject: KVOObject, Value>: Publisher, Equatable {
    public typealias Output = Value
    public typealias Failure = Never

    /// The object that has the property.
    public let object: Subject
    /// The published property.
    public let keyPath: KeyPath<Subject, Value>
    /// With `initial`, the present value is published first; with `prior`, the value before each change as
    /// well. Other options have no effect.
    public let options: KeyValueObservingOptions

    /// Creates a publisher of the values of an object's property.
    public init(
      object: Subject, keyPath: KeyPath<Subject, Value>, options: KeyValueObservingOptions
    ) {
      self.object = object
      self.keyPath = keyPath
      self.options = options
    }

    /// Attaches a subscriber: registers with the object, and passes it the subscription.
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Value, S.Failure == Never {
      let subscription = KeyValueSubscription<Subject, S>(keyPath, subscriber)
      subscriber.receive(subscription: subscription)
      subscription.start(object, options)
    }

    /// Returns a publisher that publishes a `Void` value for each change.
    public func didChange() -> Publishers.Map<Self, Void> { map { _ in } }
  }
}

// The lock is not held while the subscriber is called. The calling thread may enter again: the subscriber may
// request more, cancel, or change the property. Values of other threads are kept, and the calling thread
// publishes them when the call returns.
//
// The value is read at each change. It is stored before its notification, so the read that begins last finds
// the last value. Therefore a value is dropped if a read that began later has already ended (I5).
private final class KeyValueSubscription<Object: KVOObject, S: Subscriber>: Subscription
where S.Failure == Never {
  private let lock = NSLock()
  private let keyPath: KeyPath<Object, S.Input>
  private var subscriber: S?
  private var token: KeyValueObservation?
  private var demand = Subscribers.Demand.none
  private var kept: S.Input?
  /// The number of reads that have begun, and the number of the one that found the newest kept value.
  private var reads = (begun: 0, newest: 0)
  /// The thread that calls the subscriber, and the depth of its nested calls.
  private var caller: (thread: pthread_t, calls: Int)?

  init(_ keyPath: KeyPath<Object, S.Input>, _ subscriber: S) {
    self.keyPath = keyPath
    self.subscriber = subscriber
  }

  func start(_ object: Object, _ options: KeyValueObservingOptions) {
    guard lock.withLock({ subscriber != nil }) else { return }
    let made = object.observe(keyPath, options: options.intersection([.initial, .prior])) {
      [weak self] object, _ in self?.changed(object)
    }
    let isCancelled = lock.withLock {
      token = made
      return subscriber == nil
    }
    if isCancelled { made.invalidate() }
  }

  func request(_ more: Subscribers.Demand) {
    lock.withLock { demand += more }
    publish()
  }

  func cancel() {
    let ended = lock.withLock {
      defer { (subscriber, token, kept) = (nil, nil, nil) }
      return (subscriber, token, kept)
    }
    ended.1?.invalidate()
    withExtendedLifetime(ended) {}
  }

  private func changed(_ object: Object) {
    let read = lock.withLock {
      reads.begun += 1
      return reads.begun
    }
    var value: S.Input? = object[keyPath: keyPath]
    lock.withLock {
      guard subscriber != nil, read > reads.newest else { return }
      reads.newest = read
      swap(&kept, &value)
    }
    publish()
  }

  private func publish() {
    while let (subscriber, value) = begin() { end(subscriber.receive(value)) }
  }

  // Nil if there is no kept value or no demand, or another thread is calling the subscriber: that thread
  // calls this again.
  private func begin() -> (S, S.Input)? {
    lock.withLock {
      let thread = pthread_self()
      guard let subscriber, let value = kept, demand > .none,
        pthread_equal(caller?.thread ?? thread, thread) != 0
      else { return nil }
      kept = nil
      demand -= 1
      caller = (thread, (caller?.calls ?? 0) + 1)
      return (subscriber, value)
    }
  }

  private func end(_ more: Subscribers.Demand) {
    lock.withLock {
      demand += more
      guard let calls = caller?.calls, calls > 1 else {
        caller = nil
        return
      }
      caller?.calls = calls - 1
    }
  }
}
