import Foundation
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

func log(of list: List) throws -> ChangeLog {
  try ChangeLog(
    of: list,
    recording: .keys(of: List.self, \.tasks),
    .keys(of: Task.self, \.title, \.isDone, making: { Task() }))
}

let here = List()
let there = List()
let changes = try log(of: here)
let copy = try log(of: there)
here.add("milk")
here.tasks[0].isDone = true
let data = try JSONEncoder().encode(changes.transcript())

let decoder = JSONDecoder()
// The copy's classes supply the types of the values.
decoder.userInfo[ChangeLog.userInfoKey] = copy
try copy.apply(decoder.decode(ChangeLog.Transcript.self, from: data))
print(there.text)
