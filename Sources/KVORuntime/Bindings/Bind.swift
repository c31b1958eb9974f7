// Bindings of properties (L).

extension KeyValueObserving where Self: KVOObject {
  /// Binds a property of this object to another object's: sets it now, and after each change of the source.
  ///
  /// ```swift
  /// token = label.bind(\.text, to: account, \.title)
  /// ```
  ///
  /// The target is set on the thread of the change, to the value that the source has then. If code on an
  /// actor makes the binding, the source is read and the target is set on that actor, and later if the change
  /// is made elsewhere.
  ///
  /// If several threads change the source at once, one of them sets the target for all, and the last value
  /// set is the source's. This also holds for properties that bindings connect in a circle: one thread
  /// forwards all changes, and all properties are equal in the end. A change never returns to a property that
  /// it came from, through however many bindings. If an observer of the target sets the source, that change
  /// is forwarded once.
  ///
  /// The binding retains neither object, and ends with either of them or with its token.
  ///
  /// - Parameters:
  ///   - target: The property to set. It need not be observable. This call may read it, to recognise it when
  ///     another key path names it.
  ///   - source: The object to observe.
  ///   - keyPath: The property or key path of the source, as `observe` takes it. One that can't be observed
  ///     stops the program.
  ///   - isolation: The actor on which the property is set; by default that of the code that makes the
  ///     binding.
  ///   - file: The caller's file, for messages.
  ///   - line: The caller's line.
  /// - Returns: A token. Dropping it ends the binding.
  /// - Complexity: A change costs O(*n*) in the number of bindings that forward it. Where one-way bindings part and
  ///   meet again, those behind count once for each way that leads to them. This call costs O(*n*) in the number of
  ///   bindings of both objects, and of all connected ones if bindings lead to the source and from the target.
  public func bind<Source: KVOObject, Value>(
    _ target: ReferenceWritableKeyPath<Self, Value>, to source: Source,
    _ keyPath: KeyPath<Source, Value>, isolation: (any Actor)? = #isolation,
    file: StaticString = #fileID, line: UInt = #line
  ) -> KeyValueObservation {
    bind(
      target, to: source, keyPath, transform: { $0 }, isolation: isolation, file: file, line: line)
  }

  /// Binds a property of this object to a value computed from another object's property: sets it now, and
  /// after each change of the source.
  ///
  /// ```swift
  /// token = label.bind(\.text, to: account, \.balance) { "\($0) €" }
  /// ```
  ///
  /// Threads, actors, circles and lifetimes are as for `bind(_:to:_:isolation:)`: the target is set on the
  /// thread of the change or on the binding's actor, and the binding retains neither object.
  ///
  /// - Parameters:
  ///   - target: The property to set. It need not be observable.
  ///   - source: The object to observe.
  ///   - keyPath: The property or key path of the source, as `observe` takes it. One that can't be observed
  ///     stops the program.
  ///   - transform: Computes the target's value. It is called on the thread or actor that sets the target.
  ///   - isolation: The actor on which the property is set; by default that of the code that makes the
  ///     binding.
  ///   - file: The caller's file, for messages.
  ///   - line: The caller's line.
  /// - Returns: A token. Dropping it ends the binding.
  public func bind<Source: KVOObject, Value, SourceValue>(
    _ target: ReferenceWritableKeyPath<Self, Value>, to source: Source,
    _ keyPath: KeyPath<Source, SourceValue>, transform: @escaping (SourceValue) -> Value,
    isolation: (any Actor)? = #isolation,
    file: StaticString = #fileID, line: UInt = #line
  ) -> KeyValueObservation {
    let caller = Caller(file, line)
    let direction = direction(target, from: source, keyPath, caller, transform)
    return PropertyBinding.make(direction, on: CallingActor(isolation)) { binding in
      [source.follow(keyPath, direction, binding, caller), onDeinit { binding.end() }]
    }
  }

