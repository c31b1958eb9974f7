import CKVORuntime
import Expectations
import Testing

/// B6: binding values that are not numbers of the runtime's, as operands.
@Suite struct OperandTests {
  @Test("B6: a binding's named operand is added up, compared and returned")
  func operands() {
    let ranks = [3, 1, 2].map { Sample.value($0, Sample.rank) }
    expectEqual(result(of: "@sum.self", ranks).number, 6)
    expectEqual(result(of: "@avg.self", ranks).number, Int(2.0.bitPattern))
    let greatest = result(of: "@max.self", ranks)
    expect(greatest.number == 3 && greatest.type == kvo_type_for_encoding("q", nil))
  }

  @Test("B6: a value with an order of its own is compared by it and added by its operand")
  func ordered() {
    let places = [3, 1, 2].map { Sample.value($0, Sample.place) }
    expectEqual(result(of: "@sum.self", places).number, 6)
    let best = result(of: "@max.self", places)
    expect(best.number == 1 && best.type == Sample.place)
  }

  @Test("B6: numbers that are rounded to the same one are compared by their own type")
  func rounded() {
    let sizes = [40, 41, 40, 39].map { Sample.value($0, Sample.coarse) }
    expectEqual(result(of: "@max.self", sizes).number, 41)
    expectEqual(result(of: "@min.self", sizes).number, 39)
  }

  @Test("B6: a binding adds numbers that only it can add, with other numbers and nil")
  func sums() {
    func amounts() -> [kvo_value] {
      [Sample.value(10, Sample.amount), Sample.value(4, Sample.amount)]
    }
    for sum in [
      result(of: "@sum.self", amounts() + [kvo_value_int(1), kvo_value()]),
      result(of: "@sum.self", [kvo_value_int(1), kvo_value()] + amounts()),
    ] { expect(sum.number == 15 && sum.type == Sample.amount) }
    let average = result(of: "@avg.self", amounts() + [kvo_value_int(2), kvo_value()])
    expect(average.number == 4 && average.type == Sample.amount)
  }

  @Test("B6: a binding adds the other numbers one by one, before and after its own")
  func exactSums() {
    // A binding that takes the integral part of each number shows whether it gets their sum.
    let numbers = [kvo_value_double(2.5), kvo_value_double(2.5)]
    for place in 0...2 {
      var all = numbers
      all.insert(Sample.value(10, Sample.amount), at: place)
      expectEqual(result(of: "@sum.self", all).number, 14)
      all[place] = Sample.value(11, Sample.amount)
      expectEqual(result(of: "@avg.self", all).number, 5)
    }
    let large = [Int64.max, 1, -2].map { kvo_value_int($0) }
    expectEqual(
      result(of: "@sum.self", large + [Sample.value(-10, Sample.amount)]).number, .max - 11)
  }

  @Test("B6: such a number is compared with other numbers if the binding can convert them")
  func orders() {
    let amount = Sample.value(10, Sample.amount)
    for values in [[amount, kvo_value_int(12)], [kvo_value_int(12), amount]] {
      expectEqual(result(of: "@max.self", values).number, 12)
      expect(result(of: "@min.self", values).type == Sample.amount)
    }
    for values in [[amount, kvo_value_int(-1)], [kvo_value_int(-1), amount]] {
      expect(result(of: "@max.self", values).number == nil)
    }
    let zero = Sample.value(0, Sample.amount)
    for values in [[amount, kvo_value_int(2000)], [kvo_value_int(2000), amount]] {
      expectEqual(result(of: "@max.self", values).number, 2000)
    }
    for values in [[zero, kvo_value_double(0.5)], [kvo_value_double(0.5), zero]] {
      expect(result(of: "@min.self", values).type == Sample.amount)
    }
  }

  @Test("B6: values of different types with equal equivalents are one value in a distinct union")
  func equivalents() {
    func all(_ numbers: some Sequence<Int>) -> [kvo_value] {
      numbers.flatMap { number in
        [Sample.written, Sample.exact].map { Sample.value(number, $0) }
          + [kvo_value_int(Int64(number / 10))]
      }
    }
    expectEqual(distinct(all([41])), 1)
    expectEqual(distinct(all(stride(from: 0, to: 200, by: 10))), 20)
    for types in [[Sample.exact, Sample.written], [Sample.written, Sample.exact]] {
      expectEqual(distinct(zip([41, 42], types).map { Sample.value($0, $1) }), 2)
    }
  }

  /// How many distinct values there are among these, which this function destroys.
  private func distinct(_ values: [kvo_value]) -> Int {
    withResult(of: "@distinctUnionOfObjects.self", values) { kvo_value_count($0) } ?? 0
  }

