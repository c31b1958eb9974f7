import CFixtures
import CKVORuntime
import Expectations
import TestSupport
import Testing

/// Values: their descriptions, and where the bytes of unusual types are stored.
@Suite(.recording) struct ValueTextTests {
  @Test("scalars are described with the fewest digits that distinguish them")
  func scalarText() {
    let object = make(scalars.self)
    defer { object.release() }
    let samples: [(key: String, value: Value, text: String)] = [
      ("flag", .bool(true), "true"), ("letter", .int(65), "65"), ("int8", .int(-128), "-128"),
      ("uint8", .int(255), "255"), ("int16", .int(-32768), "-32768"),
      ("uint16", .int(65535), "65535"), ("int32", .int(-7), "-7"),
      ("uint32", .int(4_294_967_295), "4294967295"), ("int64", .int(.min), "\(Int64.min)"),
      ("uint64", .int(-1), "\(UInt64.max)"), ("single", .double(0.1), "0.1"),
      ("real", .double(0.1), "0.1"), ("real", .double(1.0 / 3), "0.3333333333333333"),
      ("extended", .double(2.5), "2.5"), ("text", .string("a b"), "\"a b\""), ("text", .nil, "nil"),
      ("object_", .nil, "nil"),
    ]
    for sample in samples {
      expectEqual(set(object.object, sample.key, sample.value).status, .KVO_OK)
      expectEqual(description(of: sample.key, in: object.object), sample.text)
    }
    scalars_setColour(object, rgb(red: 1, green: 2, blue: 3))
    expectEqual(description(of: "colour", in: object.object), "rgb{1, 2, 3}")
    scalars_setPointer(object, address(0xABC))
    expectEqual(description(of: "pointer", in: object.object), "0xabc")
  }

  @Test("structs are described with their members, arrays and strings inside")
  func structText() {
    let crew = Crew()
    let ada = crew.make()
    worker_setGrid(ada, grid(cells: (1, 2, 3, 4, 5, 6, 7, 8, 9)))
    expectEqual(
      description(of: "grid", in: ada.object), "grid{[1, 2, 3, 4, 5, 6, 7, 8, 9]}")
    expectEqual(description(of: "pin", in: ada.object), "badge{nil, 0}")
    "x".withCString { text in
      ada.pointee.pin = badge(text: text, number: 4)
      expectEqual(description(of: "pin", in: ada.object), "badge{\"x\", 4}")
    }
    crew.end()
  }

  @Test("a description is truncated to the buffer, and returns its full length")
  func cutText() {
    let crew = Crew()
    let ada = crew.make()
    worker_setGrid(ada, grid(cells: (1, 2, 3, 4, 5, 6, 7, 8, 9)))
    var value = kvo_value()
    expectEqual(kvo_value_for_key(ada.object, "grid", &value, nil), .KVO_OK)
    for capacity in 0...40 {
      let (text, length) = described(&value, capacity: capacity)
      expectEqual(length, 33)
      expectEqual(text, String("grid{[1, 2, 3, 4, 5, 6, 7, 8, 9]}".prefix(max(capacity - 1, 0))))
    }
    kvo_value_destroy(&value)
    crew.end()
  }

  @Test("a value that a change lacks is described like nil, at any capacity")
  func noText() {
    for capacity in 0...5 {
      let (text, length) = described(nil, capacity: capacity)
      expect(length == 3 && text == String("nil".prefix(max(capacity - 1, 0))))
    }
  }

  @Test("an object is described by its class, a type without a description by its name")
  func otherText() {
    let crew = Crew()
    let ada = crew.make()
    worker_setBoss(ada, ada)
    expectEqual(description(of: "boss", in: ada.object)?.hasPrefix("<CWorker: 0x"), true)
    worker_setBoss(ada, nil)
    let plain = makeType(size: 4, alignment: 4)
    defer { plain.deallocate() }
    var value = kvo_value()
    expectEqual(kvo_value_init(&value, plain, [UInt8](repeating: 7, count: 4)), .KVO_OK)
    expectEqual(described(&value).text, "<Bytes>")
    kvo_value_destroy(&value)
    crew.end()
  }

  @Test("values of a binding's type are stored with its alignment, however large")
  func alignment() {
    for (size, alignment) in [(8, 8), (24, 16), (32, 32), (16, 64), (200, 128)] {
      let type = makeType(size: size, alignment: alignment)
      defer { type.deallocate() }
      let bytes = (0..<size).map { UInt8($0) }
      var value = kvo_value()
      expectEqual(kvo_value_init(&value, type, bytes), .KVO_OK)
      var copy = kvo_value()
      expectEqual(kvo_value_copy(&copy, &value), .KVO_OK)
      kvo_value_destroy(&value)
      let stored = kvo_value_bytes(&copy)!
      expectEqual(UInt(bitPattern: stored) % UInt(alignment), 0)
      expectEqual(Array(UnsafeRawBufferPointer(start: stored, count: size)), bytes)
      kvo_value_destroy(&copy)
      expect(kvo_value_bytes(&copy) == nil)
    }
  }
}

/// A binding's type of plain bytes, to be deallocated after its values.
private func makeType(size: Int, alignment: Int) -> UnsafeMutablePointer<kvo_type> {
  let made = UnsafeMutablePointer<kvo_type>.allocate(capacity: 1)
  made.initialize(
    to: kvo_type(
      encoding: kvo_key_intern("Bytes")!, size: size, alignment: alignment,
      kind: .KVO_KIND_BINDING, copy: nil, destroy: nil, equal: nil, describe: nil, binding: nil,
      operations: nil))
  return made
}

private func description(of key: String, in object: CObject) -> String? {
  var value = kvo_value()
  guard kvo_value_for_key(object, key, &value, nil) == .KVO_OK else { return nil }
  defer { kvo_value_destroy(&value) }
  return described(&value).text
}

private func described(
  _ value: UnsafePointer<kvo_value>?, capacity: Int = 200
) -> (text: String, length: Int) {
  var buffer = [CChar](repeating: 0, count: capacity + 1)
  let length = kvo_value_describe(value, &buffer, capacity)
  let text = buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:))
  return (String(decoding: text, as: UTF8.self), length)
}
