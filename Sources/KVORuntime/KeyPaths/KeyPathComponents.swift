internal import CSwiftRuntime

/// The components of a key path, one after the other, up to the first that can't be told.
///
/// They lie in the key path object, behind its own words: a 32-bit header for each, of which the kind
/// is a part, what that kind needs, and between two components the type of the value that the one
/// gives and the next begins with. None of this is documented, hence the check; where it fails every
/// key path is one of which nothing is known.
struct KeyPathComponents: Sequence, IteratorProtocol {
  enum Component: Equatable {
    /// A property that is known by its getter; nil if it is known in another way.
    case computed(UnsafeRawPointer?)
    /// A stored property of a class.
    case stored(offset: Int)
    /// From an optional to what it wraps, or back.
    case optional
    /// A stored property of a struct, an element of a tuple.
    case part
  }

  /// Whether a component has been met that has arguments, as a subscript has.
  private(set) var hasArguments = false
  /// Whether other components follow those arguments.
  private(set) var goesOnBehindArguments = false
  /// How the last component is read, if it is computed.
  private(set) var getter: KeyPathGetter?
  /// The type of the last component's value; nil for the key path's own, at its end.
  private(set) var valueType: Any.Type?
  private var place: UnsafeRawPointer
  private var end: UnsafeRawPointer

  private init(unchecked keyPath: AnyKeyPath) {
    let object = UnsafeRawPointer(Unmanaged.passUnretained(keyPath).toOpaque())
    place = object + 32
    end = place + Int(object.load(fromByteOffset: 24, as: UInt32.self) & 0x00ff_ffff)
  }

  /// Nil where key paths are not what was assumed. The key path must be kept meanwhile.
  init?(_ keyPath: AnyKeyPath) {
    guard KeyPathComponents.areKnown else { return nil }
    self.init(unchecked: keyPath)
  }

  var isAtEnd: Bool { place >= end }

  mutating func next() -> Component? {
    guard !isAtEnd else { return nil }
    let header = place.load(as: UInt32.self)
    place += 4
    getter = nil
    valueType = nil
    let component = read(header)
    guard !isAtEnd else { return component }
    // The type that the next one begins with.
    let type = place.alignedUp(toMultipleOf: 8)
    valueType = type.load(as: Any.Type.self)
    place = type + 8
    return component
  }

  private mutating func read(_ header: UInt32) -> Component? {
    switch header >> 24 & 0x7f {
    case 1:
      _ = offset(header)
      return .part
    case 2: return computed(header)
    case 3: return .stored(offset: offset(header))
    case 4: return .optional
    default: return stop()
    }
  }

  // An offset that has no room in the header follows it.
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
    let function = words.load(fromByteOffset: 8, as: UnsafeRawPointer.self)
    place = words + (header & 0x0040_0000 == 0 ? 16 : 24)
    getter = KeyPathGetter(function: function, arguments: place, size: 0)
    guard header & 0x0008_0000 != 0 else { return component }
    // Types of generic code are arguments as well. Where the others end is not told.
    let size = place.load(as: Int.self)
    let witnesses = place.load(fromByteOffset: 8, as: UnsafeRawPointer?.self)
    guard size == 0 || witnesses == kvo_swift_generic_witnesses() else {
      // A type and a header are the least that another component takes.
      goesOnBehindArguments = (place + 16 + size).alignedUp(toMultipleOf: 8) + 8 < end
      return stop()
    }
    getter = KeyPathGetter(function: function, arguments: place + 16, size: size)
    place += 16 + size
    return component
  }

  private mutating func stop() -> Component? {
    hasArguments = true
    place = end
    return nil
  }
}

/// The function by which a key path reads a computed property. Lives as long as the key path.
struct KeyPathGetter {
  fileprivate let function: UnsafeRawPointer
  /// The types of generic code.
  fileprivate let arguments: UnsafeRawPointer
  fileprivate let size: Int

  /// Where the function is, which may serve several properties of one code.
  var address: UnsafeRawPointer { function }

  /// The property's value, which is of that type.
  func value(of object: AnyObject, as type: Any.Type) -> Any {
    func read<Value>(_ type: Value.Type) -> Any {
      withUnsafeTemporaryAllocation(of: type, capacity: 1) { value in
        withUnsafePointer(to: object) {
          kvo_swift_read_by_key_path(function, value.baseAddress!, $0, arguments, size)
        }
        return value.moveElement(from: 0)
      }
    }
    return _openExistential(type, do: read)
  }
}

extension AnyKeyPath {
  /// Whether key paths like this one may differ in arguments, which are the program's values. Not known
  /// where key paths are not what was assumed.
  var mayHaveArguments: Bool {
    guard var components = KeyPathComponents(self) else { return false }
    while components.next() != nil {}
    return components.hasArguments
  }

  /// Whether the standard library makes a key path of it, of another root, that can be compared and hashed: not
  /// where it has several components, one with arguments.
  var canBeRerooted: Bool {
    guard var components = KeyPathComponents(self) else { return true }
    var count = 0
    while components.next() != nil { count += 1 }
    return !components.hasArguments || count == 0 && !components.goesOnBehindArguments
  }

  /// Whether this key path names a single property, by a number among those of its kind.
  var isByNumber: Bool {
    guard var components = KeyPathComponents(self) else { return false }
    return components.next() == .computed(nil) && components.isAtEnd
  }
}

// MARK: The check

extension KeyPathComponents {
  private static let areKnown: Bool = {
    let path = all(\Probe.next?.second)
    guard path.count == 4, case .computed(let getter?) = path[0],
      case .stored(let offset) = path[2], path[1] == .optional, path[3] == .optional
    else { return false }
    let probe = Probe()
    let address = UnsafeMutableRawPointer(Unmanaged.passUnretained(probe).toOpaque()) + offset
    return withUnsafeMutablePointer(to: &probe.second) { address == $0 }
      && all(\Probe.next) == [.computed(getter)]
      && all(\Probe.pair.1) == [.stored(offset: offset + 8), .part]
      && all(\Probe.list.count).count == 2 && all(\Probe.list[0]).count == 1
      && areGettersKnown(by: probe)
  }()

  private static func areGettersKnown(by probe: Probe) -> Bool {
    let path = \Probe.myself?.second
    var components = KeyPathComponents(unchecked: path)
    return withExtendedLifetime(path) {
      guard case .computed = components.next(), let getter = components.getter,
        components.valueType == Probe?.self
      else { return false }
      return getter.value(of: probe, as: Probe?.self) as? Probe === probe
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
