internal import CKVORuntime
internal import Synchronization

// Bindings between objects of Swift and of C (L).

extension KeyValueObserving where Self: KVOObject {
  /// Sets a property of this object to the value of a C object's key path now, and after each change of that.
  ///
  /// The property is set on the thread of the change, or on the actor given by `isolation`. A later value
  /// that can't be converted to `Value` is not passed on; it is reported as misuse. The binding ends with
  /// either object or with its token, and retains neither object.
  ///
  /// - Parameters:
  ///   - target: the property to set; it need not be observable.
  ///   - source: the C object to observe.
  ///   - keyPath: a key or key path, whose values are converted to `Value` as by `ForeignObject.observe`.
  ///   - isolation: the actor on which the property is set; by default that of the code that makes the
  ///     binding. If nil, the property is set on the thread of the change.
  /// - Returns: a token; releasing it ends the binding.
  /// - Throws: the errors of `ForeignObject.observe`.
  public func bind<Value>(
    _ target: ReferenceWritableKeyPath<Self, Value>, to source: ForeignObject, _ keyPath: String,
    isolation: (any Actor)? = #isolation
  ) throws -> KeyValueObservation {
    try bind(
      target, to: source, keyPath, transform: { (value: Value) in value }, isolation: isolation)
  }

  /// Sets a property of this object to a transformed value of a C object's key path now, and after each
  /// change of that.
  ///
  /// The property is set on the thread of the change, or on the actor given by `isolation`. A later value
  /// that can't be converted to `SourceValue` is not passed on; it is reported as misuse. The binding ends
  /// with either object or with its token, and retains neither object.
  ///
  /// - Parameters:
  ///   - target: the property to set; it need not be observable.
  ///   - source: the C object to observe.
  ///   - keyPath: a key or key path, whose values are converted to `SourceValue` as by
  ///     `ForeignObject.observe`.
  ///   - transform: called where the property is set.
  ///   - isolation: the actor on which the property is set; by default that of the code that makes the
  ///     binding. If nil, the property is set on the thread of the change.
  /// - Returns: a token; releasing it ends the binding.
  /// - Throws: the errors of `ForeignObject.observe`.
  public func bind<Value, SourceValue>(
    _ target: ReferenceWritableKeyPath<Self, Value>, to source: ForeignObject, _ keyPath: String,
    transform: @escaping (SourceValue) -> Value, isolation: (any Actor)? = #isolation
  ) throws -> KeyValueObservation {
    let direction = direction(target, from: source, keyPath, transform)
    return try PropertyBinding.makeThrowing(direction, on: CallingActor(isolation)) { binding in
      [
        try source.follow(keyPath, SourceValue.self, direction, binding),
        onDeinit { binding.end() },
      ]
    }
  }

  /// Sets a property of this object to the value of a C object's key path now; from then on each follows the
  /// other.
  ///
  /// Setting one sets the other once. If the other's setter changes the value, the result is not brought
  /// back. The binding ends with either object or with its token, and retains neither object.
  ///
  /// - Parameters:
  ///   - target: an observable property.
  ///   - source: the C object.
  ///   - keyPath: a key or key path of the C object, whose values are converted to `Value` as by
  ///     `ForeignObject.observe`.
  ///   - isolation: the actor on which values are set; by default that of the code that makes the binding. If
  ///     nil, they are set on the thread of the change.
  ///   - file: The caller's file, for messages.
  ///   - line: The caller's line.
  /// - Returns: a token; releasing it ends the binding.
  /// - Throws: the errors of `ForeignObject.observe`.
  public func bindTwoWay<Value>(
    _ target: ReferenceWritableKeyPath<Self, Value>, to source: ForeignObject, _ keyPath: String,
    isolation: (any Actor)? = #isolation, file: StaticString = #fileID, line: UInt = #line
  ) throws -> KeyValueObservation {
    let caller = Caller(file, line)
    let there = direction(target, from: source, keyPath) { (value: Value) in value }
    let back = source.direction(keyPath, from: self, target, caller) { $0 }
    return try PropertyBinding.makeThrowing(there, back, on: CallingActor(isolation)) {
      binding in
      [
        try source.follow(keyPath, Value.self, there, binding),
        follow(target, back, binding, caller),
      ]
    }
  }

  private func direction<Value, SourceValue>(
    _ target: ReferenceWritableKeyPath<Self, Value>, from source: ForeignObject, _ keyPath: String,
    _ transform: @escaping (SourceValue) -> Value
  ) -> BindingDirection {
    let (end, forced) = (WeakForeignObject(source), ForcedLinks(target))
    return BindingDirection(
      from: BoundProperty(end, at: source.header, keyPath),
      to: BoundProperty(target: self, target)
    ) { _, to in
      guard let object: Self = to.object(), let source = end.object else { return }
      let value = transform(try source.value(forKeyPath: keyPath))
      object.require(forced, of: target)
      object[keyPath: target] = value
    }
  }
}

