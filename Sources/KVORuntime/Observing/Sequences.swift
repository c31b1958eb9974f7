// Changes as asynchronous sequences (K). A registration, made when an iterator is made, sends into a channel
// (`ChangeChannel`); it ends with the object, with the iterator, and with the task that reads.

extension KeyValueObserving where Self: KVOObject {
  /// The property's value, and each one that it gets from now on.
  ///
  /// ```swift
  /// for await balance in account.values(of: \.balance) { label.text = "\(balance)" }
  /// ```
  ///
  /// The value that there is when the iterator is made comes first. While the reader is busy the newest value is
  /// kept, and older ones are passed over: the last value that is read is the property's last, whichever threads set it.
  /// Values are read and sent by the thread that changes the property, which never waits. Of a collection each value is
  /// the whole one.
  ///
  /// The sequence ends when the object dies, which it does not keep alive, and when the task that reads is
  /// cancelled; the registration ends then, or with the iterator.
  ///
  /// - Note: The object is used where the iterator is made. What can't be observed stops the program there, as
  ///   `observe` does.
  public func values<Value: Sendable>(of keyPath: KeyPath<Self, Value>) -> KeyValueValues<Value> {
    let source = SequenceSource(self, keyPath)
    return KeyValueValues { channel in
      source.observe(.initial, ending: channel) { object, _ in
        channel.sendNewest { object[keyPath: source.keyPath] }
      }
    }
  }

  /// The property's changes, with what the options ask for: each of them, in the order in which they are told.
  ///
  /// ```swift
  /// for await change in list.changes(of: \.items) { table.apply(change.kind, change.indexes) }
  /// ```
  ///
  /// While the reader is busy all of them are kept, however many. Otherwise as `values(of:)`.
  public func changes<Value: Sendable>(
    of keyPath: KeyPath<Self, Value>, options: KeyValueObservingOptions = [.old, .new]
  ) -> KeyValueChanges<Value> {
    let source = SequenceSource(self, keyPath)
    return KeyValueChanges { channel in
      source.observe(options, ending: channel) { _, change in channel.send(change) }
    }
  }
}

// MARK: Sequences

/// The values of a property, from `values(of:)`. Each iterator has a registration of its own, made when it is made.
public struct KeyValueValues<Value: Sendable>: AsyncSequence, Sendable {
  public typealias Failure = Never

  private let register: @Sendable (ChangeChannel<Value>) -> KeyValueObservation?

  init(_ register: @escaping @Sendable (ChangeChannel<Value>) -> KeyValueObservation?) {
    self.register = register
  }

  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(subscription: Subscription(register))
  }

  /// Reads the values. Copies share the registration, and each value is read by one of them.
  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate let subscription: Subscription<Value>

    /// The next value; nil when the object has died or the task has been cancelled.
    public mutating func next() async -> Value? { await subscription.next(isolation: nil) }

    /// The same, called from where the actor is.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Value? {
      await subscription.next(isolation: actor)
    }
  }
}

/// The changes of a property, from `changes(of:options:)`. Each iterator has a registration of its own, made when it
/// is made.
public struct KeyValueChanges<Value: Sendable>: AsyncSequence, Sendable {
  public typealias Element = KeyValueObservedChange<Value>
  public typealias Failure = Never

  private let register: @Sendable (ChangeChannel<Element>) -> KeyValueObservation?

  init(_ register: @escaping @Sendable (ChangeChannel<Element>) -> KeyValueObservation?) {
    self.register = register
  }

  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(subscription: Subscription(register))
  }

  /// Reads the changes. Copies share the registration, and each change is read by one of them.
  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate let subscription: Subscription<Element>

    /// The next change; nil when the object has died or the task has been cancelled.
    public mutating func next() async -> Element? { await subscription.next(isolation: nil) }

    /// The same, called from where the actor is.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
      await subscription.next(isolation: actor)
    }
  }
}

// MARK: Registrations

/// What an iterator holds: a channel, and the registration that sends into it.
private final class Subscription<Element: Sendable>: Sendable {
  private let channel: ChangeChannel<Element>
  private let token: KeyValueObservation?

  init(_ register: @Sendable (ChangeChannel<Element>) -> KeyValueObservation?) {
    channel = ChangeChannel()
    token = register(channel)
    if token == nil { channel.finish() }
  }

  deinit { end() }

  func next(isolation: isolated (any Actor)?) async -> Element? {
    await withTaskCancellationHandler {
      await channel.next(isolation: isolation)
    } onCancel: {
      end()
    }
  }

  private func end() {
    token?.invalidate()
    channel.cancel()
  }
}

/// The property whose changes a sequence has.
// Sendable: the object is used where the iterator is made and where it is changed, as by any observer; a weak
// reference may be read by any thread, and a key path is never written.
private final class SequenceSource<Object: KVOObject, Value>: @unchecked Sendable {
  private weak var object: Object?
  let keyPath: KeyPath<Object, Value>

  init(_ object: Object, _ keyPath: KeyPath<Object, Value>) {
    self.object = object
    self.keyPath = keyPath
  }

  /// Nil if the object has died. The channel is finished when the registration has ended, by whatever way.
  func observe<Element>(
    _ options: KeyValueObservingOptions, ending channel: ChangeChannel<Element>,
    _ send: @escaping (Object, KeyValueObservedChange<Value>) -> Void
  ) -> KeyValueObservation? {
    let ending = ChannelEnding(channel)
    return object?.observe(keyPath, options: options) { object, change in
      withExtendedLifetime(ending) { send(object, change) }
    }
  }
}
