import CFixtures
import CKVORuntime
import Expectations
import TestSupport
import Testing

/// B2's second half: converting a value to a property of another type.
@Suite(.recording) struct ConversionTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let key: String
    let value: Value
    let stored: String

    init(_ key: String, _ value: Value, _ stored: String) {
      self.key = key
      self.value = value
      self.stored = stored
    }

    var testDescription: String { "\(key) = \(value)" }
  }

  static let integers: [Case] = [
    Case("letter", .int(65), "65"), Case("letter", .bool(true), "1"),
    Case("int8", .int(127), "127"), Case("int8", .int(128), "-128"), Case("int8", .int(300), "44"),
    Case("int8", .double(-3.9), "-3"), Case("int8", .bool(true), "1"),
    Case("uint8", .int(-1), "255"), Case("uint8", .int(300), "44"),
    Case("uint8", .double(3.99), "3"),
    Case("int16", .int(40_000), "-25536"), Case("int16", .int(-1), "-1"),
    Case("uint16", .int(70_000), "4464"), Case("uint16", .double(65_535.5), "65535"),
    Case("int32", .int(3_000_000_000), "-1294967296"), Case("int32", .double(-2.5), "-2"),
    Case("uint32", .int(-1), "4294967295"), Case("uint32", .int(5_000_000_000), "705032704"),
    Case("int64", .int(.min), "-9223372036854775808"), Case("int64", .double(1e30), "\(Int64.max)"),
    Case("int64", .double(-1e30), "\(Int64.min)"),
    Case("int64", .double(.infinity), "\(Int64.max)"),
    Case("int64", .double(.nan), "0"), Case("int64", .double(0.99), "0"),
    Case("uint64", .int(-1), "\(UInt64.max)"),
    Case("uint64", .double(1e19), "10000000000000000000"),
    Case("uint64", .double(1e30), "\(UInt64.max)"), Case("uint64", .bool(true), "1"),
    Case("longest", .int(.max), "\(Int64.max)"), Case("ulongest", .int(.min), "\(UInt64(1) << 63)"),
  ]

  static let others: [Case] = [
    Case("flag", .bool(true), "true"), Case("flag", .int(0), "false"),
    Case("flag", .int(256), "true"),
    Case("flag", .double(0.5), "true"), Case("flag", .double(0), "false"),
    Case("flag", .double(.nan), "true"), Case("flag", .double(-0.0), "false"),
    Case("single", .double(0.1), "0.1"), Case("single", .int(16_777_217), "16777216.0"),
    Case("single", .double(1e300), "inf"), Case("single", .bool(true), "1.0"),
    Case("real", .int(3), "3.0"), Case("real", .bool(false), "0.0"),
    Case("real", .double(0.1), "0.1"),
    Case("real", .double(-.infinity), "-inf"), Case("real", .double(.nan), "nan"),
    Case("extended", .double(1.5), "1.5"), Case("extended", .int(-7), "-7.0"),
    Case("text", .string("grüße"), "grüße"), Case("text", .string(""), ""),
  ]

  @Test("D4: values and indexes that a change lacks read as null")
  func missing() {
    expect(
      !kvo_value_get_bool(nil) && kvo_value_get_int(nil) == 0 && kvo_value_get_double(nil) == 0)
    expect(kvo_value_get_string(nil) == nil && kvo_value_get_object(nil) == nil)
    expect(kvo_value_bytes(nil) == nil && kvo_value_is_nil(nil))
    var copy = kvo_value_int(1)
    expect(kvo_value_copy(&copy, nil) == .KVO_OK && kvo_value_is_nil(&copy))
    expect(kvo_index_set_count(nil) == 0 && kvo_index_set_range_count(nil) == 0)
    expect(!kvo_index_set_contains(nil, 0) && kvo_index_set_index(nil, 0) == notFound)
    expectEqual(kvo_index_set_range(nil, 0).length, 0)
  }

  @Test("B2: numbers convert as NSNumber's accessors do", arguments: integers + others)
  func conversion(_ sample: Case) {
    let object = make(scalars.self)
    defer { object.release() }
    expectEqual(set(object.object, sample.key, sample.value).status, .KVO_OK)
    expectEqual(read(object.object, sample.key), sample.stored)
  }

  @Test("B2: a value read from a key can be stored in it, for every type")
  func roundTrip() {
    let object = make(scalars.self)
    let copy = make(scalars.self)
    let other = make(tracked.self)
    defer {
      object.release()
      copy.release()
      other.release()
    }
    for key in scalarKeys { set(object.object, key, .int(1)) }
    scalars_setText(object, "text")
    scalars_setObject_(object, other)
    scalars_setPointer(object, address(4096))
    scalars_setColour(object, rgb(red: 1, green: 2, blue: 3))

    for key in scalarKeys + ["text", "object_", "pointer", "colour"] {
      var value = kvo_value()
      expectEqual(kvo_value_for_key(object.object, key, &value, nil), .KVO_OK)
      expectEqual(kvo_set_value_for_key(copy.object, key, &value, nil), .KVO_OK)
      expectEqual(read(copy.object, key), described(&value))
      kvo_value_destroy(&value)
    }
    expectEqual(copy.pointee.colour.blue, 3)
    expectEqual(copy.pointee.pointer, address(4096))
    expectEqual(copy.pointee.object_, other)
  }

  static let mismatches: [(String, Value)] = [
    ("real", .string("3")), ("flag", .string("true")), ("int32", .string("")),
    ("single", .point(1, 2)), ("text", .int(3)), ("text", .bool(true)), ("text", .point(1, 2)),
    ("object_", .int(3)), ("object_", .string("name")), ("colour", .point(1, 2)),
    ("colour", .int(0xFF0000)), ("pointer", .string("x")),
  ]

  @Test(
    "B2: any other mismatch is an error that names the key, and stores nothing",
    arguments: mismatches)
  func mismatch(_ key: String, _ value: Value) {
    let object = make(scalars.self)
    defer { object.release() }
    let log = Recorder()
    log.observe(object.object, key, .KVO_PRIOR)
    let before = read(object.object, key)
    let outcome = set(object.object, key, value)
    expectEqual(outcome.status, .KVO_TYPE_MISMATCH)
    expectEqual(outcome.className, "CScalars")
    expectEqual(outcome.key, key)
    expect(outcome.message.contains("CScalars") && outcome.message.contains(key))
    expectEqual(read(object.object, key), before)
    expectEqual(log.take(), [])
  }

  static let types: [(String, Value, String)] = [
    ("real", .string("3"), "double, not string"), ("flag", .string("true"), "bool, not string"),
    ("int32", .string(""), "int32_t, not string"), ("text", .int(3), "string, not int64_t"),
    ("text", .bool(true), "string, not bool"), ("object_", .int(3), "object, not int64_t"),
    ("pointer", .string("x"), "pointer, not string"),
  ]

  @Test(
    "B2: the error names the type that the key takes and the type it was given", arguments: types)
  func mismatchedTypes(_ key: String, _ value: Value, _ types: String) {
    let object = make(scalars.self)
    defer { object.release() }
    expect(set(object.object, key, value).message.hasSuffix("of CScalars takes \(types)."))
  }

  // MARK: Values

  static let equals: [(Value, Value, Bool)] = [
    (.int(1), .int(1), true), (.int(1), .double(1), true), (.int(1), .bool(true), true),
    (.int(1), .int(2), false), (.double(0.5), .int(0), false), (.int(.max), .double(9.3e18), false),
    (.string("a"), .string("a"), true), (.string("a"), .string("b"), false),
    (.string("1"), .int(1), false), (.nil, .nil, true), (.nil, .int(0), false),
    (.string(""), .nil, false), (.point(1, 2), .point(1, 2), true),
    (.point(1, 2), .point(2, 1), false),
  ]

  @Test("B2: numbers are equal by value, others by type and contents", arguments: equals)
  func equality(_ first: Value, _ second: Value, _ equal: Bool) {
    first.withValue { a in
      second.withValue { b in
        expectEqual(kvo_value_equal(a!, b!), equal)
        expectEqual(kvo_value_equal(b!, a!), equal)
      }
    }
  }

  @Test(
    "B2: a value copied outlives its original",
    arguments: [
      Value.int(3), .double(2.5), .bool(true), .string("a long enough string to be no inline one"),
      .point(3, 4), .nil,
    ])
  func copying(_ value: Value) {
    var copy = kvo_value()
    let before = value.withValue { original in
      expectEqual(kvo_value_copy(&copy, original!), .KVO_OK)
      return described(original)
    }
    expectEqual(described(&copy), before)
    kvo_value_destroy(&copy)
    expect(kvo_value_is_nil(&copy))
    kvo_value_destroy(&copy)
  }

  @Test("B2: a value too large to be stored inline is kept whole")
  func largeStruct() throws {
    let type = try require(kvo_type_for_encoding("{large=[9d]}", nil))
    expectEqual(type.pointee.size, 72)
    let numbers = (0..<9).map { Double($0) * 1.5 }
    var value = kvo_value()
    var copy = kvo_value()
    expectEqual(kvo_value_init(&value, type, numbers), .KVO_OK)
    expectEqual(kvo_value_copy(&copy, &value), .KVO_OK)
    kvo_value_destroy(&value)
    let bytes = try require(kvo_value_bytes(&copy))
    expectEqual((0..<9).map { bytes.load(fromByteOffset: $0 * 8, as: Double.self) }, numbers)
    kvo_value_destroy(&copy)
  }

  @Test("B2: a value retains its object")
  func objectIsRetained() {
    let deaths = Deaths()
    let object = deaths.make()
    var value = kvo_value_object(object.object)
    object.release()
    expectEqual(deaths.count, 0)
    expectEqual(kvo_value_get_object(&value), object.object)
    kvo_value_destroy(&value)
    expectEqual(deaths.count, 1)
  }

  @Test("B2: reading a value as another type gives zero or NULL")
  func readingAsOther() {
    Value.string("12").withValue {
      expectEqual(kvo_value_get_int($0!), 0)
      expectEqual(kvo_value_get_double($0!), 0)
      expect(!kvo_value_get_bool($0!))
      expect(kvo_value_get_object($0!) == nil)
    }
    Value.int(12).withValue { expect(kvo_value_get_string($0!) == nil) }
    Value.nil.withValue { expect(kvo_value_get_int($0!) == 0 && kvo_value_get_string($0!) == nil) }
  }

  @Test("B2: a conversion that fails leaves nil")
  func failedConversion() throws {
    let double = try require(kvo_type_for_encoding("d", nil))
    var target = kvo_value()
    Value.string("3").withValue {
      expectEqual(kvo_value_convert(&target, double, $0!), .KVO_TYPE_MISMATCH)
    }
    expect(kvo_value_is_nil(&target))
    Value.int(3).withValue { expectEqual(kvo_value_convert(&target, double, $0!), .KVO_OK) }
    expectEqual(described(&target), "3.0")
    kvo_value_destroy(&target)
  }

  @Test("B2: a description is truncated to the buffer and always terminated")
  func describing() {
    Value.string("abcdefgh").withValue { value in
      var buffer = [CChar](repeating: 1, count: 4)
      let whole = kvo_value_describe(value!, &buffer, buffer.count)
      expect(whole >= 8)
      expect(buffer[3] == 0 && !buffer[..<3].contains(0))
      expectEqual(kvo_value_describe(value!, &buffer, 0), whole)
    }
  }
}
