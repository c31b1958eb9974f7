// The operation of many samples: a state behind a queue, and keys affected by it.
import Foundation

class BaseUploadOperation: Operation {
  @objc enum UploadState: Int { case ready, executing, finished }

  private let stateQueue = DispatchQueue(label: "upload.state", attributes: .concurrent)
  private var rawState: UploadState = .ready

  @objc private dynamic var uploadState: UploadState {
    get { return stateQueue.sync { rawState } }
    set { stateQueue.sync(flags: .barrier) { rawState = newValue } }
  }

  override var isReady: Bool { return uploadState == .ready && super.isReady }
  final override var isExecuting: Bool { return uploadState == .executing }
  final override var isFinished: Bool { return uploadState == .finished }
  final override var isAsynchronous: Bool { return true }

  @objc private dynamic class func keyPathsForValuesAffectingIsReady() -> Set<String> {
    return ["uploadState"]
  }
  @objc private dynamic class func keyPathsForValuesAffectingIsExecuting() -> Set<String> {
    return ["uploadState"]
  }
  @objc private dynamic class func keyPathsForValuesAffectingIsFinished() -> Set<String> {
    return ["uploadState"]
  }

  final override func start() {
    if isCancelled {
      finish()
      return
    }
    uploadState = .executing
    main()
  }

  override func main() {}

  final func finish() { uploadState = .finished }
}

final class UploadOperation: BaseUploadOperation {
  let title: String
  let journal: Journal
  init(_ name: String, _ journal: Journal) {
    title = name
    self.journal = journal
    super.init()
  }
  override func main() {
    journal.write("upload \(title), executing \(isExecuting)")
    finish()
  }
}

func uploadOperation(_ journal: Journal) {
  let operation = UploadOperation("a", journal)
  let token = operation.observe(\.isFinished, options: [.new]) { operation, _ in
    journal.write("finished \(operation.isFinished)")
  }
  operation.start()
  token.invalidate()
  let second = UploadOperation("b", journal)
  second.cancel()
  second.start()
  journal.write("second \(second.isFinished)")
}
