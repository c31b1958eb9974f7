// Collection operators, generic lookups and sorting by key over models that are read by key alone.
import Foundation

final class PriceItem: NSObject {
  @objc let label: String
  @objc let cents: Int
  @objc var tags: [String] = []
  init(_ label: String, _ cents: Int, _ tags: [String]) {
    self.label = label
    self.cents = cents
    self.tags = tags
  }
}

final class PriceList: NSObject {
  @objc dynamic var items: [PriceItem] = []

  func total(_ key: String) -> Int { return value(forKeyPath: "items.@sum.\(key)") as? Int ?? 0 }

  func lookup<Value>(_ path: String, as type: Value.Type) -> Value? {
    return value(forKeyPath: path) as? Value
  }
}

func priceList(_ journal: Journal) {
  let list = PriceList()
  let token = list.observe(\.items, options: [.prior]) { _, change in
    journal.write(change.isPrior ? "will" : "did")
  }
  list.items = [
    PriceItem("tea", 250, ["hot"]), PriceItem("ice", 120, ["cold"]), PriceItem("pie", 300, ["hot"]),
  ]
  journal.write("total \(list.total("cents")) of \(list.lookup("items.@count", as: Int.self) ?? 0)")
  journal.write("dearest \(list.lookup("items.@max.cents", as: Int.self) ?? 0)")
  journal.write("\(list.lookup("items.label", as: [String].self) ?? [])")
  let tags = list.value(forKeyPath: "items.@distinctUnionOfArrays.tags") as! [String]
  journal.write("\(tags.sorted())")
  token.invalidate()
}
