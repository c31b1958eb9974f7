internal import CKVORuntime

// Bindings between objects of Swift and of C (L).

extension KeyValueObserving where Self: KVOObject {
  /// Sets a property of this object to a C object's now, and after each change of that, on the thread of the change:
  /// as `bind(_:to:_:)` does between Swift's objects. What later comes and is no `Value` is not passed on, and is
  /// reported as misuse.
  ///
  /// - Parameters:
  ///   - target: the property that is set; it need not be observable.
  ///   - source: the C object that is observed.
  ///   - keyPath: a key or key path, whose value becomes a `Value` as `ForeignObject.observe` has it.
  ///   - isolation: the actor on which the property is set; by default that of the code that makes the binding. With nil it is set
  ///     on the thread of the change.
  /// - Throws: what `ForeignObject.observe` throws.
  public func bind<Value>(
    _ target: ReferenceWritableKeyPath<Self, Value>, to source: ForeignObject, _ keyPath: String,
    isolation: (any Actor)? = #isolation
  ) throws -> KeyValueObservation {
    try bind(
      target, to: source, keyPath, transform: { (value: Value) in value }, isolation: isolation)
  }

  /// The same of a value that is made of the C object's.
  public func bind<Value, SourceValue>(
    _ target: ReferenceWritableKeyPath<Self, Value>, to source: ForeignObject, _ keyPath: String,
    transform: @escaping (SourceValue) -> Value, isolation: (any Actor)? = #isolation
  ) throws -> KeyValueObservation {
    let flow = flow(target, from: source, keyPath, transform)
    return try PropertyBinding.makeThrowing(flow, on: CallingActor(isolation)) { binding in
      [
        try source.follow(keyPath, SourceValue.self, flow, binding),
        onDeinit { binding.end() },
      ]
    }
  }

  /// Sets a property of this object to a C object's now; from then on each of the two follows the other, as
  /// `bindTwoWay(_:to:_:)` does between Swift's objects.
  ///
  /// - Throws: what `ForeignObject.observe` throws.
  public func bindTwoWay<Value>(
    _ target: ReferenceWritableKeyPath<Self, Value>, to source: ForeignObject, _ keyPath: String,
    isolation: (any Actor)? = #isolation
  ) throws -> KeyValueObservation {
    let there = flow(target, from: source, keyPath) { (value: Value) in value }
    let back = source.flow(keyPath, from: self, target) { $0 }
    return try PropertyBinding.makeThrowing(there, back, on: CallingActor(isolation)) {
      binding in
      [try source.follow(keyPath, Value.self, there, binding), follow(target, back, binding)]
    }
  }

  private func flow<Value, SourceValue>(
    _ target: ReferenceWritableKeyPath<Self, Value>, from source: ForeignObject, _ keyPath: String,
    _ transform: @escaping (SourceValue) -> Value
  ) -> Flow {
    let end = WeakForeignObject(source)
    return Flow(from: BoundProperty(source, keyPath), to: BoundProperty(self, target)) {
      [weak self] in
      guard let self, let source = end.object else { return }
      self[keyPath: target] = transform(try source.value(forKeyPath: keyPath))
    }
  }
}

extension ForeignObject {
  /// Sets a key of the C object to a Swift object's property now, and after each change of that, on the thread of the
  /// change: as `bind(_:to:_:)` of a `KVOObject`. What the key does not take later is reported as misuse.
  ///
  /// - Throws: what `setValue(_:forKeyPath:)` throws for the value that there is now.
  public func bind<Source: KVOObject, Value>(
    _ keyPath: String, to source: Source, _ sourceKeyPath: KeyPath<Source, Value>,
    isolation: (any Actor)? = #isolation
  ) throws -> KeyValueObservation {
    try bind(keyPath, to: source, sourceKeyPath, transform: { $0 }, isolation: isolation)
  }

  /// The same of a value that is made of the property's.
  public func bind<Source: KVOObject, Value, SourceValue>(
    _ keyPath: String, to source: Source, _ sourceKeyPath: KeyPath<Source, SourceValue>,
    transform: @escaping (SourceValue) -> Value, isolation: (any Actor)? = #isolation
  ) throws -> KeyValueObservation {
    let flow = flow(keyPath, from: source, sourceKeyPath, transform)
    return try PropertyBinding.makeThrowing(flow, on: CallingActor(isolation)) { binding in
      [source.follow(sourceKeyPath, flow, binding), onDeinit { binding.end() }]
    }
  }

  fileprivate func flow<Source: KVOObject, Value, SourceValue>(
    _ keyPath: String, from source: Source, _ sourceKeyPath: KeyPath<Source, SourceValue>,
    _ transform: @escaping (SourceValue) -> Value
  ) -> Flow {
    let end = WeakForeignObject(self)
    return Flow(from: BoundProperty(source, sourceKeyPath), to: BoundProperty(self, keyPath)) {
      [weak source] in
      guard let target = end.object, let source else { return }
      try target.setValue(transform(source[keyPath: sourceKeyPath]), forKeyPath: keyPath)
    }
  }

  fileprivate func follow<Value>(
    _ keyPath: String, _ type: Value.Type, _ flow: Flow, _ binding: PropertyBinding
  ) throws -> KeyValueObservation {
    let life = BindingLife(binding)
    return try observe(keyPath, as: type) { _, _ in life.binding.changed(flow) }
  }
}

/// A C object that is not kept alive.
private final class WeakForeignObject: @unchecked Sendable {
  // Nil when the object has died: its memory is there until that has been noted.
  private var header: UnsafeMutablePointer<kvo_object>?
  private let lock = Lock(isOuter: true)
  private var death: KeyValueObservation?

  init(_ object: ForeignObject) {
    header = object.header
    death = object.onDeinit { [weak self] in self?.forget() }
  }

  private func forget() { lock.withLock { header = nil } }

  var object: ForeignObject? {
    lock.withLock {
      guard let header, kvo_object_try_retain(header) else { return nil }
      defer { kvo_object_release(header) }
      return ForeignObject(OpaquePointer(header))
    }
  }
}
