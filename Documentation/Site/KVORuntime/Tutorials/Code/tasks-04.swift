import KVOChangeLogs
import KVORuntime

final class Task: KVOObject {
  @Observed var title = ""
  @Observed var isDone = false
}

final class List: KVOObject {
  @Observed var tasks: [Task] = []

  func add(_ title: String) {
    let task = Task()
    task.title = title
    mutableArray(\.tasks).append(task)
  }

  var text: String {
    let lines = tasks.map { ($0.isDone ? "✓" : "·") + $0.title }
    return lines.joined(separator: " ")
  }
}

let list = List()
let log = try ChangeLog(
  of: list,
  recording: .keys(of: List.self, \.tasks),
  .keys(of: Task.self, \.title, \.isDone))
log.withGroup("Shopping") {
  list.add("milk")
  list.add("bread")
}
log.withGroup("Done with it") {
  for task in list.tasks { task.isDone = true }
}
print("Undo \(log.undoName!)?")
try log.undo()
print(list.text, "- and again:", log.redoName!)
