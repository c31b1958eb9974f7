internal import CKVORuntime

/// The links that a key path forces: `\.link!.name`, or one of a type like `Link!`. Evaluating the key path stops the
/// program if such a link is nil. To observers the path is broken there (G1), so the links are read first.
struct ForcedLinks {
  private let keyPath: AnyKeyPath
  // The number of components up to the last one that forces.
  private let count: Int

  /// Nil if the key path forces nothing. What it forces behind a component with arguments (`\.list[0]!`) is not known.
  init?(_ keyPath: AnyKeyPath) {
    guard var components = KeyPathComponents(keyPath) else { return nil }
    var (count, last) = (0, 0)
    while let component = components.next() {
      count += 1
      if component == .optional(.force) { last = count }
    }
    guard last > 0 else { return nil }
    (self.keyPath, self.count) = (keyPath, last)
  }

  /// Whether one of the links is nil in an object. Only then the reads of the links are recorded: otherwise, evaluating
  /// the key path records them.
  func isBroken(in object: KVOObject) -> Bool {
    guard kvo_is_recording() else { return missing(in: object) != nil }
    var isBroken = false
    ReadRecorder().record { isBroken = missing(in: object) != nil }
    return isBroken && missing(in: object) != nil
  }

  /// The type of the first of the links that is nil in an object. Reads the links up to that.
  func missing(in object: KVOObject) -> Any.Type? {
    KeyPathComponents(keyPath).flatMap { missing(from: object, $0, count) }
  }

  private func missing<Base>(
    from base: Base, _ components: KeyPathComponents, _ count: Int
  ) -> Any.Type? {
    var rest = components
    guard count > 0, let component = rest.next() else { return nil }
    func follow<Next>(_ type: Next.Type) -> Any.Type? {
      guard let next: Next = rest.value(component, of: base) else {
        return component == .optional(.force) ? type : nil
      }
      return missing(from: next, rest, count - 1)
    }
    return _openExistential(rest.valueType ?? Swift.type(of: keyPath).valueType, do: follow)
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
        return value(at: place.load(as: UnsafeRawPointer.self) + offset) as Value
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
    guard let missing = forced?.missing(in: self) else { return self[keyPath: keyPath] }
    if let none: Value = noValue() { return none }
    stop(at: missing, on: keyPath, for: caller)
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
