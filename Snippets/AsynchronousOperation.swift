// An asynchronous operation whose state is protected by a concurrent queue. An operation queue runs
// it after another one.
import Foundation
import KVOFoundation
import KVORuntime

class AsynchronousOperation: KVOOperation, @unchecked Sendable {
  enum State { case ready, executing, finished }

  private let stateQueue = DispatchQueue(label: "operation.state", attributes: .concurrent)
  private var rawState = State.ready

  private var state: State {
    get { stateQueue.sync { rawState } }
    set {
      willChangeValue(forKey: "state")
      stateQueue.sync(flags: .barrier) { rawState = newValue }
      didChangeValue(forKey: "state")
    }
  }

  override var isReady: Bool { super.isReady && state == .ready }
  override var isExecuting: Bool { state == .executing }
  override var isFinished: Bool { state == .finished }
  override var isAsynchronous: Bool { true }

  override class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
    let keyPaths = super.keyPathsForValuesAffectingValue(forKey: key)
    return ["isReady", "isExecuting", "isFinished"].contains(key)
      ? keyPaths.union(["state"]) : keyPaths
  }

  override func start() {
    if isCancelled { return finish() }
    state = .executing
    main()
  }

  final func finish() { state = .finished }
}

final class Download: AsynchronousOperation, @unchecked Sendable {
  override func main() {
    DispatchQueue.global().async {
      print("downloaded")
      self.finish()
    }
  }
}

let first = KVOBlockOperation { print("prepared") }
let download = Download()
download.addDependency(first)
let token = download.observe(\.isFinished, options: .new) { _, change in
  print("finished:", change.newValue!)
}

let queue = KVOOperationQueue()
queue.addOperation(download)
queue.addOperation(first)
queue.waitUntilAllOperationsAreFinished()
token.invalidate()
