/// The classes whose property the benchmark sets and gets: plain, with a `didSet`, observed. All
/// are open and live in a module of their own, so that each access from the benchmark is the same
/// kind of call and pays the same exclusivity checks.
import KVORuntime
import Observation

/// A property without anything: what the unobserved ones are compared with.
open class PlainAccount {
  open var balance = 0.0

  public init() {}
}

/// What one writes without this package: the object keeps closures and calls them.
open class DidSetAccount {
  public var handlers: [(DidSetAccount) -> Void] = []

  open var balance = 0.0 {
    didSet {
      for handler in handlers { handler(self) }
    }
  }

  public init() {}
}

/// What one writes without this package for tasks that read.
open class StreamAccount {
  private let continuation: AsyncStream<Double>.Continuation
  /// For one reader.
  public let balances: AsyncStream<Double>

  open var balance = 0.0 {
    didSet { continuation.yield(balance) }
  }

  public init() { (balances, continuation) = AsyncStream.makeStream() }
}

/// What the language's own observation tracks.
@Observable
public final class TrackedAccount {
  public var balance = 0.0

  public init() {}
}

/// Observable properties.
open class ObservedAccount: KVOObject {
  @Observed open var balance = 0.0
  @Observed open var interestRate = 0.0
}
