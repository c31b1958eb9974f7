import KVORuntime

/// The account of the guide, in a module that knows nothing of who observes it.
open class Account: Tracked {
  @Observed open var balance = 0.0
  @Observed open var interestRate = 0.0
  @Observed open var owner = ""
  @Observed open var nickname: String?
  @Observed open var branch: Account?
  @Observed public private(set) var number = 0

  open func renumber(to number: Int) { self.number = number }
}

/// A subclass with storage of its own.
open class SavingsAccount: Account {
  @Observed open var floor = 0.0
}

/// A class that nobody can subclass.
public final class SealedAccount: Account {
  @Observed public var seal = "wax"
}
