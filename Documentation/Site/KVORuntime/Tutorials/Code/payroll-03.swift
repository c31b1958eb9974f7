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

let ada = Employee("Ada", earns: 100)
let token = ada.observe(\.salary, options: [.old, .new]) { employee, change in
  print("\(employee.name): \(change.oldValue!) -> \(change.newValue!)")
}
ada.salary = 120
ada.salary += 5

token.invalidate()
ada.salary = 0  // notifies no observer
