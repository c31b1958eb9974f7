/// Objects that lead to one another, and a property that is computed from many of them.
import KVORuntime

/// Leads to another, and has a salary.
open class Employee: KVOObject {
  @Observed open var salary = 0.0
  @Observed open var boss: Employee?
}

/// Computes from all of its employees, without declaring what from.
open class Company: KVOObject {
  @Observed open var staff: [Employee] = []

  open var totalSalary: Double { staff.reduce(0) { $0 + $1.salary } }
}
