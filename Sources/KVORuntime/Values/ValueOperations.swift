internal import CKVORuntime

/// The C functions in the `kvo_type` of a Swift type: each calls the type's description. A type gets those
/// that belong to its abilities.
enum ValueOperations {
  private static let tables = LockedValue<[ValueType.Abilities: Table]>([:])

  // The core reads the table; it is never changed or freed.
  private struct Table: @unchecked Sendable {
    let operations: UnsafePointer<kvo_type_operations>
  }

  /// All types with the same abilities share a table, except collections, each of which has its own.
  static func table(
    for abilities: ValueType.Abilities, _ shape: CollectionShape?
  ) -> UnsafePointer<kvo_type_operations> {
    if let shape { return make(abilities, shape) }
    return tables.withLock { tables in
      if let known = tables[abilities] { return known.operations }
      let made = make(abilities, nil)
      tables[abilities] = Table(operations: made)
      return made
    }
  }

  /// Frees the table of a collection type.
  static func freeTable(_ operations: UnsafePointer<kvo_type_operations>) {
    operations.pointee.collection?.deallocate()
    operations.deallocate()
  }

  private static func make(
    _ abilities: ValueType.Abilities, _ shape: CollectionShape?
  ) -> UnsafePointer<kvo_type_operations> {
    let operations = UnsafeMutablePointer<kvo_type_operations>.allocate(capacity: 1)
    operations.initialize(to: Self.operations(abilities, shape?.makeOperations()))
    return UnsafePointer(operations)
  }

  private static func operations(
    _ abilities: ValueType.Abilities, _ collection: UnsafePointer<kvo_collection_operations>?
  ) -> kvo_type_operations {
    let wraps = abilities.contains(.wrapper)
    return kvo_type_operations(
      object: abilities.contains(.reference)
        ? reference : abilities.contains(.object) ? object : nil,
      number: abilities.contains(.number) ? number : nil,
      compare: abilities.contains(.order) ? order : nil,
      hash: abilities.contains(.hash) ? hash : nil,
      convert: convert,
      is_nil: wraps ? (abilities.contains(.reference) ? isNullReference : isNil) : nil,
      collection: collection,
      unwrap: wraps ? unwrap : nil,
      value_for_key: abilities.contains(.keyed) ? valueForKey : nil,
      values: abilities.isDisjoint(with: [.keyed, .mapped]) ? nil : values,
      operand: abilities.contains(.operand) ? operand : nil,
      add: abilities.contains(.sum) ? add : nil,
      equivalent: abilities.contains(.equivalent) ? equivalent : nil,
      detach: abilities.contains(.mutable) ? detach : nil,
      equal_other: equalOther)
  }
}

// MARK: Copying

extension ValueOperations {
  static let copy:
    @convention(c) (UnsafePointer<kvo_type>, UnsafeMutableRawPointer, UnsafeRawPointer) -> Void = {
      ValueType.of($0).copy($2, to: $1)
    }

  static let destroy: @convention(c) (UnsafePointer<kvo_type>, UnsafeMutableRawPointer) -> Void = {
    ValueType.of($0).destroy($1)
  }

  // The most common type with references. The compiler knows how it is copied.
  static let copyText:
    @convention(c) (UnsafePointer<kvo_type>, UnsafeMutableRawPointer, UnsafeRawPointer) -> Void = {
      let source = $2.assumingMemoryBound(to: String.self)
      $1.assumingMemoryBound(to: String.self).initialize(to: source.pointee)
    }

  static let destroyText:
    @convention(c) (UnsafePointer<kvo_type>, UnsafeMutableRawPointer) -> Void = {
      $1.assumingMemoryBound(to: String.self).deinitialize(count: 1)
    }

  static let equal:
    @convention(c) (UnsafePointer<kvo_type>, UnsafeRawPointer, UnsafeRawPointer) -> Bool = {
      ValueType.of($0).areEqual($1, $2)
    }

  static let describe:
    @convention(c) (
      UnsafePointer<kvo_type>, UnsafeRawPointer, UnsafeMutablePointer<CChar>, Int
    ) -> Int = {
      let value = ValueType.of($0).any(at: $1)
      return write(value.map { String(describing: $0) } ?? "nil", to: $2, capacity: $3)
    }
}

/// Writes like snprintf: at most `capacity` bytes including the NUL. Returns the length of the whole text.
func write(_ text: String, to buffer: UnsafeMutablePointer<CChar>, capacity: Int) -> Int {
  let bytes = text.utf8
  guard capacity > 0 else { return bytes.count }
  var end = buffer
  for byte in bytes.prefix(capacity - 1) {
    end.pointee = CChar(bitPattern: byte)
    end += 1
  }
  end.pointee = 0
  return bytes.count
}

