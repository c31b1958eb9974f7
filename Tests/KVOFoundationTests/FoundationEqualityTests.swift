import Expectations
import Foundation
import KVOFoundation
import KVORuntime
import TestScopes
import Testing

/// B6: values of Foundation's types equal those of Swift's, for the operators of distinct values.
@Suite(.leakFree) struct FoundationEqualityTests {
  private func distinct(_ values: [Any]) throws -> [Any] {
    let rows = values.map { ["id": $0] }
    return try require(rows.value(forKeyPath: "@distinctUnionOfObjects.id") as? [Any])
  }

  static var alike: [[Any]] {
    [
      [1, NSNumber(value: 1), 1.0, Decimal(1), NSDecimalNumber(value: 1), true, Int8(1)],
      [0.5, NSNumber(value: 0.5), Float(0.5), Decimal(0.5), NSDecimalNumber(value: 0.5)],
      [0.1, NSNumber(value: 0.1), Decimal(string: "0.1")!, NSDecimalNumber(string: "0.1")],
      [
        UInt64.max, NSNumber(value: UInt64.max), Decimal(UInt64.max),
        NSDecimalNumber(decimal: Decimal(UInt64.max)),
      ],
      [
        UInt64(12_345_678_901_234_567_890), Decimal(string: "12345678901234567890.0")!,
        Decimal(
          sign: .plus, exponent: -1, significand: Decimal(string: "123456789012345678900")!),
      ],
      [Double.nan, NSNumber(value: Double.nan), Decimal.nan, NSDecimalNumber.notANumber],
      ["a", NSString("a"), NSMutableString("a")],
      [Date.distantPast, Date.distantPast as NSDate],
      [[1], [NSNumber(value: 1)], [Decimal(1)], NSArray(array: [NSDecimalNumber(value: 1)])],
    ]
  }

  @Test(
    "B6: equal values of any types are one value in a distinct union", arguments: 0..<alike.count)
  func equal(_ index: Int) throws {
    let values = Self.alike[index]
    for first in values {
      for second in values { expectEqual(try distinct([first, second]).count, 1) }
    }
    // More values than are compared one by one are found by their hashes.
    let numbers = (100..<120).map { $0 as Any }
    expectEqual(try distinct(numbers + values).count, 21)
    expectEqual(try distinct(values + numbers + values.reversed()).count, 21)
  }

  @Test("B6: values that differ stay apart, whatever their types and numbers of digits")
  func different() throws {
    let digits = Decimal(string: "0.10000000000000000001")!
    let apart: [[Any]] = [
      [1, NSNumber(value: 2), Decimal(3), NSDecimalNumber(value: 4), "1", NSString("2"), Date()],
      [Decimal(string: "0.1")!, NSDecimalNumber(decimal: digits)],
      [NSDecimalNumber(string: "0.1"), digits],
      [0.1, NSNumber(value: Float(0.1))],
      [Int64.max, NSDecimalNumber(decimal: Decimal(UInt64.max))],
    ]
    for values in apart {
      expectEqual(try distinct(values).count, values.count)
      expectEqual(try distinct(values.reversed()).count, values.count)
    }
  }

  @Test("B6: many decimal numbers are distinct, also in a set, though Foundation can't hash them")
  func many() async {
    await #expect(processExitsWith: .success) {
      let numbers = (0..<40).map { NSDecimalNumber(decimal: Decimal($0 % 20) / 8) }
      let rows = numbers.map { ["id": $0] }
      let found = try rows.value(forKeyPath: "@distinctUnionOfObjects.id") as? [Any]
      expectEqual(found?.count, 20)
    }
  }
}