extension ForeignObject {
  /// Sets a key path of this C object to the value of a Swift object's property now, and after each change of
  /// that.
  ///
  /// The key path is set on the thread of the change, or on the actor given by `isolation`. If it does not
  /// accept a later value, that is reported as misuse. The binding ends with either object or with its token,
  /// and retains neither object.
  ///
  /// - Parameters:
  ///   - keyPath: the key or key path to set.
  ///   - source: the Swift object to observe.
  ///   - sourceKeyPath: a property that can be observed; otherwise the program stops with a message.
  ///   - isolation: the actor on which the key path is set; by default that of the code that makes the
  ///     binding. If nil, it is set on the thread of the change.
  ///   - file: The caller's file, for messages.
  ///   - line: The caller's line.
  /// - Returns: a token; releasing it ends the binding.
  /// - Throws: the errors of `setValue(_:forKeyPath:)` for the present value.
  public func bind<Source: KVOObject, Value>(
    _ keyPath: String, to source: Source, _ sourceKeyPath: KeyPath<Source, Value>,
    isolation: (any Actor)? = #isolation, file: StaticString = #fileID, line: UInt = #line
  ) throws -> KeyValueObservation {
    try bind(
      keyPath, to: source, sourceKeyPath, transform: { $0 }, isolation: isolation, file: file,
      line: line)
  }

  /// Sets a key path of this C object to a transformed value of a Swift object's property now, and after each
  /// change of that.
  ///
  /// The key path is set on the thread of the change, or on the actor given by `isolation`. If it does not
  /// accept a later value, that is reported as misuse. The binding ends with either object or with its token,
  /// and retains neither object.
  ///
  /// - Parameters:
  ///   - keyPath: the key or key path to set.
  ///   - source: the Swift object to observe.
  ///   - sourceKeyPath: a property that can be observed; otherwise the program stops with a message.
  ///   - transform: called where the key path is set.
  ///   - isolation: the actor on which the key path is set; by default that of the code that makes the
  ///     binding. If nil, it is set on the thread of the change.
  ///   - file: The caller's file, for messages.
  ///   - line: The caller's line.
  /// - Returns: a token; releasing it ends the binding.
  /// - Throws: the errors of `setValue(_:forKeyPath:)` for the present value.
  public func bind<Source: KVOObject, Value, SourceValue>(
    _ keyPath: String, to source: Source, _ sourceKeyPath: KeyPath<Source, SourceValue>,
    transform: @escaping (SourceValue) -> Value, isolation: (any Actor)? = #isolation,
    file: StaticString = #fileID, line: UInt = #line
  ) throws -> KeyValueObservation {
    let caller = Caller(file, line)
    let direction = direction(keyPath, from: source, sourceKeyPath, caller, transform)
    return try PropertyBinding.makeThrowing(direction, on: CallingActor(isolation)) { binding in
      [
        source.follow(sourceKeyPath, direction, binding, caller),
        onDeinit { binding.end() },
      ]
    }
  }

  fileprivate func direction<Source: KVOObject, Value, SourceValue>(
    _ keyPath: String, from source: Source, _ sourceKeyPath: KeyPath<Source, SourceValue>,
    _ caller: Caller, _ transform: @escaping (SourceValue) -> Value
  ) -> BindingDirection {
    let (end, forced) = (WeakForeignObject(self), ForcedLinks(sourceKeyPath))
    return BindingDirection(
      from: BoundProperty(source: source, sourceKeyPath, caller),
      to: BoundProperty(end, at: header, keyPath)
    ) { source, _ in
      guard let source: Source = source.object(), let target = end.object else { return }
      let value = source.value(at: sourceKeyPath, forced, for: caller)
      try target.setValue(transform(value), forKeyPath: keyPath)
    }
  }

  fileprivate func follow<Value>(
    _ keyPath: String, _ type: Value.Type, _ direction: BindingDirection, _ binding: PropertyBinding
  ) throws -> KeyValueObservation {
    let life = BindingLife(binding)
    return try observe(keyPath, as: type) { _, _ in life.binding.changed(direction) }
  }
}

/// A reference to a C object that does not retain it.
final class WeakForeignObject: @unchecked Sendable {
  // Set to nil when the object dies. Its memory stays valid until that was done.
  private var header: UnsafeMutablePointer<kvo_object>?
  private let lock = Lock(isOuter: true)
  private let isDead = Atomic(false)
  private var death: KeyValueObservation?

  init(_ object: ForeignObject) {
    header = object.header
    death = object.onDeinit { [weak self] in self?.forget() }
  }

  private func forget() {
    isDead.store(true, ordering: .relaxed)
    lock.withLock { header = nil }
  }

  /// Whether no other object can be at its address. Takes no lock.
  var isAlive: Bool { !isDead.load(ordering: .relaxed) }

  var object: ForeignObject? {
    lock.withLock {
      guard let header, kvo_object_try_retain(header) else { return nil }
      defer { kvo_object_release(header) }
      return ForeignObject(OpaquePointer(header))
    }
  }
}
