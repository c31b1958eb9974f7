/// A model module: classes of every kind, which another module subclasses and observes.
import KVORuntime

public enum Level: String, Sendable {
  case low, high
}

public struct Place: Equatable, Sendable {
  public var x = 0.0
  public var y = 0.0
}

open class Account: KVOObject {
  @Observed open var balance = 0.0
  @Observed open var owner: String?
  @Observed open var entries: [Int] = []
  @Observed open var level = Level.low
  @Observed open var place = Place()
  @Observed public private(set) var revision = 0
  public var note = "none"

  override open class func registerKeys() {
    Account.declareKeys { $0.stored("note", \.note) }
  }

  public func revise() { revision += 1 }
}

open class Portfolio: KVOObject {
  @Observed open var accounts: [Account] = []
  @Observed open var main: Account?
  open var total: Double { accounts.reduce(0) { $0 + $1.balance } }
}

open class Box<Value>: KVOObject {
  @Observed open var value: Value
  @Observed open var label = "box"

  public init(_ value: Value) {
    _value = Observed(wrappedValue: value)
    super.init()
  }
}

open class PairBox<First, Second>: Box<First> {
  @Observed open var second: Second

  public init(_ first: First, _ second: Second) {
    _second = Observed(wrappedValue: second)
    super.init(first)
  }
}

@MainActor
open class ViewModel: KVOObject {
  @Observed open var title = ""
}

@MainActor @KVO
open class Screen: KVOObject {
  open var title = "" { didSet { if title.isEmpty { title = "untitled" } } }
  open var heading: String { title + "!" }
}
