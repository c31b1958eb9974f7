import Expectations
import KVORuntime
import KVOTesting
import ModelFixtures
import TestScopes
import TestSupport
import Testing

/// S3: expectations around a body.
@Suite(.leakFree) struct ExpectChangeTests {
  final class Lamp: Tracked {
    @Observed var level = 0
    @Observed var ratio = 0.0
    @Observed var ratios: [Double] = []
    @Observed var limits: [String: Double?] = [:]
    @Observed var nested: Int?? = 0
  }
  struct Broken: Error {}

  private let lamp = Lamp()

  @Test("S3: the functions compile in files that do not import Testing")
  func plainImports() async throws { try await KVOObject.expectsWithoutTesting() }

  @Test("S3: a body that makes the expected change passes, and its result is returned")
  func passes() async throws {
    let result = lamp.expectChange(of: \.level, from: 0, to: 2) {
      lamp.level = 1
      lamp.level = 2
      return "done"
    }
    expectEqual(result, "done")
    lamp.expectChange(of: \.level) { lamp.level = 2 }
    lamp.expectChanges(of: \.level, [.setting(to: 3), .setting(from: 3, to: 4)]) {
      lamp.level = 3
      lamp.level = 4
    }
    lamp.expectNoChange(of: \.level) {}
    await lamp.expectChange(of: \.level, to: 5) {
      await Task.yield()
      lamp.level = 5
    }
    await lamp.expectChanges(of: \.level, [.setting(to: 6)]) {
      await Task.yield()
      lamp.level = 6
    }
  }

  @Test("S2 S3 D3: NaN is the expected NaN, also inside a value; nil is not an optional nil")
  func notANumber() {
    lamp.expectChange(of: \.ratio, from: 0, to: .nan) { lamp.ratio = .nan }
    lamp.expectChange(of: \.ratio, from: .nan, to: 0) { lamp.ratio = 0 }
    lamp.ratio = .nan
    lamp.expectChanges(of: \.ratio, [.setting(from: .nan, to: 1), .setting(from: 1, to: .nan)]) {
      lamp.ratio = 1
      lamp.ratio = .nan
    }
    lamp.expectChange(of: \.ratios, from: [], to: [1, .nan]) { lamp.ratios = [1, .nan] }
    lamp.expectChange(of: \.limits, to: ["a": .nan, "b": nil]) {
      lamp.limits = ["a": .nan, "b": nil]
    }
    let changes = lamp.recordChanges(of: \.ratios)
    lamp.ratios = [.nan]
    changes.expect(newValues: [[.nan]])
    let found = issues {
      lamp.expectChange(of: \.nested, to: .some(.none)) { lamp.nested = .some(nil) }
      lamp.expectChange(of: \.ratio, to: .nan) { lamp.ratio = 1 }
    }
    expectEqual(found.count, 2)
  }

  /// The texts and lines of the issues that a body records.
  private func issues(_ body: () -> Void) -> [(text: String, line: Int)] {
    let found = Locked<[(String, Int)]>([])
    withKnownIssue {
      body()
    } matching: { issue in
      let text = issue.comments.map(\.rawValue).joined()
      found.withLock { $0.append((text, issue.sourceLocation?.line ?? 0)) }
      return true
    }
    return found.withLock { $0 }
  }

  @Test("S3: any deviation fails, once, and is described")
  func fails() {
    let lamp = lamp
    let cases: [(String, () -> Void)] = [
      ("it was not changed", { lamp.expectChange(of: \.level) {} }),
      (
        "expected 7 before, found 0", { lamp.expectChange(of: \.level, from: 7) { lamp.level = 0 } }
      ),
      (
        "expected 7 afterwards, found 0",
        { lamp.expectChange(of: \.level, to: 7) { lamp.level = 0 } }
      ),
      ("found 1", { lamp.expectNoChange(of: \.level) { lamp.level = 0 } }),
      (
        "expected new value 7",
        { lamp.expectChanges(of: \.level, [.setting(to: 7)]) { lamp.level = 0 } }
      ),
    ]
    for (text, body) in cases {
      let found = issues(body)
      expect(found.count == 1 && found[0].text.contains(text), "\(text): \(found)")
    }
  }

  @Test("S3: a failure is at the caller's line")
  func line() {
    let line = #line
    let first = issues { lamp.expectChange(of: \.level) {} }
    let second = issues { lamp.expectChanges(of: \.level, [.setting()]) {} }
    let third = issues { lamp.expectNoChange(of: \.level) { lamp.level = 1 } }
    expectEqual([first, second, third].map { $0.first?.line }, [line + 1, line + 2, line + 3])
  }

  @Test("S3: a body that throws is checked, and its error passes on")
  func throwing() {
    #expect(throws: Broken.self) {
      try lamp.expectChange(of: \.level, to: 1) {
        lamp.level = 1
        throw Broken()
      }
    }
    withKnownIssue {
      #expect(throws: Broken.self) {
        try lamp.expectNoChange(of: \.level) {
          lamp.level = 2
          throw Broken()
        }
      }
    } matching: {
      $0.comments.contains { $0.rawValue.contains("found 1") }
    }
    expect(!lamp.isObserved(forKey: "level"))
  }

  @Test("F6 S3: an expectation of what can't be observed stops the program with the caller's line")
  func unobservable() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      Shelf.expectChange()
    }
    let line = Shelf.line
    let errors = String(decoding: try require(result).standardErrorContent, as: UTF8.self)
    expect(errors.contains("of Shelf. ") && errors.contains("ExpectChangeTests.swift:\(line)"))
  }
  private final class Shelf: KVOObject {
    var plain = 1

    static let line = #line + 1
    static func expectChange() { Shelf().expectChange(of: \.plain) {} }
  }
}
