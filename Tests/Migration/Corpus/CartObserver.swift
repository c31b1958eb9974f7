// A cart that observes its lines, made anew when the list changes, and keeps a total.
import Foundation

class CartLine: NSObject {
  @objc dynamic var title: String
  @objc dynamic var quantity: Int = 1
  @objc dynamic var price: Double
  @objc dynamic var amount: Double { return Double(quantity) * price }
  @objc class func keyPathsForValuesAffectingAmount() -> Set<String> {
    return [#keyPath(quantity), #keyPath(price)]
  }
  init(title: String, price: Double) {
    self.title = title
    self.price = price
  }
}

class Cart: NSObject {
  @objc dynamic var lines: [CartLine] = []
  @objc dynamic private(set) var total: Double = 0
  private var lineObservations = [NSKeyValueObservation]()
  private var listObservation: NSKeyValueObservation!
  let journal: Journal

  init(_ journal: Journal) {
    self.journal = journal
    super.init()
    listObservation = observe(\.lines, options: [.initial, .old, .new]) { cart, change in
      let kind: String
      switch change.kind {
      case .setting: kind = "set"
      case .insertion: kind = "insert \(change.indexes.map { Array($0) } ?? [])"
      case .removal: kind = "remove \(change.indexes!.map { $0 })"
      case .replacement: kind = "replace"
      @unknown default: kind = "?"
      }
      cart.journal.write("\(kind) \(change.newValue?.count ?? -1) \(change.oldValue?.count ?? -1)")
      cart.rebuild()
    }
  }

  private func rebuild() {
    lineObservations.removeAll()
    for line in lines {
      lineObservations.append(line.observe(\.amount) { [unowned self] _, _ in self.sum() })
    }
    sum()
  }
  private func sum() {
    let new = lines.reduce(0) { $0 + $1.amount }
    if new != total { total = new }
  }
}

func cartObserver(_ journal: Journal) {
  let cart = Cart(journal)
  let token = cart.observe(\.total, options: .new) { _, change in
    journal.write("total \(change.newValue!)")
  }
  let (a, b) = (CartLine(title: "a", price: 2), CartLine(title: "b", price: 5))
  cart.lines = [a]
  a.quantity = 3
  cart.mutableArrayValue(forKey: #keyPath(Cart.lines)).add(b)
  b.price = 6
  cart.mutableArrayValue(forKey: "lines").removeObject(at: 0)
  a.quantity = 100
  cart.lines.append(a)
  token.invalidate()
}
