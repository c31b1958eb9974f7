internal import TestSupport
package import Testing

/// Fails a test that leaves alive anything that it made and that carries a `Life`.
package struct LeakFree: SuiteTrait, TestTrait, TestScoping {
  package let isRecursive = true

  package func provideScope(
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
    await Self.wait(for: lifetimes)
    #expect(lifetimes.count == 0, "left alive: \(lifetimes.description)")
  }

  // The thread of another test holds, as long as it looks at them, the observed objects of a class that gets a key.
  private static func wait(for lifetimes: Lifetimes) async {
    for _ in 0..<30_000 where lifetimes.count > 0 {
      try? await Task.sleep(for: .milliseconds(1))
    }
  }
}

extension Trait where Self == LeakFree {
  package static var leakFree: Self { Self() }
}
