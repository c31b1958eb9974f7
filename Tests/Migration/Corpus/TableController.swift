// A controller of a table: sections and totals by collection operators, rows by indexes.
import Foundation

@objcMembers final class Expense: NSObject {
  let payee: String
  dynamic var amount: Double
  dynamic var category: String
  dynamic var isApproved = false

  init(payee: String, amount: Double, category: String) {
    self.payee = payee
    self.amount = amount
    self.category = category
  }
}

final class Report: NSObject {
  @objc dynamic var expenses: [Expense] = []
  @objc dynamic var title = "Report"
}

final class TableController: NSObject {
  private let report: Report
  private let journal: Journal
  private var observation: NSKeyValueObservation?

  init(report: Report, journal: Journal) {
    self.report = report
    self.journal = journal
    super.init()
    observation = report.observe(\.expenses, options: [.new, .old]) { [unowned self] _, change in
      update(change)
    }
  }

  private func update(_ change: NSKeyValueObservedChange<[Expense]>) {
    let rows = change.indexes.map { Array($0) } ?? []
    switch change.kind {
    case .insertion: journal.write("insertRows \(rows)")
    case .removal: journal.write("removeRows \(rows)")
    case .replacement: journal.write("reloadRows \(rows)")
    default: journal.write("reloadData, \(change.newValue?.count ?? 0) rows")
    }
  }

  var total: Double {
    report.value(forKeyPath: "expenses.@sum.amount") as! Double
  }

  var categories: [String] {
    (report.value(forKeyPath: "expenses.@distinctUnionOfObjects.category") as! [String]).sorted()
  }

  func cell(row: Int, column: String) -> String {
    let value = report.expenses[row].value(forKey: column)
    return value.map { "\($0)" } ?? ""
  }

  func deleteRows(at indexes: IndexSet) {
    let rows = report.mutableArrayValue(forKey: #keyPath(Report.expenses))
    rows.removeObjects(at: indexes)
  }

  func insert(_ expense: Expense, at row: Int) {
    report.mutableArrayValue(forKey: #keyPath(Report.expenses)).insert(expense, at: row)
  }

  func replace(row: Int, with expense: Expense) {
    let rows = report.mutableArrayValue(forKey: "expenses")
    rows.replaceObject(at: row, with: expense)
  }
}

func tableController(_ journal: Journal) {
  let report = Report()
  let controller = TableController(report: report, journal: journal)
  journal.write("empty \(report.value(forKeyPath: "expenses.@count") as! Int)")
  report.expenses = [
    Expense(payee: "Rail", amount: 40.5, category: "travel"),
    Expense(payee: "Inn", amount: 90, category: "rooms"),
  ]
  controller.insert(Expense(payee: "Bus", amount: 3.25, category: "travel"), at: 1)
  journal.write("total \(controller.total), \(controller.categories)")
  journal.write(
    "cell \(controller.cell(row: 1, column: "payee")), \(controller.cell(row: 2, column: "amount"))"
  )
  report.setValue(true, forKeyPath: "expenses.isApproved")
  journal.write("approved \(report.expenses.filter(\.isApproved).count)")
  controller.replace(row: 0, with: Expense(payee: "Air", amount: 120, category: "travel"))
  let highest = report.value(forKeyPath: "expenses.@max.amount") as! Double
  let mean = report.value(forKeyPath: "expenses.@avg.amount") as? Double ?? 0
  journal.write("highest \(highest), mean \(mean)")
  controller.deleteRows(at: IndexSet([0, 2]))
  journal.write("left \(report.value(forKeyPath: "expenses.payee") as! [String])")
}
