// A report by collection operators, over arrays, NSArray and nested arrays.
import Foundation

class Sale: NSObject {
  @objc let region: String
  @objc let amount: Double
  @objc let units: Int
  @objc let date: Date
  init(_ region: String, _ amount: Double, _ units: Int, _ day: Double) {
    (self.region, self.amount, self.units) = (region, amount, units)
    date = Date(timeIntervalSince1970: day * 86400)
  }
}

class SalesOffice: NSObject {
  @objc dynamic var sales: [Sale] = []
  @objc dynamic var name: String
  init(_ name: String) { self.name = name }
}

struct SalesReport {
  let office: SalesOffice
  var total: Double { return office.value(forKeyPath: "sales.@sum.amount") as! Double }
  var average: Double {
    return (office.value(forKeyPath: "sales.@avg.amount") as? NSNumber)?.doubleValue ?? 0
  }
  var averageUnits: NSNumber { return office.value(forKeyPath: "sales.@avg.units") as! NSNumber }
  var best: Double? { return office.value(forKeyPath: "sales.@max.amount") as? Double }
  var first: Date? { return office.value(forKeyPath: "sales.@min.date") as? Date }
  var count: Int { return office.value(forKeyPath: "sales.@count") as! Int }
  var regions: [String] {
    return (office.value(forKeyPath: "sales.@distinctUnionOfObjects.region") as! [String]).sorted()
  }
}

func salesReport(_ journal: Journal) {
  let office = SalesOffice("north")
  let other = SalesOffice("south")
  let empty = SalesReport(office: other)
  office.sales = [Sale("a", 2, 3, 2), Sale("b", 3.5, 4, 1), Sale("a", 4, 3, 5)]
  let report = SalesReport(office: office)
  journal.write("\(report.total) \(report.count) \(report.regions)")
  journal.write("\(String(format: "%.2f", report.average)) \(report.best ?? 0)")
  journal.write("\(String(format: "%.2f", report.averageUnits.doubleValue))")
  journal.write("\(report.first!.timeIntervalSince1970)")
  journal.write("\(empty.total) \(empty.count) \(empty.average) \(empty.best == nil)")
  let offices: NSArray = [office, other]
  let all = offices.value(forKeyPath: "@unionOfArrays.sales") as! [Sale]
  journal.write("\(all.count) \(offices.value(forKey: "name") as! [String])")
  let units = (office.sales as NSArray).value(forKeyPath: "@sum.units") as! NSNumber
  journal.write(
    "units \(units.intValue) \((office.sales as NSArray).value(forKeyPath: "@max.units")!)")
  let amounts = [1, 2, 3] as NSArray
  journal.write("self \(amounts.value(forKeyPath: "@sum.self") as! Int)")
}
