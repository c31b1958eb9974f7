import TestSupport
import Testing

/// Fails a test that leaves alive anything that it made and that carries a `Life`.
struct LeakFree: SuiteTrait, TestTrait, TestScoping {
  let isRecursive = true

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    guard testCase != nil else { return try await function() }
    let lifetimes = Lifetimes()
    do {
      try await Lifetimes.$current.withValue(lifetimes) { try await function() }
    } catch {
      lifetimes.end()
      throw error
    }
    lifetimes.end()
    #expect(lifetimes.count == 0, "left alive: \(lifetimes.description)")
  }
}

extension Trait where Self == LeakFree {
  static var leakFree: Self { Self() }
}
