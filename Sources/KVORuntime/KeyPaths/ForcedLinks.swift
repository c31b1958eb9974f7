internal import CKVORuntime
internal import CSwiftRuntime

/// The links that a key path forces: `\.link!.name`, or one of a type like `Link!`. Evaluating the key path stops the
/// program if such a link is nil. To observers the path is broken there (G1), so the key path is followed by components.
struct ForcedLinks {
  private let keyPath: AnyKeyPath
  // The number of components up to the last one that forces.
  private let count: Int
  // Whether no component has arguments, so that the key path can be followed to its end.
  private let isKnown: Bool

  /// The value to which a key path leads, or the place where it is broken.
  enum Reading<Value> {
    case value(Value)
    /// The type of the first link that is forced and nil.
    case broken(Any.Type)
  }

  /// Nil if the key path forces nothing. What it forces behind a component with arguments (`\.list[0]!`) is not known.
  init?(_ keyPath: AnyKeyPath) {
    guard var components = KeyPathComponents(keyPath) else { return nil }
    var (count, last) = (0, 0)
    while let component = components.next() {
      count += 1
      if component == .optional(.force) { last = count }
    }
    guard last > 0 else { return nil }
    (self.keyPath, self.count, isKnown) = (keyPath, last, !components.hasArguments)
  }

  /// Reads the key path's value in an object. It reads each property once, so another thread may set a link to nil at the
  /// same time. A key path with arguments can only be read by `evaluate`. Then the links are read before, to find one that
  /// is nil, and `evaluate` reads them again.
  func read<Value>(
    from object: KVOObject, _ evaluate: () throws -> Value
  ) rethrows -> Reading<Value> {
    guard isKnown else {
      if let missing = missingBeforeArguments(in: object) { return .broken(missing) }
      return .value(try evaluate())
    }
    var value: Value?
    let missing = follow(from: object, KeyPathComponents(keyPath), .max) {
      value = .some($0.assumingMemoryBound(to: Value.self).pointee)
    }
    if let missing { return .broken(missing) }
    // Without a value, optional chaining has ended before the end of the key path. The value is an optional then, unless
    // that is forced.
    let end: Value? = value ?? noValue()
    return end.map { .value($0) } ?? .broken(Value.self)
  }

  /// Reads the key path to record the properties that are read. Returns whether a link is nil.
  func isBroken(in object: KVOObject) -> Bool {
    func read<Value>(_ type: Value.Type) -> Bool {
      let reading = self.read(from: object) { object[keyPath: keyPath] as! Value }
      if case .broken = reading { return true }
      return false
    }
    return _openExistential(Swift.type(of: keyPath).valueType, do: read)
  }

  /// The type of the first of the links that is nil in an object. Reads the links up to that.
  func missing(in object: KVOObject) -> Any.Type? {
    follow(from: object, KeyPathComponents(keyPath), count) { _ in }
  }

  // The reads of the links are recorded only if one is nil: otherwise, evaluating the key path records them.
  private func missingBeforeArguments(in object: KVOObject) -> Any.Type? {
    guard kvo_is_recording() else { return missing(in: object) }
    var isBroken = false
    ReadRecorder().record { isBroken = missing(in: object) != nil }
    return isBroken ? missing(in: object) : nil
  }

  // Follows at most `count` components. Passes the address of the key path's value, if that is reached, to `end`, and
  // returns the type of the link where the key path is broken.
  private func follow<Base>(
    from base: Base, _ components: KeyPathComponents?, _ count: Int,
    _ end: (UnsafeRawPointer) -> Void
  ) -> Any.Type? {
    guard count > 0, var rest = components else { return nil }
    guard let component = rest.next() else {
      withUnsafePointer(to: base) { end(UnsafeRawPointer($0)) }
      return nil
    }
    func follow<Next>(_ type: Next.Type) -> Any.Type? {
      guard let next: Next = rest.value(component, of: base) else {
        return component == .optional(.force) ? type : nil
      }
      return self.follow(from: next, rest, count - 1, end)
    }
    return _openExistential(rest.valueType ?? Swift.type(of: keyPath).valueType, do: follow)
  }
}

extension ForcedLinks.Reading {
  /// Nil where the key path is broken.
  var value: Value? {
    guard case .value(let value) = self else { return nil }
    return .some(value)
  }
}

extension KeyPathComponents {
  // The value of the last component, which has the type `Value`; nil if that unwraps nil. `Value` may be an optional, so
  // each call names the type that it reads: the compiler may choose `Value?`.
  fileprivate func value<Base, Value>(_ component: Component, of base: Base) -> Value? {
    withUnsafePointer(to: base) { place in
      let place = UnsafeRawPointer(place)
      switch component {
      case .stored(let offset):
        let address = place.load(as: UnsafeRawPointer.self) + offset
        // Stops the program if the property is being changed, as Swift's own read of the key path does.
        kvo_swift_check_access(address, false)
        return value(at: address) as Value
      case .part(let offset): return value(at: place + offset) as Value
      case .computed: return functions.map { $0.value(at: place) as Value }
      case .optional(.chain), .optional(.force):
        return place.assumingMemoryBound(to: Value?.self).pointee
      case .optional(.wrap): return withUnsafePointer(to: Base?(base)) { value(at: $0) as Value }
      }
    }
  }

  private func value<Value>(at place: UnsafeRawPointer) -> Value {
    place.assumingMemoryBound(to: Value.self).pointee
  }
}

/// Nil as a value of a type, such as an optional or `Any`; nil if the type has none.
func noValue<Value>() -> Value? { present(nil) as? Value }

extension KeyValueObserving where Self: KVOObject {
  /// The value of a key path. If a link that the key path forces is nil, the value is nil. If its type has no nil, the
  /// program stops with a message.
  package func value<Value>(at keyPath: KeyPath<Self, Value>, for caller: Caller? = nil) -> Value {
    value(at: keyPath, ForcedLinks(keyPath), for: caller)
  }

  /// The value of a key path, as `value(at:for:)` gives it, for a caller that keeps the links which the key path forces.
  func value<Value>(
    at keyPath: KeyPath<Self, Value>, _ forced: ForcedLinks?, for caller: Caller?
  ) -> Value {
    guard let forced else { return self[keyPath: keyPath] }
    switch forced.read(from: self, { self[keyPath: keyPath] }) {
    case .value(let value): return value
    case .broken(let missing):
      if let none: Value = noValue() { return none }
      stop(at: missing, on: keyPath, for: caller)
    }
  }

  /// Stops the program with a message if a link that the key path forces is nil, so that it can't be set.
  func require(_ forced: ForcedLinks?, of keyPath: AnyKeyPath, for caller: Caller? = nil) {
    guard let missing = forced?.missing(in: self) else { return }
    stop(at: missing, on: keyPath, for: caller)
  }

  private func stop(at missing: Any.Type, on keyPath: AnyKeyPath, for caller: Caller?) -> Never {
    KVODiagnostics.stop(
      """
      The key path \(keyPath.text) leads to no \(swiftName(of: type(of: keyPath).valueType)) in this object of \
      \(className(of: type(of: self))), because it forces a link that is nil, of type \(swiftName(of: missing)). Set the \
      link before, or use a key path whose value may be nil, as in \\.link?.name.
      """, for: caller)
  }
}
