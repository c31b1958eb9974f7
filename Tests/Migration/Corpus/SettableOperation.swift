// An operation whose overrides have setters that announce by key paths, and functions that take any operations.
import Foundation

class SettableOperation: Operation {
  private var running: Bool = false
  private var ended: Bool = false

  override var isAsynchronous: Bool { return true }

  override var isExecuting: Bool {
    get { return running }
    set {
      willChangeValue(for: \.isExecuting)
      running = newValue
      didChangeValue(for: \.isExecuting)
    }
  }

  override var isFinished: Bool {
    get { return ended }
    set {
      willChangeValue(for: \.isFinished)
      ended = newValue
      didChangeValue(for: \.isFinished)
    }
  }
}

final class PrintOperation: SettableOperation {
  private let text: String
  private let journal: Journal

  init(_ text: String, _ journal: Journal) {
    self.text = text
    self.journal = journal
    super.init()
  }

  override func start() {
    isExecuting = true
    journal.write(text)
    isExecuting = false
    isFinished = true
  }
}

private func run(_ operations: [Operation]) {
  let queue = OperationQueue()
  queue.maxConcurrentOperationCount = 1
  queue.addOperations(operations, waitUntilFinished: true)
}

func settableOperation(_ journal: Journal) {
  let first = PrintOperation("first", journal)
  let second = PrintOperation("second", journal)
  first.addDependency(second)
  run([first, second])
  journal.write("\(first.isFinished) \(second.isExecuting)")
}
