import KVORuntime

final class Employee: KVOObject {
  @Observed var name: String
  @Observed var salary: Double

  init(_ name: String, earns salary: Double) {
    self.name = name
    self.salary = salary
    super.init()
  }
}

final class Company: KVOObject {
  @Observed var employees: [Employee] = []
  var payroll: Double { employees.reduce(0) { $0 + $1.salary } }
}

let ada = Employee("Ada", earns: 100)
let company = Company()
company.employees = [ada, Employee("Grace", earns: 120)]
let token = company.observe(\.payroll, options: [.initial, .new]) { _, change in
  print("payroll:", change.newValue!)
}
ada.salary = 150
company.employees.append(Employee("Edsger", earns: 90))
