import Expectations
import KVORuntime
import ModelFixtures
import Testing

/// F6: what stops the program names the program's file and line.
@Suite struct CallerTests {
  private final class Desk: KVOObject {
    var plain = 1
    @Observed var number = 1
  }

  private enum Place {
    static func observe() { _ = Desk().observe(\.plain) { _, _ in } }
    static func observeWithToken() { _ = Desk().observe(\.plain) { _, _, _ in } }
    static func observeSeveral() { _ = Desk().observe([\.number, \.plain]) { _, _ in } }
    static func bind() { _ = Desk().bind(\.number, to: Desk(), \.plain) }
    static func name() { _ = Desk.key(of: \.number.description.count) }
    static func observeByKey(_ sheet: Sheet, _ key: KeyValueKey<Sheet, Int>) {
      _ = sheet.observe(key: key) { _, _ in }
    }
    static func sequence() {
      let desk = Desk()
      let values = desk.values(of: \.plain)
      _ = values.makeAsyncIterator()
    }
    // The lines of the calls above, in order.
    static let lines = [14, 15, 16, 17, 18, 20, 24]
  }

  private class Sheet: KeyValueRecord {
    override class func registerKeys() { declareKeys { $0.value("size", 1) } }
  }
  private final class Othersheet: Sheet {
    override class func registerKeys() {
      declareKeys { $0.accessors("size", get: { _ in "large" }) }
    }
  }

  private func expect(_ result: ExitTest.Result?, _ line: Int, _ text: String) throws {
    let errors = try require(result).errors
    let place = "KVORuntimeTests/CallerTests.swift:\(line)"
    #expect(errors.contains(place) && errors.contains(text), "\(place): \(errors)")
  }

  @Test(
    "F6: registering a key path that can't be observed stops the program with the caller's line")
  func observing() async throws {
    let handler = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      Place.observe()
    }
    try expect(handler, Place.lines[0], "declared key of Desk")
    let token = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      Place.observeWithToken()
    }
    try expect(token, Place.lines[1], "declared key of Desk")
    let several = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      Place.observeSeveral()
    }
    try expect(several, Place.lines[2], "declared key of Desk")
  }

  @Test("F6 L5: a binding to what can't be observed stops the program with the caller's line")
  func binding() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      Place.bind()
    }
    try expect(result, Place.lines[3], "declared key of Desk")
  }

  @Test("F6: naming a key path that is not a key stops the program with the caller's line")
  func naming() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      Place.name()
    }
    try expect(result, Place.lines[4], "key(of:) can't name")
  }

  @Test(
    "C12: observing a key that a subclass has made another type of stops with the caller's line")
  func key() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      Place.observeByKey(Othersheet(), try KeyValueKey("size"))
    }
    try expect(result, Place.lines[5], "\"size\" of Othersheet takes String, not Int")
  }

  @Test("F6 K3: a sequence of what can't be observed stops the program with the line that made it")
  func sequence() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      Place.sequence()
    }
    try expect(result, Place.lines[6], "declared key of Desk")
  }
}
