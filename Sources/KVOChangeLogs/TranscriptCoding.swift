internal import KVORuntime

// Encodes and decodes transcripts. The log's classes supply the types of the values.

extension ChangeLog.Transcript: Codable {
  /// Encodes the records in an unkeyed container.
  ///
  /// - Throws: The error of encoding a value.
  public func encode(to encoder: any Encoder) throws {
    var lines = encoder.unkeyedContainer()
    for line in self.lines { try lines.encode(line) }
  }

  /// Decodes a transcript with the log that the decoder's `userInfo` has for `ChangeLog.userInfoKey`.
  ///
  /// - Throws: `ChangeLogError.noLog` if there is no log; `ChangeLogError.unknownKey` for a key that the log
  ///   does not record; the errors of the decoder.
  public init(from decoder: any Decoder) throws {
    guard let log = decoder.userInfo[ChangeLog.userInfoKey] as? ChangeLog else {
      throw ChangeLogError.noLog
    }
    var lines: [TranscriptLine] = []
    var encoded = try decoder.unkeyedContainer()
    while !encoded.isAtEnd {
      lines.append(try TranscriptLine(from: encoded.superDecoder(), log.selection))
    }
    self.lines = lines
  }
}

extension TranscriptLine: Encodable {
  private enum CodingKeys: CodingKey {
    case number, className, key, kind, ranges, old, new, joined, cause, group
  }

  func encode(to encoder: any Encoder) throws {
    var line = encoder.container(keyedBy: CodingKeys.self)
    try line.encode(number, forKey: .number)
    try line.encode(className, forKey: .className)
    try line.encode(key, forKey: .key)
    try line.encode(kind.rawValue, forKey: .kind)
    try line.encodeIfPresent(ranges, forKey: .ranges)
    try line.encode(old, forKey: .old)
    try line.encode(new, forKey: .new)
    try line.encode(joined, forKey: .joined)
    try line.encode(cause, forKey: .cause)
    try line.encode(group, forKey: .group)
  }

  fileprivate init(from decoder: any Decoder, _ selection: RecordedSelection) throws {
    let line = try decoder.container(keyedBy: CodingKeys.self)
    number = try line.decode(Int.self, forKey: .number)
    className = try line.decode(String.self, forKey: .className)
    key = try line.decode(String.self, forKey: .key)
    ranges = try line.decodeIfPresent([Range<Int>].self, forKey: .ranges)
    cause = try line.decode(ChangeLog.Cause.self, forKey: .cause)
    group = try line.decode(Int.self, forKey: .group)
    guard let kind = KeyValueChange(rawValue: try line.decode(UInt.self, forKey: .kind)) else {
      throw DecodingError.dataCorruptedError(
        forKey: .kind, in: line, debugDescription: "There is no such kind of change.")
    }
    self.kind = kind
    guard ranges?.contains(where: { $0.lowerBound < 0 }) != true else {
      throw DecodingError.dataCorruptedError(
        forKey: .ranges, in: line, debugDescription: "An index is not negative.")
    }
    let type = try selection.codedKey(key, className)
    old = try TranscriptValue(from: line.superDecoder(forKey: .old), type)
    new = try TranscriptValue(from: line.superDecoder(forKey: .new), type)
    var joined: [Joined] = []
    var encoded = try line.nestedUnkeyedContainer(forKey: .joined)
    while !encoded.isAtEnd { joined.append(try Joined(from: encoded.superDecoder(), selection)) }
    self.joined = joined
  }
}

extension TranscriptLine.Joined: Encodable {
  private enum CodingKeys: CodingKey { case number, className, values }

  // The limit leaves numbers for objects that join later, whatever a transcript contains.
  private static let numbers = 1...Int.max / 2

  func encode(to encoder: any Encoder) throws {
    var joined = encoder.container(keyedBy: CodingKeys.self)
    try joined.encode(number, forKey: .number)
    try joined.encode(className, forKey: .className)
    try joined.encode(values, forKey: .values)
  }

  fileprivate init(from decoder: any Decoder, _ selection: RecordedSelection) throws {
    let joined = try decoder.container(keyedBy: CodingKeys.self)
    number = try joined.decode(Int.self, forKey: .number)
    guard Self.numbers.contains(number) else {
      throw DecodingError.dataCorruptedError(
        forKey: .number, in: joined, debugDescription: "No object has such a number.")
    }
    className = try joined.decode(String.self, forKey: .className)
    var values: [NamedValue] = []
    var encoded = try joined.nestedUnkeyedContainer(forKey: .values)
    while !encoded.isAtEnd {
      values.append(try NamedValue(from: encoded.superDecoder(), selection, className))
    }
    self.values = values
  }
}

extension NamedValue: Encodable {
  private enum CodingKeys: CodingKey { case key, value }

  func encode(to encoder: any Encoder) throws {
    var named = encoder.container(keyedBy: CodingKeys.self)
    try named.encode(key, forKey: .key)
    try named.encode(value, forKey: .value)
  }

  fileprivate init(
    from decoder: any Decoder, _ selection: RecordedSelection, _ className: String
  ) throws {
    let named = try decoder.container(keyedBy: CodingKeys.self)
    key = try named.decode(String.self, forKey: .key)
    let type = try selection.codedKey(key, className)
    value = try TranscriptValue(from: named.superDecoder(forKey: .value), type)
  }
}

extension TranscriptValue: Encodable {
  private enum CodingKeys: CodingKey { case value, object, objects }

  func encode(to encoder: any Encoder) throws {
    var encoded = encoder.container(keyedBy: CodingKeys.self)
    switch self {
    case .nothing: break
    case .value(let value): try encoded.encode(value, forKey: .value)
    case .object(let number): try encoded.encode(number, forKey: .object)
    case .objects(let numbers): try encoded.encode(numbers, forKey: .objects)
    }
  }

  fileprivate init(from decoder: any Decoder, _ key: RecordedKey) throws {
    let encoded = try decoder.container(keyedBy: CodingKeys.self)
    if let number = try encoded.decodeIfPresent(Int.self, forKey: .object) {
      self = .object(number)
    } else if let numbers = try encoded.decodeIfPresent([Int].self, forKey: .objects) {
      self = .objects(numbers)
    } else if encoded.contains(.value), let type = key.decodedType {
      self = .value(try Self.decode(type, encoded))
    } else {
      self = .nothing
    }
  }

  private static func decode<Value: Codable>(
    _ type: Value.Type, _ encoded: KeyedDecodingContainer<CodingKeys>
  ) throws -> any Encodable {
    try encoded.decode(type, forKey: .value)
  }
}

extension RecordedKey {
  /// The type by which values of the key are decoded; nil if it is not Codable.
  var decodedType: (any Codable.Type)? {
    unwrapped(valueType) as? any Codable.Type
  }
}

extension RecordedSelection {
  /// A key with only its types: no object has determined its setter yet.
  fileprivate func codedKey(_ key: String, _ className: String) throws -> RecordedKey {
    guard let type = type(named: className), let property = KVOClass.of(type).property(key) else {
      throw ChangeLogError.unknownKey(key: key, className: className)
    }
    return RecordedKey(key, property.name, property, nil)
  }
}
