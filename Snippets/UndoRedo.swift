// A document with undo: every change of an employee list is recorded, including changes of
// employees who join. A menu shows what can be undone; a copy of the list is kept up to date by
// transcripts.
import KVOChangeLogs
import KVORuntime

final class Employee: KVOObject {
  @Observed var name = ""
  @Observed var salary = 0.0
}

final class Department: KVOObject {
  @Observed var title = "Research"
  @Observed var employees: [Employee] = []

  var text: String {
    "\(title): " + employees.map { "\($0.name) \($0.salary)" }.joined(separator: ", ")
  }

  static func log(of department: Department) throws -> ChangeLog {
    try ChangeLog(
      of: department,
      recording: .keys(of: Department.self, \.title, \.employees),
      .keys(of: Employee.self, \.name, \.salary, making: { Employee() }))
  }

  func hire(_ name: String, salary: Double) {
    let employee = Employee()
    mutableArray(\.employees).append(employee)
    employee.name = name
    employee.salary = salary
  }
}

let department = Department()
let elsewhere = Department()
let log = try Department.log(of: department)
let copy = try Department.log(of: elsewhere)
let menu = log.observe(\.undoName, options: [.new, .distinct]) { log, _ in
  print("  menu: \(log.canUndo ? "Undo" : "-") \(log.undoName ?? "")")
}

log.withGroup("Hire Ada") { department.hire("Ada", salary: 100) }
log.withGroup("Hire Grace") { department.hire("Grace", salary: 120) }
log.withGroup("Raise") {
  for employee in department.employees { employee.salary *= 1.5 }
}
department.mutableArray(\.employees).remove(at: 0)
print(department.text)

while try log.undo() { print(department.text) }
try log.redo()
try log.redo()
print(department.text)

try copy.apply(log.transcript())
print(elsewhere.text)
for record in try log.records().suffix(3) { print(record) }
withExtendedLifetime(menu) {}
