// A graph of models with to-many accessors under Objective-C's names, and totals over linked objects.
import Foundation

@objc(Worker) final class Worker: NSObject {
  @objc dynamic var name: String
  @objc dynamic var salary: Int

  @objc init(name: String, salary: Int) {
    self.name = name
    self.salary = salary
    super.init()
  }
}

@objc(Department) final class Department: NSObject {
  @objc dynamic var title = "none"
  @objc dynamic private(set) var workers: [Worker] = []

  @objc dynamic var payroll: Int {
    workers.reduce(0) { $0 + $1.salary }
  }

  @objc class func keyPathsForValuesAffectingPayroll() -> Set<String> {
    ["workers"]
  }

  @objc(insertObject:inWorkersAtIndex:)
  func insertObject(_ worker: Worker, inWorkersAt index: Int) {
    workers.insert(worker, at: index)
  }

  @objc(removeObjectFromWorkersAtIndex:)
  func removeObject(fromWorkersAt index: Int) {
    workers.remove(at: index)
  }
}

/// Records the changes, row by row.
final class DepartmentList: NSObject {
  private let journal: Journal
  private var tokens: [NSKeyValueObservation] = []

  init(_ department: Department, _ journal: Journal) {
    self.journal = journal
    super.init()
    tokens = [
      department.observe(\.workers, options: [.old, .new]) { _, change in
        let names = (change.newValue ?? change.oldValue ?? []).map(\.name)
        switch change.kind {
        case .insertion: journal.write("+ \(names) at \(Array(change.indexes!))")
        case .removal: journal.write("- \(names) at \(Array(change.indexes!))")
        default: journal.write("= \(names)")
        }
      },
      department.observe(\.title, options: [.initial, .new]) { _, change in
        journal.write("title \(change.newValue!)")
      },
    ]
  }

  func rows(_ indexes: IndexSet, of department: Department) -> [String] {
    indexes.map { department.workers[$0].name }
  }
}

func departmentGraph(_ journal: Journal) {
  let department = Department()
  let list = DepartmentList(department, journal)
  let workers = department.mutableArrayValue(forKey: #keyPath(Department.workers))
  workers.add(Worker(name: "Ada", salary: 30))
  workers.insert(Worker(name: "Grace", salary: 50), at: 0)
  department.insertObject(Worker(name: "Mary", salary: 20), inWorkersAt: 1)
  journal.write(
    "payroll \(department.payroll), by key \(department.value(forKeyPath: "workers.@sum.salary") as! Int)"
  )
  department.removeObject(fromWorkersAt: 0)
  workers.removeObject(at: 0)
  department.title = "Engines"
  journal.write("rows \(list.rows(IndexSet(integer: 0), of: department))")
  journal.write("names \(department.value(forKeyPath: "workers.name") as! [String])")
}