// MARK: Single values

// The header is at a fixed offset from a Swift object, whatever its class.
private let reference:
  @convention(c) (UnsafePointer<kvo_type>, UnsafeRawPointer) -> UnsafeMutablePointer<kvo_object>? =
    { _, value in
      value.load(as: UnsafeMutableRawPointer?.self).map {
        ($0 + ObjectHeader.offset).assumingMemoryBound(to: kvo_object.self)
      }
    }

private let isNullReference: @convention(c) (UnsafePointer<kvo_type>, UnsafeRawPointer) -> Bool = {
  $1.load(as: UnsafeRawPointer?.self) == nil
}

private let object:
  @convention(c) (UnsafePointer<kvo_type>, UnsafeRawPointer) -> UnsafeMutablePointer<kvo_object>? =
    { ValueType.of($0).object(at: $1) }

private let number:
  @convention(c) (
    UnsafePointer<kvo_type>, UnsafeRawPointer, UnsafeMutablePointer<kvo_value>
  ) -> Bool = {
    $2.initialize(to: ValueType.of($0).number(at: $1))
    return true
  }

private let order:
  @convention(c) (UnsafePointer<kvo_type>, UnsafeRawPointer, UnsafeRawPointer) -> Int32 = {
    ValueType.of($0).order($1, $2)
  }

private let hash: @convention(c) (UnsafePointer<kvo_type>, UnsafeRawPointer) -> UInt64 = {
  UInt64(truncatingIfNeeded: ValueType.of($0).hash(at: $1))
}

private let isNil: @convention(c) (UnsafePointer<kvo_type>, UnsafeRawPointer) -> Bool = {
  ValueType.of($0).isNil(at: $1)
}

private let unwrap:
  @convention(c) (
    UnsafePointer<kvo_type>, UnsafeRawPointer, UnsafeMutablePointer<kvo_value>
  ) -> Void = { ValueType.of($0).read($1, into: $2) }

private let convert:
  @convention(c) (
    UnsafePointer<kvo_type>, UnsafeMutableRawPointer, UnsafePointer<kvo_value>
  ) -> kvo_status = {
    let type = ValueType.of($0)
    switch type.convert(ValueType.any(of: $2, for: type)) {
    case .value(let converted): type.initialize($1, to: converted)
    case .unexpectedNil: return .KVO_NIL_VALUE
    case .mismatch: return .KVO_TYPE_MISMATCH
    }
    return .KVO_OK
  }

private let valueForKey:
  @convention(c) (
    UnsafePointer<kvo_type>, UnsafeRawPointer, UnsafePointer<CChar>,
    UnsafeMutablePointer<kvo_value>, UnsafeMutablePointer<kvo_error>?
  ) -> kvo_status = { type, value, key, result, _ in
    ValueType.of(type).value(forKey: String(cString: key), at: value, into: result)
    return .KVO_OK
  }

private let operand:
  @convention(c) (
    UnsafePointer<kvo_type>, UnsafeRawPointer, UnsafeMutablePointer<kvo_value>
  ) -> Bool = { ValueType.of($0).operand(at: $1, into: $2) }

private let add:
  @convention(c) (
    UnsafePointer<kvo_type>, UnsafeRawPointer, UnsafePointer<kvo_value>, Int,
    UnsafeMutablePointer<kvo_value>
  ) -> Bool = { ValueType.of($0).add($1, ValueType.any(of: $2), over: $3, into: $4) }

private let equivalent:
  @convention(c) (
    UnsafePointer<kvo_type>, UnsafeRawPointer, UnsafeMutablePointer<kvo_value>
  ) -> Bool = { ValueType.of($0).equivalent(at: $1, into: $2) }

private let detach: @convention(c) (UnsafePointer<kvo_type>, UnsafeMutableRawPointer) -> Void = {
  ValueType.of($0).detach(at: $1)
}

private let equalOther:
  @convention(c) (
    UnsafePointer<kvo_type>, UnsafeRawPointer, UnsafePointer<kvo_value>
  ) -> Bool = {
    guard let value = ValueType.of($0).any(at: $1), let other = ValueType.any(of: $2) else {
      return false
    }
    return areEqualInEitherDirection(value, other)
  }

private let values:
  @convention(c) (
    UnsafePointer<kvo_type>, UnsafeRawPointer, UnsafeMutablePointer<kvo_value>
  ) -> Void = { ValueType.of($0).values(at: $1, into: $2) }
