// Bindings of properties (L).

extension KeyValueObserving where Self: KVOObject {
  /// Sets a property of this object to another object's now, and after each change of that.
  ///
  /// ```swift
  /// token = label.bind(\.text, to: account, \.title)
  /// ```
  ///
  /// It is set on the thread of the change, which reads the source once more. Where code on an actor makes the binding, it is
  /// set on that actor: later, if the change is made elsewhere. Where several threads change the source
  /// at once, one of them does it for all, and the last value set is the source's. So it is where they change properties
  /// that bindings connect to a circle: one thread passes on all of it, and all are equal in the end. A change that comes
  /// from the property itself, by however many other bindings, is not brought back to it. Where an observer of this
  /// property sets the source, that is passed on once.
  ///
  /// The binding ends with either object, neither of which it keeps alive, and with its token.
  ///
  /// - Parameters:
  ///   - target: the property that is set; it need not be observable.
  ///   - source: the object that is observed.
  ///   - keyPath: whatever `observe` takes. What can't be observed stops the program.
  ///   - isolation: the actor on which the property is set; by default that of the code that makes the binding.
  /// - Returns: a token; dropping it ends the binding.
  /// - Complexity: of each change O(*n*) in the number of bindings that pass it on; of this call as well, where some lead
  ///   to the source and from the property.
  public func bind<Source: KVOObject, Value>(
    _ target: ReferenceWritableKeyPath<Self, Value>, to source: Source,
    _ keyPath: KeyPath<Source, Value>, isolation: (any Actor)? = #isolation
  ) -> KeyValueObservation {
    bind(target, to: source, keyPath, transform: { $0 }, isolation: isolation)
  }

  /// The same of a value that is made of the source's.
  ///
  /// ```swift
  /// token = label.bind(\.text, to: account, \.balance) { "\($0) €" }
  /// ```
  ///
  /// - Parameters:
  ///   - target: the property that is set; it need not be observable.
  ///   - source: the object that is observed.
  ///   - keyPath: whatever `observe` takes.
  ///   - transform: called where the property is set.
  ///   - isolation: the actor on which the property is set; by default that of the code that makes the binding.
  public func bind<Source: KVOObject, Value, SourceValue>(
    _ target: ReferenceWritableKeyPath<Self, Value>, to source: Source,
    _ keyPath: KeyPath<Source, SourceValue>, transform: @escaping (SourceValue) -> Value,
    isolation: (any Actor)? = #isolation
  ) -> KeyValueObservation {
    let flow = flow(target, from: source, keyPath, transform)
    return PropertyBinding.make(flow, on: CallingActor(isolation)) { binding in
      [source.follow(keyPath, flow, binding), onDeinit { binding.end() }]
    }
  }

  /// Sets a property of this object to another object's now; from then on each of the two follows the other.
  ///
  /// ```swift
  /// token = slider.bindTwoWay(\.value, to: player, \.volume)
  /// ```
  ///
  /// Setting one sets the other once. What its setter makes of the value stays there: it is not brought back.
  /// Where several threads set both at once, they are equal in the end. Otherwise as `bind`.
  public func bindTwoWay<Source: KVOObject, Value>(
    _ target: ReferenceWritableKeyPath<Self, Value>, to source: Source,
    _ keyPath: ReferenceWritableKeyPath<Source, Value>, isolation: (any Actor)? = #isolation
  ) -> KeyValueObservation {
    let there = flow(target, from: source, keyPath) { $0 }
    let back = source.flow(keyPath, from: self, target) { $0 }
    return PropertyBinding.make(there, back, on: CallingActor(isolation)) { binding in
      [source.follow(keyPath, there, binding), follow(target, back, binding)]
    }
  }

  private func flow<Source: KVOObject, Value, SourceValue>(
    _ target: ReferenceWritableKeyPath<Self, Value>, from source: Source,
    _ keyPath: KeyPath<Source, SourceValue>, _ transform: @escaping (SourceValue) -> Value
  ) -> Flow {
    Flow(from: BoundProperty(source, keyPath), to: BoundProperty(self, target)) {
      [weak self, weak source] in
      guard let self, let source else { return }
      self[keyPath: target] = transform(source[keyPath: keyPath])
    }
  }

}

extension KVOObject {
  /// Registers for what is to be passed on.
  // What the change holds is not looked at, so nothing is made for its type.
  func follow(
    _ keyPath: AnyKeyPath, _ flow: Flow, _ binding: PropertyBinding
  ) -> KeyValueObservation {
    let life = BindingLife(binding)
    let token = KeyValueObservation()
    let handler = Handler<KVOObject, Any>(
      { _, _ in }, deliver: { _, _, _ in life.binding.changed(flow) })
    withUnsafeTemporaryAllocation(of: Handler<KVOObject, Any>.self, capacity: 1) {
      // A buffer of one has an address. The handler moves into the registration.
      let words = $0.baseAddress!
      words.initialize(to: handler)
      register(keyPath, [], token, words: UnsafeRawPointer(words))
    }
    return token
  }
}
