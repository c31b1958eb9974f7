// A total over the employees of a department, which the department keeps up to date: it observes the
// salary of each employee, including those who join, and stops when they leave.
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
  private static let salaryContext = KVOContext()

  @Observed private(set) var employees: [Employee] = []
  @Observed private(set) var totalSalary = 0.0

  override class func automaticallyNotifiesObservers(forKey key: String) -> Bool {
    key == "totalSalary" ? false : super.automaticallyNotifiesObservers(forKey: key)
  }

  func add(_ employee: Employee) throws {
    mutableArray(\.employees).append(employee)
    try employee.addObserver(self, forKeyPath: "salary", context: Self.salaryContext)
    try updateTotalSalary()
  }

  func remove(at index: Int) throws {
    let employee = mutableArray(\.employees).remove(at: index)
    try employee.removeObserver(self, forKeyPath: "salary", context: Self.salaryContext)
    try updateTotalSalary()
  }

  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [KeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    guard context == Self.salaryContext else {
      super.observeValue(forKeyPath: keyPath, of: object, change: change, context: context)
      return
    }
    try! updateTotalSalary()
  }

  private func updateTotalSalary() throws {
    setTotalSalary(try value(forKeyPath: "employees.@sum.salary") as? Double ?? 0)
  }

  private func setTotalSalary(_ newTotal: Double) {
    guard newTotal != totalSalary else { return }
    willChangeValue(for: \.totalSalary)
    totalSalary = newTotal
    didChangeValue(for: \.totalSalary)
  }
}

let department = Department()
let token = department.observe(\.totalSalary, options: [.old, .new]) { _, change in
  print("total: \(change.oldValue!) -> \(change.newValue!)")
}

let ada = Employee("Ada", salary: 100)
let grace = Employee("Grace", salary: 200)
print("Ada and Grace join")
try department.add(ada)
try department.add(grace)
print("a raise for Ada")
ada.salary += 50
print("the same salary again")
grace.salary = 200
print("Ada leaves, and earns more elsewhere")
try department.remove(at: 0)
ada.salary = 500
print("\(department.employees.map(\.name)) left")
