import KVORuntime

/// The guide's account, in a module without observers.
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

/// A final class.
public final class SealedAccount: Account {
  @Observed public var seal = "wax"
}
