// An asynchronous operation as in the guides: its states are announced manually, from a state of its own.
import Foundation

class AsynchronousOperation: Operation {
  enum State: String {
    case ready, executing, finished

    var keyPath: String { "is" + rawValue.prefix(1).uppercased() + rawValue.dropFirst() }
  }

  private let lock = NSLock()
  private var _state = State.ready

  var state: State {
    get {
      lock.lock()
      defer { lock.unlock() }
      return _state
    }
    set {
      let old = state
      willChangeValue(forKey: old.keyPath)
      willChangeValue(forKey: newValue.keyPath)
      lock.lock()
      _state = newValue
      lock.unlock()
      didChangeValue(forKey: newValue.keyPath)
      didChangeValue(forKey: old.keyPath)
    }
  }

  override var isAsynchronous: Bool { true }
  override var isReady: Bool { super.isReady && state == .ready }
  override var isExecuting: Bool { state == .executing }
  override var isFinished: Bool { state == .finished }

  override func start() {
    if isCancelled {
      state = .finished
      return
    }
    state = .executing
    main()
  }
}

final class FetchOperation: AsynchronousOperation {
  private let page: Int
  private let journal: Journal

  init(page: Int, journal: Journal) {
    self.page = page
    self.journal = journal
    super.init()
  }

  override func main() {
    journal.write("page \(page) begins")
    // A response that is available at once.
    finish("body")
  }

  private func finish(_ body: String) {
    journal.write("page \(page) has \(body.count) bytes")
    state = .finished
  }
}

func fetchOperation(_ journal: Journal) {
  let first = FetchOperation(page: 1, journal: journal)
  let executing = first.observe(\.isExecuting, options: [.new]) { _, change in
    journal.write("executing \(change.newValue!)")
  }
  let finished = first.observe(\.isFinished, options: [.old, .new]) { _, change in
    journal.write("finished \(change.oldValue!) -> \(change.newValue!)")
  }
  first.start()
  executing.invalidate()
  finished.invalidate()

  let second = FetchOperation(page: 2, journal: journal)
  let watch = second.observe(\.isCancelled, options: [.new]) { _, change in
    journal.write("cancelled \(change.newValue!)")
  }
  second.cancel()
  second.start()
  journal.write("second: finished \(second.isFinished), executing \(second.isExecuting)")
  watch.invalidate()
}
