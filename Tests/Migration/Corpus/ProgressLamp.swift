// A Progress that is observed by a string and by a key path, in a class and in an extension of Progress.
import Foundation

extension Progress {
  func whenChanged(_ body: @escaping (Double) -> Void) -> NSKeyValueObservation {
    return self.observe(\.fractionCompleted) { progress, _ in body(progress.fractionCompleted) }
  }
}

final class Lamp: NSObject {
  private let progress: Progress
  private let journal: Journal
  private var isLit: Bool = false

  init(_ progress: Progress, _ journal: Journal) {
    self.progress = progress
    self.journal = journal
    super.init()
    progress.addObserver(self, forKeyPath: "isCancelled", options: [.new], context: nil)
  }

  deinit {
    progress.removeObserver(self, forKeyPath: "isCancelled")
  }

  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    guard let progress = object as? Progress, progress === self.progress else { return }
    isLit = progress.isCancelled
    journal.write("lit: \(isLit)")
  }
}

func progressLamp(_ journal: Journal) {
  let progress: Progress = Progress(totalUnitCount: 4)
  let lamp = Lamp(progress, journal)
  let token = progress.whenChanged { fraction in journal.write("\(Int(fraction * 100)) %") }
  withExtendedLifetime((lamp, token)) {
    progress.completedUnitCount = 1
    progress.cancel()
  }
}