  /// The number that an operator computes from the values, which this function destroys.
  private func result(
    of path: String, _ values: [kvo_value]
  ) -> (number: Int?, type: UnsafePointer<kvo_type>?) {
    withResult(of: path, values) { (kvo_value_bytes($0)?.load(as: Int.self), $0.pointee.type) }
      ?? (nil, nil)
  }

  private func withResult<R>(
    of path: String, _ values: [kvo_value], _ body: (UnsafePointer<kvo_value>) -> R?
  ) -> R? {
    var values = values
    defer { for index in values.indices { kvo_value_destroy(&values[index]) } }
    let collection = kvo_collection_create(.KVO_ARRAY, values, values.count, nil)!
    var all = kvo_value_object(UnsafeMutablePointer(collection))
    defer { kvo_value_destroy(&all) }
    kvo_object_release(UnsafeMutablePointer(collection))
    var made = kvo_value()
    guard kvo_value_value_for_key_path(&all, path, &made, nil) == .KVO_OK else { return nil }
    defer { kvo_value_destroy(&made) }
    return body(&made)
  }
}

/// A binding's types whose values are integers in a form that the runtime does not know.
private enum Sample {
  nonisolated(unsafe) static let rank = make {
    $0.operand = { _, bytes, operand in
      operand.initialize(to: kvo_value_int(Int64(number(bytes))))
      return true
    }
  }
  /// The first place is the greatest.
  nonisolated(unsafe) static let place = make {
    $0.operand = { _, bytes, operand in
      operand.initialize(to: kvo_value_int(Int64(number(bytes))))
      return true
    }
    $0.compare = { _, left, right in Int32(clamping: number(right) - number(left)) }
  }
  /// Known to the runtime only to the ten.
  nonisolated(unsafe) static let coarse = make {
    $0.number = { _, bytes, found in
      found.initialize(to: kvo_value_int(Int64(number(bytes) / 10)))
      return true
    }
    $0.compare = { _, left, right in Int32(clamping: number(left) - number(right)) }
  }
  /// Converts only numbers that are not negative. Above 1000 they become -1, as decimal numbers become NaN.
  nonisolated(unsafe) static let amount = make {
    $0.add = { type, bytes, other, count, sum in
      let isOwn = other.pointee.type == type
      let rest = isOwn ? number(kvo_value_bytes(other)!) : Int(kvo_value_get_int(other))
      sum.initialize(to: value((number(bytes) + rest) / count, type))
      return true
    }
    $0.compare = { _, left, right in Int32(clamping: number(left) - number(right)) }
    $0.convert = { _, target, source in
      let converted = Int(kvo_value_get_int(source))
      if converted < 0 { return .KVO_TYPE_MISMATCH }
      target.storeBytes(of: converted > 1000 ? -1 : converted, as: Int.self)
      return .KVO_OK
    }
  }

  /// Equal to a number only to the ten.
  nonisolated(unsafe) static let exact = make {
    $0.equivalent = { _, bytes, equivalent in
      equivalent.initialize(to: kvo_value_int(Int64(number(bytes) / 10)))
      return true
    }
  }
  /// Equal to an exact number.
  nonisolated(unsafe) static let written = make {
    $0.equivalent = { _, bytes, equivalent in
      equivalent.initialize(to: value(number(bytes), exact))
      return true
    }
  }

  static func value(_ number: Int, _ type: UnsafePointer<kvo_type>) -> kvo_value {
    var (number, made) = (number, kvo_value())
    _ = kvo_value_init(&made, type, &number)
    return made
  }

  private static func number(_ bytes: UnsafeRawPointer) -> Int { bytes.load(as: Int.self) }

  // Never freed, like the types of a real binding.
  private static func make(
    _ fill: (inout kvo_type_operations) -> Void
  ) -> UnsafePointer<kvo_type> {
    let operations = UnsafeMutablePointer<kvo_type_operations>.allocate(capacity: 1)
    operations.initialize(to: kvo_type_operations())
    fill(&operations.pointee)
    let type = UnsafeMutablePointer<kvo_type>.allocate(capacity: 1)
    type.initialize(
      to: kvo_type(
        encoding: kvo_type_for_encoding("q", nil)!.pointee.encoding, size: 8, alignment: 8,
        kind: .KVO_KIND_BINDING, copy: nil, destroy: nil,
        equal: { Sample.number($1) == Sample.number($2) },
        describe: nil, binding: nil,
        operations: UnsafePointer(operations)))
    return UnsafePointer(type)
  }
}
