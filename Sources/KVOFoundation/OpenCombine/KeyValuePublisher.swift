internal import Foundation
public import KVORuntime
public import OpenCombine

// Built only if the environment names a copy of OpenCombine (`KVO_OPENCOMBINE`, Package.swift). It uses public names alone, so that
// programs may copy it (Documentation/Foundation.md).

extension KeyValueObserving where Self: KVOObject {
  /// A publisher of a property's values: the present one, unless the options leave out `initial`, and each later one (R9).
  ///
  /// ```swift
  /// let subscription = account.publisher(for: \.balance).sink { print($0) }
  /// ```
  ///
  /// The publisher retains the object; its subscriptions do not. Each subscription is a registration, which ends when it is cancelled or the
  /// object is destroyed. As with Combine, the object's death is no completion.
  ///
  /// A value is published on the thread of its change. One thread at a time calls a subscriber: a value of another thread is
  /// published by the one that is in the call. While the subscriber is called by another thread, or demands nothing, only the newest
  /// value is kept, so that the last value received is the property's last.
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
    /// The property.
    public let keyPath: KeyPath<Subject, Value>
    /// With `initial`, the present value is published first; with `prior`, the value before each change as well. Others have
    /// no effect.
    public let options: KeyValueObservingOptions

    public init(
      object: Subject, keyPath: KeyPath<Subject, Value>, options: KeyValueObservingOptions
    ) {
      self.object = object
      self.keyPath = keyPath
      self.options = options
    }

    public func receive<S: Subscriber>(subscriber: S) where S.Input == Value, S.Failure == Never {
      let subscription = KeyValueSubscription<Subject, S>(keyPath, subscriber)
      subscriber.receive(subscription: subscription)
      subscription.start(object, options)
    }

    /// A publisher of the changes alone, without their values.
    public func didChange() -> Publishers.Map<Self, Void> { map { _ in } }
  }
}

// The lock is not held while the subscriber is called. The thread that calls it may enter again: the subscriber may ask for more,
// cancel, or change the property. What other threads publish is kept, and that thread publishes it when the call returns.
//
// The value is read at each change. Since a value is stored before its notification, the read that begins last finds the last
// value: a value is dropped if a read that began later has ended already (I5).
private final class KeyValueSubscription<Object: KVOObject, S: Subscriber>: Subscription
where S.Failure == Never {
  private let lock = NSLock()
  private let keyPath: KeyPath<Object, S.Input>
  private var subscriber: S?
  private var token: KeyValueObservation?
  private var demand = Subscribers.Demand.none
  private var kept: S.Input?
  /// How many reads have begun, and the number of the one that found the value kept last.
  private var reads = (begun: 0, newest: 0)
  /// The thread that calls the subscriber, and the number of its calls, which nest.
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

  // Nil if nothing is kept or demanded, or if another thread calls the subscriber: that one calls this again.
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
