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
    /// Values are published on the thread of the change. A subscriber is called by one thread at a time: what others
    /// change during a call is published by the thread that is in it. While a subscriber wants none, or is called, the
    /// newest value is kept, so that the last one it receives is the property's last. Each subscriber has a registration
    /// of its own, which ends when it cancels; the object lives as long.
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

  // The subscriber is called without the lock, by one thread at a time: what other threads publish meanwhile is kept, and
  // received by that one next. The thread itself may call it within a call: it may ask for more, cancel, or change the
  // property while it is called.
  //
  // What is published is read anew at each change. Each store comes before its notification, so the read that begins last
  // finds the last value: a value is dropped where a read that began later has ended before (I5).
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
    /// How many reads have begun, and which of them found what was kept last.
    private var reads = (begun: 0, newest: 0)
    /// The thread that calls the subscriber, and how many calls of it there are within each other.
    private var caller: (thread: Thread, calls: Int)?

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
        [weak self] object, _ in self?.changed(object)
      }
      let isCancelled = locked {
        token = made
        return subscriber == nil
      }
      if isCancelled { made.invalidate() }
    }

    func request(_ more: Subscribers.Demand) {
      locked { demand += more }
      publish()
    }

    func cancel() {
      let ended = locked {
        defer { (object, subscriber, token, kept) = (nil, nil, nil, nil) }
        return (object, subscriber, token, kept)
      }
      ended.2?.invalidate()
      withExtendedLifetime(ended) {}
    }

    private func changed(_ object: Object) {
      let read = locked {
        reads.begun += 1
        return reads.begun
      }
      var value: S.Input? = object[keyPath: keyPath]
      locked {
        guard subscriber != nil, read > reads.newest else { return }
        reads.newest = read
        swap(&kept, &value)
      }
      publish()
    }

    private func publish() {
      while let (subscriber, value) = begin() { end(subscriber.receive(value)) }
    }

    // Nil where nothing is kept or demanded, and where another thread calls the subscriber: that looks again.
    private func begin() -> (S, S.Input)? {
      locked {
        let thread = Thread.current
        guard let subscriber, let value = kept, demand > .none, caller?.thread ?? thread === thread
        else { return nil }
        kept = nil
        demand -= 1
        caller = (thread, (caller?.calls ?? 0) + 1)
        return (subscriber, value)
      }
    }

    private func end(_ more: Subscribers.Demand) {
      locked {
        demand += more
        guard let calls = caller?.calls, calls > 1 else {
          caller = nil
          return
        }
        caller?.calls = calls - 1
      }
    }

    private func locked<R>(_ body: () -> R) -> R {
      lock.lock()
      defer { lock.unlock() }
      return body()
    }
  }
#endif
