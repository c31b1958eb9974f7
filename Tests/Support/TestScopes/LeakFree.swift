internal import TestSupport
package import Testing

/// Stops the process at a test that leaks any object it made that has a `Life`.
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
    // The thread of another test retains the observed objects of a class while it visits them, when the class gets a
    // key. So no time limit decides about a leak: the watchdog ends the process and names what is left alive.
    await lifetimes.allEnded(place: test.sourceLocation.fileID, line: test.sourceLocation.line)
  }
}

extension Trait where Self == LeakFree {
  package static var leakFree: Self { Self() }
}
