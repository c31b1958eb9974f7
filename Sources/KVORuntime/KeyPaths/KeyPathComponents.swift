internal import CSwiftRuntime

/// Iterates over the components of a key path, up to the first that can't be decoded.
///
/// The components are stored in the key path object, after its own words. Each is a 32-bit header, which
/// contains the kind, followed by data that depends on the kind. Between two components is the type of the
/// value that the first gives and the second begins with. None of this is documented, so it is checked once
/// at run time. If the check fails, no key path can be decoded.
struct KeyPathComponents: Sequence, IteratorProtocol {
  enum Component: Equatable {
    /// A computed property or subscript, identified by its getter; nil if it is identified in another way.
    case computed(UnsafeRawPointer?)
    /// A stored property of a class.
    case stored(offset: Int)
    case optional(OptionalStep)
    /// A stored property of a struct, or an element of a tuple.
    case part(offset: Int)
  }

  /// Optional chaining, wrapping in an optional, or unwrapping by force.
  enum OptionalStep: UInt32 { case chain, wrap, force }

  /// Whether a component with arguments, such as a subscript, has been met.
  private(set) var hasArguments = false
  /// Whether more components follow the one with arguments.
  private(set) var goesOnBehindArguments = false
  /// The functions of the last component, if it is computed.
  private(set) var functions: KeyPathFunctions?
  /// The type of the last component's value; nil at the end, where it is the key path's own value type.
  private(set) var valueType: Any.Type?
  private var place: UnsafeRawPointer
  private var end: UnsafeRawPointer

  private init(unchecked keyPath: AnyKeyPath) {
    let object = UnsafeRawPointer(Unmanaged.passUnretained(keyPath).toOpaque())
    place = object + 32
    end = place + Int(object.load(fromByteOffset: 24, as: UInt32.self) & 0x00ff_ffff)
  }

  /// Nil if key paths don't have the expected layout. The caller must keep the key path alive.
  init?(_ keyPath: AnyKeyPath) {
    guard KeyPathComponents.areKnown else { return nil }
    self.init(unchecked: keyPath)
  }

  var isAtEnd: Bool { place >= end }

  mutating func next() -> Component? {
    guard !isAtEnd else { return nil }
    let header = place.load(as: UInt32.self)
    place += 4
    functions = nil
    valueType = nil
    let component = read(header)
    guard !isAtEnd else { return component }
    // The type that the next component begins with.
    let type = place.alignedUp(toMultipleOf: 8)
    valueType = type.load(as: Any.Type.self)
    place = type + 8
    return component
  }

  private mutating func read(_ header: UInt32) -> Component? {
    switch header >> 24 & 0x7f {
    case 1: return .part(offset: offset(header))
    case 2: return computed(header)
    case 3: return .stored(offset: offset(header))
    case 4: return OptionalStep(rawValue: header & 0x00ff_ffff).map { .optional($0) } ?? stop()
    default: return stop()
    }
  }

  // An offset that does not fit in the header follows it.
  private mutating func offset(_ header: UInt32) -> Int {
    let offset = header & 0x007f_ffff
    guard offset == 0x007f_ffff else { return Int(offset) }
    defer { place += 4 }
    return Int(place.load(as: UInt32.self))
  }

  private mutating func computed(_ header: UInt32) -> Component? {
    let words = place.alignedUp(toMultipleOf: 8)
    let isByPointer = header & 0x0037_ffff == 0
    let component = Component.computed(isByPointer ? words.load(as: UnsafeRawPointer?.self) : nil)
    let getter = words.load(fromByteOffset: 8, as: UnsafeRawPointer.self)
    let isSettable = header & 0x0040_0000 != 0
    place = words + (isSettable ? 24 : 16)
    let setter = isSettable ? words.load(fromByteOffset: 16, as: UnsafeRawPointer.self) : nil
    functions = KeyPathFunctions(getter: getter, setter: setter, arguments: place, size: 0)
    guard header & 0x0008_0000 != 0 else { return component }
    // The type arguments of generic code are stored as arguments as well. For other arguments, nothing says
    // where they end.
    let size = place.load(as: Int.self)
    let witnesses = place.load(fromByteOffset: 8, as: UnsafeRawPointer?.self)
    guard size == 0 || witnesses == kvo_swift_generic_witnesses() else {
      // Another component takes at least a type and a header.
      goesOnBehindArguments = (place + 16 + size).alignedUp(toMultipleOf: 8) + 8 < end
      return stop()
    }
    functions = KeyPathFunctions(
      getter: getter, setter: setter, arguments: place + 16, size: size)
    place += 16 + size
    return component
  }

  private mutating func stop() -> Component? {
    hasArguments = true
    place = end
    return nil
  }
}

/// The functions by which a key path accesses a computed property. Valid as long as the key path.
///
/// Calling them is much cheaper than using the key path: the standard library interprets it at each access, and
/// reads the property before it sets it.
struct KeyPathFunctions {
  fileprivate let getter: UnsafeRawPointer
  /// Nil if the property can't be set.
  fileprivate let setter: UnsafeRawPointer?
  /// The type arguments of generic code.
  fileprivate let arguments: UnsafeRawPointer
  fileprivate let size: Int
}

