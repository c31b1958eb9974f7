// Observing by string: one context for each key, one for a class, none; superclass and subclass
// observe the same key of the same object.
import KVORuntime

class Account: KVOObject {
  @Observed var balance = 0.0
  @Observed var interestRate = 0.01
  @Observed var owner: String?
}

// A context for each key.
nonisolated(unsafe) private var balanceContext = 0
nonisolated(unsafe) private var interestRateContext = 0

class Clerk: KVOObject {
  let journal: Journal

  init(_ journal: Journal) {
    self.journal = journal
    super.init()
  }

  func watch(_ account: Account) {
    try! account.addObserver(
      self, forKeyPath: "balance", options: [.old, .new], context: &balanceContext)
    try! account.addObserver(
      self, forKeyPath: "interestRate", options: .new, context: &interestRateContext
    )
  }

  func stopWatching(_ account: Account) {
    try! account.removeObserver(self, forKeyPath: "balance", context: &balanceContext)
    try! account.removeObserver(
      self, forKeyPath: "interestRate", context: &interestRateContext)
  }

  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    if context == &balanceContext {
      let old = change?[.oldKey] as? Double
      let new = change?[.newKey] as? Double
      journal.write("clerk: balance \(old!) -> \(new!)")
    } else if context == &interestRateContext {
      let new = change?[.newKey] as? Double
      journal.write("clerk: interest rate \(new!)")
    } else {
      super.observeValue(forKeyPath: keyPath, of: object, change: change, context: context)
    }
  }
}

/// Observes the same keys as a clerk, for itself, under one context for all of them.
final class Auditor: Clerk {
  nonisolated(unsafe) private static var context = 0

  override func watch(_ account: Account) {
    super.watch(account)
    for keyPath in ["balance", "owner"] {
      try! account.addObserver(
        self, forKeyPath: keyPath, options: [.old, .prior], context: &Self.context)
    }
  }

  override func stopWatching(_ account: Account) {
    for keyPath in ["balance", "owner"] {
      try! account.removeObserver(self, forKeyPath: keyPath, context: &Self.context)
    }
    super.stopWatching(account)
  }

  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    guard context == &Self.context, let keyPath, let change else {
      super.observeValue(forKeyPath: keyPath, of: object, change: change, context: context)
      return
    }
    let when = change[.notificationIsPriorKey] as? Bool == true ? "before" : "after"
    journal.write("auditor: \(keyPath) \(when), was \(described(change[.oldKey]!))")
  }

  private func described(_ value: Any) -> String {
    switch value {
    case Optional<Any>.none: "nothing"
    case let name as String: name
    default: "a number"
    }
  }
}

/// Distinguishes its keys by name; without a context, because nothing else observes here.
final class Doorman: KVOObject {
  private let account: Account
  private let journal: Journal

  init(_ account: Account, _ journal: Journal) {
    self.account = account
    self.journal = journal
    super.init()
    try! account.addObserver(self, forKeyPath: "owner", options: .initial, context: nil)
  }

  deinit {
    try! account.removeObserver(self, forKeyPath: "owner")
  }

  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    if keyPath == "owner", let account = object as? Account {
      journal.write("doorman: \(account.owner ?? "nobody")")
    } else {
      super.observeValue(forKeyPath: keyPath, of: object, change: change, context: context)
    }
  }
}

func contexts(_ journal: Journal) {
  let account = Account()
  let clerk = Clerk(journal)
  clerk.watch(account)
  account.balance = 10
  account.interestRate = 0.02
  clerk.stopWatching(account)
  account.balance = 20

  let auditor = Auditor(journal)
  auditor.watch(account)
  account.balance = 30
  account.owner = "Ada"
  account.owner = "Grace"
  auditor.stopWatching(account)
  account.owner = "Mary"

  var doorman: Doorman? = Doorman(account, journal)
  account.owner = nil
  withExtendedLifetime(doorman) {}
  doorman = nil
  account.owner = "Ada"
}
