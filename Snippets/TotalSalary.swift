// A total over the employees of a department as a computed property, without any declaration.
// (Department keeps one up to date itself.) Observers are notified when employees join or leave, and when
// a salary changes.
import KVORuntime

final class Employee: KVOObject {
  let name: String
  @Observed var salary: Double

  init(_ name: String, salary: Double) {
    self.name = name
    self.salary = salary
    super.init()
  }
}

final class Department: KVOObject {
  @Observed var employees: [Employee] = []

  var totalSalary: Double { employees.reduce(0) { $0 + $1.salary } }
}

let department = Department()
let token = department.observe(\.totalSalary, options: [.old, .new]) { _, change in
  print("total: \(change.oldValue!) -> \(change.newValue!)")
}

let ada = Employee("Ada", salary: 100)
let grace = Employee("Grace", salary: 200)
print("Ada and Grace join")
department.employees = [ada]
department.mutableArray(\.employees).append(grace)
print("a raise for Ada")
ada.salary += 50
print("Ada leaves, and earns more elsewhere")
department.mutableArray(\.employees).remove(at: 0)
ada.salary = 500
print("a raise for Grace")
grace.salary += 25
token.invalidate()
