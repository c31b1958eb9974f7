// A minimal reactive library on top of observing: signals, events, disposables, bags. Each
// subscription to a signal has a registration of its own, and nothing here retains an observed
// object.
import KVORuntime
import Synchronization

enum Event<Value> {
  case next(Value)
  case completed
}

/// Ends a subscription. A token added after the end is ended at once: an initial call may dispose
/// before `observe` has returned the token.
final class Disposable: Sendable {
  private let tokens = Mutex<[KeyValueObservation]?>([])

  var isDisposed: Bool { tokens.withLock { $0 == nil } }

  func add(_ token: KeyValueObservation) {
    let isKept = tokens.withLock { tokens in
      tokens?.append(token)
      return tokens != nil
    }
    if !isKept { token.invalidate() }
  }

  func dispose() {
    let ended = tokens.withLock { tokens in
      defer { tokens = nil }
      return tokens ?? []
    }
    for token in ended { token.invalidate() }
  }

  /// Stored with the owner, whose death releases it and so ends the subscription.
  func disposed(by owner: KVOObject) {
    owner[Self.bag] = (owner[Self.bag] ?? []) + [self]
  }
  private static let bag = KVOAssociation<[Disposable]>()
}

struct Signal<Value> {
  let start: (_ disposable: Disposable, _ receive: @escaping (Event<Value>) -> Void) -> Void

  func subscribe(_ receive: @escaping (Event<Value>) -> Void) -> Disposable {
    let disposable = Disposable()
    start(disposable) { [weak disposable] event in
      if disposable?.isDisposed == false { receive(event) }
    }
    return disposable
  }

  func map<Other>(_ transform: @escaping (Value) -> Other) -> Signal<Other> {
    Signal<Other> { disposable, receive in
      start(disposable) { event in
        switch event {
        case .next(let value): receive(.next(transform(value)))
        case .completed: receive(.completed)
        }
      }
    }
  }

  func first() -> Signal {
    Signal { disposable, receive in
      start(disposable) { [weak disposable] event in
        receive(event)
        disposable?.dispose()
      }
    }
  }
}

extension KeyValueObserving where Self: KVOObject {
  /// The current value, then each new one, then completion when the object dies.
  func signal<Value>(_ keyPath: KeyPath<Self, Value>) -> Signal<Value> {
    Signal { [weak self] disposable, receive in
      guard let self else { return receive(.completed) }
      disposable.add(onDeinit { receive(.completed) })
      // Read the property: a change of elements carries only the affected elements.
      disposable.add(
        observe(keyPath, options: .initial) { object, _ in receive(.next(object[keyPath: keyPath]))
        })
    }
  }
}

final class Account: KVOObject {
  @Observed var balance = 0
  @Observed var entries: [String] = []
}
final class Display: KVOObject {}

var account: Account? = Account()
var display: Display? = Display()
account!.signal(\.balance).map { "balance: \($0)" }.subscribe { print($0) }.disposed(by: display!)
let entries = account!.signal(\.entries).subscribe { print($0) }
let once = account!.signal(\.balance).first().subscribe { print("once:", $0) }

account!.balance = 10
account!.mutableArray(\.entries).append("rent")
display = nil
account!.balance = 20
account = nil
print("disposed:", once.isDisposed, entries.isDisposed)
