// Changes as asynchronous sequences (K). An iterator creates a registration, which sends to a channel
// (`ChangeChannel`). The registration ends with the object, with the iterator, or when the reading task is
// cancelled.

extension KeyValueObserving where Self: KVOObject {
  /// Returns an asynchronous sequence of a property's values: the current one, then each new one.
  ///
  /// ```swift
  /// for await balance in account.values(of: \.balance) { label.text = "\(balance)" }
  /// ```
  ///
  /// The first value is the one at the time when the iterator is created. While the reader is busy only the
  /// newest value is kept, and older ones are dropped. The last value read is the property's last, whichever
  /// threads set it. A collection is sent as a whole. The thread that changes the property reads and sends
  /// the value, and never waits.
  ///
  /// The sequence ends when the object dies, which the sequence does not retain, or when the reading task is
  /// cancelled. The registration ends then, or when the iterator is released.
  ///
  /// - Note: Creating an iterator uses the object. A property that can't be observed stops the program there,
  ///   as in `observe`.
  public func values<Value: Sendable>(
    of keyPath: KeyPath<Self, Value>, file: StaticString = #fileID, line: UInt = #line
  ) -> KeyValueValues<Value> {
    let source = SequenceSource(self, keyPath, Caller(file, line))
    return KeyValueValues { channel in
      source.observe(.initial, ending: channel) { object, _ in
        channel.sendNewest { source.value(of: object) }
      }
    }
  }

  /// Returns an asynchronous sequence of all changes of a property, in the order of their delivery.
  ///
  /// ```swift
  /// for await change in list.changes(of: \.items) { table.apply(change.kind, change.indexes) }
  /// ```
  ///
  /// While the reader is busy all changes are kept, however many. The thread that makes a change never waits.
  ///
  /// The sequence ends when the object dies, which the sequence does not retain, or when the reading task is
  /// cancelled. The registration ends then, or when the iterator is released.
  ///
  /// - Parameters:
  ///   - keyPath: The property to observe.
  ///   - options: The values that each change contains; with `.initial` the current value comes first.
  ///   - file: The caller's file, for messages.
  ///   - line: The caller's line.
  /// - Note: Creating an iterator uses the object. A property that can't be observed stops the program there,
  ///   as in `observe`.
  public func changes<Value: Sendable>(
    of keyPath: KeyPath<Self, Value>, options: KeyValueObservingOptions = [.old, .new],
    file: StaticString = #fileID, line: UInt = #line
  ) -> KeyValueChanges<Value> {
    let source = SequenceSource(self, keyPath, Caller(file, line))
    return KeyValueChanges { channel in
      source.observe(options, ending: channel) { _, change in channel.send(change) }
    }
  }
}

// MARK: Sequences

/// An asynchronous sequence of a property's values, which `values(of:)` returns. Each iterator has its own
/// registration, created with the iterator.
public struct KeyValueValues<Value: Sendable>: AsyncSequence, Sendable {
  /// The sequence throws no errors.
  public typealias Failure = Never

  private let register: @Sendable (ChangeChannel<Value>) -> KeyValueObservation?

  init(_ register: @escaping @Sendable (ChangeChannel<Value>) -> KeyValueObservation?) {
    self.register = register
  }

  /// Creates an iterator and registers it with the object.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(subscription: Subscription(register))
  }

  /// Reads the values. Copies of an iterator share its registration, and each value is read by one of them.
  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate let subscription: Subscription<Value>

    /// Waits for the next value. Returns nil after the object has died or the task was cancelled.
    public mutating func next() async -> Value? { await subscription.next(isolation: nil) }

    /// Waits for the next value, called on an actor. Returns nil after the object has died or the task was
    /// cancelled.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Value? {
      await subscription.next(isolation: actor)
    }
  }
}

/// An asynchronous sequence of a property's changes, which `changes(of:options:)` returns. Each iterator has
/// its own registration, created with the iterator.
public struct KeyValueChanges<Value: Sendable>: AsyncSequence, Sendable {
  /// A change of the property.
  public typealias Element = KeyValueObservedChange<Value>
  /// The sequence throws no errors.
  public typealias Failure = Never

  private let register: @Sendable (ChangeChannel<Element>) -> KeyValueObservation?

  init(_ register: @escaping @Sendable (ChangeChannel<Element>) -> KeyValueObservation?) {
    self.register = register
  }

  /// Creates an iterator and registers it with the object.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(subscription: Subscription(register))
  }

  /// Reads the changes. Copies of an iterator share its registration, and each change is read by one of them.
  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate let subscription: Subscription<Element>

    /// Waits for the next change. Returns nil after the object has died or the task was cancelled.
    public mutating func next() async -> Element? { await subscription.next(isolation: nil) }

    /// Waits for the next change, called on an actor. Returns nil after the object has died or the task was
    /// cancelled.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
      await subscription.next(isolation: actor)
    }
  }
}

// MARK: Registrations

/// The state of an iterator: a channel, and the registration that sends to it.
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
    await channel.next(isolation: isolation) { end() }
  }

  private func end() {
    token?.invalidate()
    channel.cancel()
  }
}

/// The object and property of a sequence.
// Sendable: the object is used only where the iterator is created and where it is changed, as by any
// observer. Any thread may use the reference, and a key path is immutable.
private final class SequenceSource<Object: KVOObject, Value>: @unchecked Sendable {
  private let reference: WeakReference<Object>
  private let keyPath: KeyPath<Object, Value>
  private let forced: ForcedLinks?
  private let caller: Caller

  init(_ object: Object, _ keyPath: KeyPath<Object, Value>, _ caller: Caller) {
    reference = WeakReference(object)
    self.keyPath = keyPath
    forced = ForcedLinks(keyPath)
    self.caller = caller
  }

  func value(of object: Object) -> Value {
    forced == nil ? object[keyPath: keyPath] : object.value(at: keyPath, forced, for: caller)
  }

  /// Registers a function that sends, or returns nil if the object has died. The channel finishes when the
  /// registration has ended for any reason.
  func observe<Element>(
    _ options: KeyValueObservingOptions, ending channel: ChangeChannel<Element>,
    _ send: @escaping (Object, KeyValueObservedChange<Value>) -> Void
  ) -> KeyValueObservation? {
    let ending = ChannelEnding(channel)
    return reference.object?.register(
      keyPath, options,
      .typed { object, change in withExtendedLifetime(ending) { send(object, change) } }, caller)
  }
}
