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
ada.salary = 120
print(ada.name, "earns", ada.salary)