  /// Binds two properties to each other: sets this object's to the other's now, and each to the other after a
  /// change.
  ///
  /// ```swift
  /// token = slider.bindTwoWay(\.value, to: player, \.volume)
  /// ```
  ///
  /// Setting one property sets the other once. If the other's setter changes the value, that value is not
  /// forwarded back. If several threads set both at once, they are equal in the end. A property that can't be
  /// observed stops the program.
  ///
  /// The properties are set on the thread of the change. If code on an actor makes the binding, they are read
  /// and set on that actor. The binding retains neither object, and ends with either of them or with its token.
  ///
  /// - Parameters:
  ///   - target: The property of this object.
  ///   - source: The other object.
  ///   - keyPath: The property of the other object.
  ///   - isolation: The actor on which the properties are set; by default that of the code that makes the
  ///     binding.
  ///   - file: The caller's file, for messages.
  ///   - line: The caller's line.
  /// - Returns: A token. Dropping it ends the binding.
  public func bindTwoWay<Source: KVOObject, Value>(
    _ target: ReferenceWritableKeyPath<Self, Value>, to source: Source,
    _ keyPath: ReferenceWritableKeyPath<Source, Value>, isolation: (any Actor)? = #isolation,
    file: StaticString = #fileID, line: UInt = #line
  ) -> KeyValueObservation {
    let caller = Caller(file, line)
    let there = direction(target, from: source, keyPath, caller) { $0 }
    let back = source.direction(keyPath, from: self, target, caller) { $0 }
    return PropertyBinding.make(there, back, on: CallingActor(isolation)) { binding in
      [
        source.follow(keyPath, there, binding, caller), follow(target, back, binding, caller),
      ]
    }
  }

  private func direction<Source: KVOObject, Value, SourceValue>(
    _ target: ReferenceWritableKeyPath<Self, Value>, from source: Source,
    _ keyPath: KeyPath<Source, SourceValue>, _ caller: Caller,
    _ transform: @escaping (SourceValue) -> Value
  ) -> BindingDirection {
    let ends = (
      source: BoundProperty(source: source, keyPath, caller),
      target: BoundProperty(target: self, target)
    )
    guard let reading = KeyPathFunctions(of: keyPath), let setting = KeyPathFunctions(of: target),
      setting.canSet
    else {
      let forced = (source: ForcedLinks(keyPath), target: ForcedLinks(target))
      return BindingDirection(from: ends.source, to: ends.target) { from, to in
        guard let source: Source = from.object(), let object: Self = to.object() else { return }
        let value = transform(source.value(at: keyPath, forced.source, for: caller))
        object.require(forced.target, of: target, for: caller)
        object[keyPath: target] = value
      }
    }
    let paths: [AnyKeyPath] = [keyPath, target]
    return BindingDirection(from: ends.source, to: ends.target) { from, to in
      guard let source: Source = from.object(), let object: Self = to.object() else { return }
      withExtendedLifetime(paths) {
        reading.withValue(of: source) { setting.set(transform($0), of: object) }
      }
    }
  }
}

extension KVOObject {
  /// Registers for the changes that a binding forwards.
  // The handler ignores the change's values, so that nothing is created for their type.
  func follow(
    _ keyPath: AnyKeyPath, _ direction: BindingDirection, _ binding: PropertyBinding,
    _ caller: Caller
  ) -> KeyValueObservation {
    let life = BindingLife(binding)
    let token = KeyValueObservation()
    let handler = NamedHandler(direction) { _, _, _, _ in life.binding.changed(direction) }
    withUnsafeTemporaryAllocation(of: NamedHandler.self, capacity: 1) {
      // A buffer with room for one element has a base address. The handler moves into the registration.
      let words = $0.baseAddress!
      words.initialize(to: handler)
      if !registerAgain(keyPath, [], token, UnsafeRawPointer(words)) {
        registerFirst(keyPath, [], token, UnsafeRawPointer(words), caller)
      }
    }
    return token
  }
}
