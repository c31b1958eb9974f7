// A reactive wrapper: a generic class over observe, with a bag of tokens.
import Foundation

final class StoreSignal<Value> {
  private var handlers: [(Value) -> Void] = []
  func send(_ value: Value) { for handler in handlers { handler(value) } }
  @discardableResult func onNext(_ handler: @escaping (Value) -> Void) -> Self {
    handlers.append(handler)
    return self
  }
}

final class StoreBag {
  fileprivate var tokens = [NSKeyValueObservation]()
  func dispose() { tokens.removeAll() }
}

protocol StoreObservable: AnyObject {}
extension NSObject: StoreObservable {}

extension StoreObservable where Self: NSObject {
  func signal<Value>(_ keyPath: KeyPath<Self, Value>, in bag: StoreBag) -> StoreSignal<Value> {
    let signal = StoreSignal<Value>()
    bag.tokens.append(
      observe(keyPath, options: [.new]) { _, change in
        if let value = change.newValue { signal.send(value) }
      })
    return signal
  }
}

final class StoreState: NSObject {
  @objc dynamic var user = "nobody"
  @objc dynamic var badge = 0
  var session: String?
}

func storeWrapper(_ journal: Journal) {
  let (state, bag) = (StoreState(), StoreBag())
  state.signal(\.user, in: bag).onNext { journal.write("user \($0)") }
  state.signal(\.badge, in: bag).onNext { journal.write("badge \($0)") }.onNext {
    journal.write("twice \($0 * 2)")
  }
  state.user = "ada"
  state.badge = 4
  state.session = "s"
  bag.dispose()
  state.user = "eve"
  journal.write("\(state.user) \(state.session ?? "-")")
}
