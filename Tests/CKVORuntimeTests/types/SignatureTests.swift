import CKVORuntime
import Expectations
import SignatureFixtures
import Testing

/// A3: every type that C and libffi can express is observed exactly, and every other type is refused. Serialised,
/// because the fixtures keep their case's state in one place.
@Suite(.serialized) struct SignatureTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let index: Int
    let name: String
    var testDescription: String { name }
  }

  static let cases = (0..<signature_case_count()).map {
    Case(index: $0, name: String(cString: signature_case_name($0)))
  }
  static let refusals = (0..<refusal_case_count()).map {
    Case(index: $0, name: String(cString: refusal_case_name($0)))
  }

  @Test("A3: the tests have enough cases to cover any signature")
  func enough() {
    expect(Self.cases.count >= 30)
    expect(Self.refusals.count >= 5)
    expectEqual(Set(Self.cases.map(\.name)).count, Self.cases.count)
  }

  @Test("A3: stored, delivered and returned values are exact", arguments: cases)
  func exactValues(_ sample: Case) {
    let failure = failureText { signature_case_run(sample.index, $0, $1) }
    expect(failure == nil)
  }

  @Test(
    "A3: a type that an encoding can't express is refused, and leaves the class unchanged",
    arguments: refusals)
  func refused(_ sample: Case) {
    let failure = failureText { refusal_case_run(sample.index, $0, $1) }
    expect(failure == nil)
  }
}

private func failureText(_ run: (UnsafeMutablePointer<CChar>, Int) -> Bool) -> String? {
  var text = [CChar](repeating: 0, count: 512)
  if run(&text, text.count) { return nil }
  return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
}
