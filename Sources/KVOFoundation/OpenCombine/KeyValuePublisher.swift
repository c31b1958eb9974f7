#if KVO_OPENCOMBINE
  internal import Foundation
  public import KVORuntime
  public import OpenCombine

  // Changes as a publisher of OpenCombine's (R9), as Apple's Foundation has them of Combine's. Compiled where the
  // environment gives the package a copy of OpenCombine, by `KVO_OPENCOMBINE` (Package.swift). It uses nothing but public
  // names, so that it may as well be copied into a program of one's own.

  extension KeyValueObserving where Self: KVOObject {
    /// The values of a property, as a publisher: the one that there is, unless the options say otherwise, and each that it
    /// gets.
    ///
    /// ```swift
    /// let subscription = account.publisher(for: \.balance).sink { print($0) }
    /// ```
    ///
    /// Values are published on the thread of the change. While a subscriber wants none the newest is kept. Each subscriber
    /// has a registration of its own, which ends when it cancels; the object lives as long.
    public func publisher<Value>(
      for keyPath: KeyPath<Self, Value>, options: KeyValueObservingOptions = [.initial, .new]
    ) -> KeyValuePublisher<Self, Value> {
      KeyValuePublisher(object: self, keyPath: keyPath, options: options)
    }
  }

  /// The values of an object's property, from `publisher(for:options:)`.
  public struct KeyValuePublisher<Object: KVOObject, Value>: Publisher {
    public typealias Output = Value
    public typealias Failure = Never

    /// The object.
    public let object: Object
    /// The property.
    public let keyPath: KeyPath<Object, Value>
    /// What is asked for: `initial` and `prior` count.
    public let options: KeyValueObservingOptions

    public func receive<S: Subscriber>(subscriber: S) where S.Input == Value, S.Failure == Never {
      let subscription = KeyValueSubscription(object, keyPath, options, subscriber)
      subscriber.receive(subscription: subscription)
      subscription.start()
    }
  }

  // The subscriber is called without the lock, and never by two threads at once: it may ask for more, cancel, or change
  // the property while it is called.
  private final class KeyValueSubscription<Object: KVOObject, S: Subscriber>: Subscription
  where S.Failure == Never {
    private let lock = NSRecursiveLock()
    private let keyPath: KeyPath<Object, S.Input>
    private let options: KeyValueObservingOptions
    private var object: Object?
    private var subscriber: S?
    private var token: KeyValueObservation?
    private var demand = Subscribers.Demand.none
    private var kept: S.Input?

    init(
      _ object: Object, _ keyPath: KeyPath<Object, S.Input>, _ options: KeyValueObservingOptions,
      _ subscriber: S
    ) {
      self.object = object
      self.keyPath = keyPath
      self.options = options
      self.subscriber = subscriber
    }

    func start() {
      guard let object = locked({ object }) else { return }
      let made = object.observe(keyPath, options: options.intersection([.initial, .prior])) {
        [weak self, keyPath] object, _ in self?.publish(object[keyPath: keyPath])
      }
      let isCancelled = locked {
        token = made
        return subscriber == nil
      }
      if isCancelled { made.invalidate() }
    }

    func request(_ more: Subscribers.Demand) {
      let value = locked { () -> S.Input? in
        demand += more
        guard demand > .none else { return nil }
        defer { kept = nil }
        return kept
      }
      if let value { publish(value) }
    }

    func cancel() {
      let ended = locked {
        defer { (object, subscriber, token, kept) = (nil, nil, nil, nil) }
        return (object, subscriber, token, kept)
      }
      ended.2?.invalidate()
      withExtendedLifetime(ended) {}
    }

    private func publish(_ value: S.Input) {
      let receiver = locked { () -> S? in
        guard let subscriber else { return nil }
        guard demand > .none else {
          kept = value
          return nil
        }
        demand -= 1
        return subscriber
      }
      guard let more = receiver?.receive(value) else { return }
      if more > .none { request(more) }
    }

    private func locked<R>(_ body: () -> R) -> R {
      lock.lock()
      defer { lock.unlock() }
      return body()
    }
  }
#endif
