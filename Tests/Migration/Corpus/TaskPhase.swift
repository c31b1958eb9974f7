// A task whose phase is an enumeration of Objective-C, observed by key path with old and new.
import Foundation

@objc enum TaskPhase: Int { case idle, running, done }

final class PhasedTask: NSObject {
  @objc dynamic var phase = TaskPhase.idle
  @objc dynamic private(set) var attempts = 0
  private var log: [String] = []

  @objc dynamic var isDone: Bool { return phase == .done }
  @objc class func keyPathsForValuesAffectingIsDone() -> Set<String> { return [#keyPath(phase)] }

  func run() {
    log.append("run")
    attempts += 1
    phase = .running
    phase = .done
  }
}

func taskPhase(_ journal: Journal) {
  let task = PhasedTask()
  var tokens: [NSKeyValueObservation] = []
  tokens.append(
    task.observe(\.phase) { task, _ in journal.write("phase \(task.phase.rawValue)") })
  tokens.append(
    task.observe(\.isDone, options: [.old, .new]) { _, change in
      if change.oldValue != change.newValue { journal.write("done \(change.newValue!)") }
    })
  task.run()
  task.setValue(0, forKey: "phase")
  journal.write("\(task.isDone) after \(task.attempts)")
  tokens.removeAll()
  task.run()
  journal.write("\(task.isDone) after \(task.attempts)")
}