extension KeyPathFunctions {
  /// The functions of a key path that consists of one computed property without arguments, as those of
  /// `@Observed` properties do; nil for others.
  init?(of keyPath: AnyKeyPath) {
    guard var components = KeyPathComponents(keyPath), case .computed = components.next(),
      components.isAtEnd, let functions = components.functions
    else { return nil }
    self = functions
  }

  /// The getter's address. Properties with equal code may share one function.
  var address: UnsafeRawPointer { getter }

  var canSet: Bool { setter != nil }

  /// Whether the functions are those of generic code, such as a protocol's.
  var isGeneric: Bool { size > 0 }

  /// Reads the property, which must have the given type.
  func value(of object: AnyObject, as type: Any.Type) -> Any {
    func read<Value>(_ type: Value.Type) -> Any {
      var result: Any = ()
      withValue(of: object) { (value: Value) in result = value }
      return result
    }
    return _openExistential(type, do: read)
  }

  /// Reads the property, which must have the type `Value`, and passes its value to a function.
  // If this function returned the value, the standard library would instantiate a `Result` of its type.
  @inline(__always)
  func withValue<Value>(of object: AnyObject, _ body: (Value) -> Void) {
    withUnsafeTemporaryAllocation(of: Value.self, capacity: 1) { value in
      // A buffer with room for one element has a base address.
      let place = value.baseAddress.unsafelyUnwrapped
      withUnsafePointer(to: reference(to: object)) {
        kvo_swift_read_by_key_path(getter, place, $0, arguments, size)
      }
      body(place.move())
    }
  }

  /// Reads the property, which must have the type `Value`, of an object or a value of another type.
  /// - Parameter base: Where the value or the reference to the object is stored.
  func value<Value>(at base: UnsafeRawPointer) -> Value {
    withUnsafeTemporaryAllocation(of: Value.self, capacity: 1) { value in
      let place = value.baseAddress.unsafelyUnwrapped
      kvo_swift_read_by_key_path(getter, place, base, arguments, size)
      return place.move()
    }
  }

  /// Sets the property, which must have the type `Value` and a setter that does not mutate what has it.
  @inline(__always)
  func set<Value>(_ value: Value, of object: AnyObject) {
    withUnsafePointer(to: value) {
      kvo_swift_set_by_key_path(setter!, $0, reference(to: object), arguments, size)
    }
  }

  // The caller holds the object.
  private func reference(to object: AnyObject) -> UnsafeRawPointer {
    UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
  }
}

extension AnyKeyPath {
  /// Whether equal-looking key paths may differ in arguments, which are values of the program. False if key
  /// paths don't have the expected layout.
  var mayHaveArguments: Bool {
    guard var components = KeyPathComponents(self) else { return false }
    while components.next() != nil {}
    return components.hasArguments
  }

  /// Whether the standard library can give this key path another root so that the result can be compared and
  /// hashed. It can't if there are several components, one of which has arguments.
  var canBeRerooted: Bool {
    guard var components = KeyPathComponents(self) else { return true }
    var count = 0
    while components.next() != nil { count += 1 }
    return !components.hasArguments || count == 0 && !components.goesOnBehindArguments
  }

  /// Whether this key path names a single property by an index instead of a getter.
  var isByNumber: Bool {
    guard var components = KeyPathComponents(self) else { return false }
    return components.next() == .computed(nil) && components.isAtEnd
  }
}

// MARK: Layout check

extension KeyPathComponents {
  private static let areKnown: Bool = {
    let path = all(\Probe.next?.second)
    guard path.count == 4, case .computed(let getter?) = path[0],
      case .stored(let offset) = path[2], path[1] == .optional(.chain),
      path[3] == .optional(.wrap)
    else { return false }
    let probe = Probe()
    let address = UnsafeMutableRawPointer(Unmanaged.passUnretained(probe).toOpaque()) + offset
    return withUnsafeMutablePointer(to: &probe.second) { address == $0 }
      && all(\Probe.next) == [.computed(getter)]
      && all(\Probe.pair.1) == [.stored(offset: offset + 8), .part(offset: 8)]
      && all(\Probe.next!.second) == [path[0], .optional(.force), path[2]]
      && all(\Probe.list.count).count == 2 && all(\Probe.list[0]).count == 1
      && areGettersKnown(by: probe) && areSettersKnown(by: probe)
  }()

  private static func areGettersKnown(by probe: Probe) -> Bool {
    let path = \Probe.myself?.second
    var components = KeyPathComponents(unchecked: path)
    return withExtendedLifetime(path) {
      guard case .computed = components.next(), let functions = components.functions,
        components.valueType == Probe?.self, !functions.canSet
      else { return false }
      return functions.value(of: probe, as: Probe?.self) as? Probe === probe
    }
  }

  private static func areSettersKnown(by probe: Probe) -> Bool {
    let path = \Probe.next
    var components = KeyPathComponents(unchecked: path)
    return withExtendedLifetime(path) {
      guard case .computed = components.next(), let functions = components.functions,
        functions.canSet
      else { return false }
      functions.set(probe as Probe?, of: probe)
      return probe.first == 1
    }
  }

  private static func all(_ keyPath: AnyKeyPath) -> [Component] {
    Array(KeyPathComponents(unchecked: keyPath))
  }
}

private class Probe {
  final var first = 0
  final var second = 0
  final var pair = (0, 0)
  final var list: [Int] = []
  var myself: Probe? { self }
  var next: Probe? {
    get { nil }
    set { first = newValue == nil ? 0 : 1 }
  }
}
