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
list.add("milk")
print(list.text)
