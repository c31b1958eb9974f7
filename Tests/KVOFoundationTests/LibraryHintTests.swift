import Expectations
import Foundation
import KVOFoundation
import KVORuntime
import TestSupport
import Testing

/// J2: the library's own classes give no hints.
@Suite struct LibraryHintTests {
  private static func observeAll<Object: KVOObject>(_ object: Object) throws {
    for property in Object.keyValueProperties {
      try object.observe(keyPath: property.key) { _, _ in }.invalidate()
    }
  }

  @Test("R5 R6 R7 R8 J2: observing any key of the library's classes is no hint, nor is their use")
  func classes() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      sayHints()
      let progress = KVOProgress(totalUnitCount: 3)
      try Self.observeAll(progress)
      let notified = progress.observe(\.fractionCompleted) { _, _ in }
      progress.completedUnitCount = 1
      progress.cancel()
      let operation = KVOBlockOperation {}
      try Self.observeAll(operation)
      try Self.observeAll(KVOOperation())
      let queue = KVOOperationQueue()
      try Self.observeAll(queue)
      let count = queue.observe(\.operationCount) { _, _ in }
      let priority = operation.observe(\.queuePriority) { _, _ in }
      operation.queuePriority = .high
      queue.addOperations([operation], waitUntilFinished: true)
      let defaults = KVOUserDefaults()
      try defaults.observe(keyPath: "anything") { _, _ in }.invalidate()
      defaults.set(1, forKey: "anything")
      defaults.removeObject(forKey: "anything")
      withExtendedLifetime((notified, count, priority)) {}
    }
    expectEqual(hints(in: result), [])
  }
}

/// Makes each hint print a line on stderr.
func sayHints() {
  KVODiagnostics.hint = { hint in
    try? FileHandle.standardError.write(contentsOf: Data("hint: \(hint)\n".utf8))
  }
}

/// The lines that an exit test has printed for hints.
func hints(in result: ExitTest.Result?) -> [String] {
  let errors = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
  return errors.split(separator: "\n").filter { $0.hasPrefix("hint: ") }.map(String.init)
}
