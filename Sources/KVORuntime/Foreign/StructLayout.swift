internal import CSwiftRuntime

// Finds out whether a Swift type and a C struct have the same scalars at the same offsets. An encoding
// describes the C struct, field metadata the Swift struct or tuple.

/// The scalars of a struct and their offsets.
struct StructLayout {
  /// A scalar type of C. Integers of one size are the same, whether signed or not.
  enum Scalar: Equatable {
    case integer(size: Int)
    case truth
    case real(size: Int)
    case pointer
  }
  struct Place: Equatable {
    let offset: Int
    let scalar: Scalar
  }

  private(set) var places: [Place] = []

  /// Whether a Swift type may be used to read and write memory of this layout. An imported struct may have no
  /// metadata of its fields; then only its size is compared.
  func matches(_ type: Any.Type) -> Bool {
    var other = StructLayout()
    guard let isKnown = other.add(type, at: 0) else { return false }
    return !isKnown
      || places.count == other.places.count && zip(places, other.places).allSatisfy(Self.agree)
  }

  // An integer that is as wide as a pointer may hold one. A C `bool` may be read as a byte, but not the
  // reverse, since a `Bool` has only two valid values.
  private static func agree(_ c: Place, _ swift: Place) -> Bool {
    guard c.offset == swift.offset else { return false }
    switch (c.scalar, swift.scalar) {
    case (.pointer, .integer(let size)): return size == MemoryLayout<UInt>.size
    case (.truth, .integer(let size)): return size == 1
    default: return c.scalar == swift.scalar
    }
  }
}

// MARK: Swift types

extension StructLayout {
  private static let scalars: [ObjectIdentifier: Scalar] = [
    ObjectIdentifier(Bool.self): .truth, ObjectIdentifier(Float.self): .real(size: 4),
    ObjectIdentifier(Double.self): .real(size: 8), ObjectIdentifier(OpaquePointer.self): .pointer,
    ObjectIdentifier(OpaquePointer?.self): .pointer,
  ]

  private static func scalar(_ type: Any.Type) -> Scalar? {
    if let known = scalars[ObjectIdentifier(type)] { return known }
    if let integer = type as? any FixedWidthInteger.Type {
      return .integer(size: integer.bitWidth / 8)
    }
    let content = unwrapped(type)
    if content is any _Pointer.Type { return .pointer }
    #if arch(x86_64)
      if type == Float80.self { return .real(size: 16) }
    #endif
    return nil
  }

  // Returns nil if the type contains something that no C struct does, false if its content is unknown.
  private mutating func add(_ type: Any.Type, at offset: Int) -> Bool? {
    if let scalar = Self.scalar(type) {
      places.append(Place(offset: offset, scalar: scalar))
      return true
    }
    let metadata = unsafeBitCast(type, to: UnsafeRawPointer.self)
    guard kvo_swift_is_aggregate(metadata) else { return nil }
    let count = kvo_swift_field_count(metadata)
    // A type of size 0 has nothing to compare.
    var isKnown = count > 0 || Self.size(type) == 0
    for index in 0..<count {
      guard let field = Self.fieldType(metadata, index),
        let isFieldKnown = add(field, at: offset + kvo_swift_field_offset(metadata, index))
      else { return nil }
      isKnown = isKnown && isFieldKnown
    }
    return isKnown
  }

  private static func size<Value>(_: Value.Type) -> Int { MemoryLayout<Value>.size }

  private static func fieldType(_ metadata: UnsafeRawPointer, _ index: Int) -> Any.Type? {
    var field = kvo_swift_field()
    defer { field.free_name?(field.name) }
    return kvo_swift_field_type(metadata, index, &field).map {
      unsafeBitCast($0, to: Any.Type.self)
    }
  }
}

// MARK: C types

extension StructLayout {
  /// Parses an encoding that the C runtime accepted; nil if it contains a type that Swift lacks.
  init?(encoding: String) {
    var rest = encoding.utf8[...]
    guard add(&rest, at: 0) != nil else { return nil }
  }

  /// Adds the type at the beginning of the encoding, at the next aligned offset. Returns its end and its
  /// alignment.
  private mutating func add(
    _ rest: inout Substring.UTF8View, at start: Int
  ) -> (end: Int, alignment: Int)? {
    guard let first = rest.popFirst() else { return nil }
    switch Character(UnicodeScalar(first)) {
    case "{": return addStruct(&rest, at: start)
    case "[": return addArray(&rest, at: start)
    case "B": return add(.truth, 1, at: start)
    case "c", "C": return add(.integer(size: 1), 1, at: start)
    case "s", "S": return add(.integer(size: 2), 2, at: start)
    case "i", "I": return add(.integer(size: 4), 4, at: start)
    case "l", "L", "q", "Q": return add(.integer(size: 8), 8, at: start)
    case "f": return add(.real(size: 4), 4, at: start)
    case "d": return add(.real(size: 8), 8, at: start)
    case "D": return add(.real(size: 16), 16, at: start)
    case "*", "@", ":", "#": return add(.pointer, 8, at: start)
    case "^":
      var pointee = StructLayout()
      _ = pointee.add(&rest, at: 0)
      return add(.pointer, 8, at: start)
    case "v": return (start, 1)
    default: return nil
    }
  }

  private mutating func add(
    _ scalar: Scalar, _ size: Int, at start: Int
  ) -> (end: Int, alignment: Int) {
    let offset = Self.align(start, to: size)
    places.append(Place(offset: offset, scalar: scalar))
    return (offset + size, size)
  }

  private static func align(_ offset: Int, to alignment: Int) -> Int {
    (offset + alignment - 1) / alignment * alignment
  }

  // Members are laid out from offset 0, and then moved to the struct's aligned offset.
  private mutating func addStruct(
    _ rest: inout Substring.UTF8View, at start: Int
  ) -> (end: Int, alignment: Int)? {
    if let equals = rest.firstIndex(where: { $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: "}") }),
      rest[equals] == UInt8(ascii: "=")
    {
      rest = rest[rest.index(after: equals)...]
    }
    var (inner, end, alignment) = (StructLayout(), 0, 1)
    while let next = rest.first, next != UInt8(ascii: "}") {
      guard let member = inner.add(&rest, at: end) else { return nil }
      end = member.end
      alignment = max(alignment, member.alignment)
    }
    guard rest.popFirst() != nil else { return nil }
    return append(inner, Self.align(end, to: alignment), alignment, at: start)
  }

  private mutating func append(
    _ inner: StructLayout, _ size: Int, _ alignment: Int, at start: Int
  ) -> (end: Int, alignment: Int) {
    let offset = Self.align(start, to: alignment)
    places += inner.places.map { Place(offset: offset + $0.offset, scalar: $0.scalar) }
    return (offset + size, alignment)
  }

  private mutating func addArray(
    _ rest: inout Substring.UTF8View, at start: Int
  ) -> (end: Int, alignment: Int)? {
    let digits = rest.prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
    guard let count = Int(Substring(digits)) else { return nil }
    rest = rest[digits.endIndex...]
    let element = rest
    var (end, alignment) = (start, 1)
    for index in 0..<max(count, 1) {
      rest = element
      var one = StructLayout()
      guard let placed = index < count ? add(&rest, at: end) : one.add(&rest, at: end) else {
        return nil
      }
      (end, alignment) = (placed.end, max(alignment, placed.alignment))
    }
    guard rest.popFirst() == UInt8(ascii: "]") else { return nil }
    return (end, alignment)
  }
}
