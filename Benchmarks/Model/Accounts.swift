/// The classes whose property the benchmark sets and gets: plain, with a `didSet`, observed. All are open and
/// in a separate module, so that each access from the benchmark is the same kind of call with the same
/// exclusivity checks.
import KVORuntime
import Observation

/// A plain property, the baseline for unobserved ones.
open class PlainAccount {
  open var balance = 0.0

  public init() {}
}

/// The usual solution without this package: the object stores closures and calls them.
open class DidSetAccount {
  public var handlers: [(DidSetAccount) -> Void] = []

  open var balance = 0.0 {
    didSet {
      for handler in handlers { handler(self) }
    }
  }

  public init() {}
}

/// The usual solution without this package for tasks that read changes.
open class StreamAccount {
  private let continuation: AsyncStream<Double>.Continuation
  /// The stream of balances, for one reader.
  public let balances: AsyncStream<Double>

  open var balance = 0.0 {
    didSet { continuation.yield(balance) }
  }

  public init() { (balances, continuation) = AsyncStream.makeStream() }
}

/// A property that Swift's own Observation tracks.
@Observable
public final class TrackedAccount {
  public var balance = 0.0

  public init() {}
}

/// Observable properties of a class with the macro.
@KVO open class MacroAccount: KVOObject {
  open var balance = 0.0
  open var interestRate = 0.0
}

/// An observable property of a type whose values are copied by retaining what they share.
@KVO open class NamedAccount: KVOObject {
  open var owner = ""
}

/// Observable properties.
open class ObservedAccount: KVOObject {
  @Observed open var balance = 0.0
  @Observed open var interestRate = 0.0
}
