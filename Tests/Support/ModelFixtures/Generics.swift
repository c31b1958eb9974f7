import KVORuntime

/// A generic class, whose keys have different types in each specialisation.
open class Box<Value>: Tracked {
  @Observed open var value: Value
  @Observed open var label = "box"

  public init(_ value: Value) {
    _value = Observed(wrappedValue: value)
    super.init()
  }
}

/// A subclass of one specialisation, with a key of its own.
open class NumberBox: Box<Int> {
  @Observed open var limit = 10
}

/// A generic subclass of a generic class.
open class PairBox<First, Second>: Box<First> {
  @Observed open var second: Second

  public init(_ first: First, _ second: Second) {
    _second = Observed(wrappedValue: second)
    super.init(first)
  }
}

/// A class of the main actor.
@MainActor
open class ViewModel: Tracked {
  @Observed open var title = ""
  @Observed open var rows: [String] = []
}
