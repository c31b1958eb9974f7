/// Objects that refer to one another, and a property computed from many of them.
import KVORuntime

/// An employee with a salary, who refers to another employee.
open class Employee: KVOObject {
  @Observed open var salary = 0.0
  @Observed open var boss: Employee?
}

/// A company whose total is computed from all of its employees, without declared dependencies.
open class Company: KVOObject {
  @Observed open var staff: [Employee] = []

  open var totalSalary: Double { staff.reduce(0) { $0 + $1.salary } }
}
