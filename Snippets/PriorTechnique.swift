// The purpose of notifications before a change: an object whose own key depends on an observed one
// must announce that its key will change while the key still has its old value. After the change is
// too late.
import KVORuntime

final class Order: KVOObject {
  @Observed var price = 10
  @Observed var quantity = 1
}

final class Invoice: KVOObject {
  private static let context = KVOContext()
  private let order: Order

  /// Not stored, so its old value is only available before the order changes.
  var total: Int { order.price * order.quantity }

  init(of order: Order) throws {
    self.order = order
    super.init()
    for key in ["price", "quantity"] {
      try order.addObserver(self, forKeyPath: key, options: .prior, context: Self.context)
    }
  }

  override class func registerKeys() {
    declareKeys { $0.accessors("total", \.total, get: \.total) }
  }

  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [KeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    guard context == Self.context else {
      super.observeValue(forKeyPath: keyPath, of: object, change: change, context: context)
      return
    }
    if change?[.notificationIsPriorKey] as? Bool == true {
      willChangeValue(for: \.total)
    } else {
      didChangeValue(for: \.total)
    }
  }
}

let order = Order()
let invoice = try Invoice(of: order)
let token = invoice.observe(\.total, options: [.old, .new]) { _, change in
  print("total: \(change.oldValue!) -> \(change.newValue!)")
}
order.quantity = 3
order.price = 12
