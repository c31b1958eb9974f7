import Expectations
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

/// C5 for the other forms of `observe`: a target's method, and a handler that gets its token.
@Suite(.leakFree) struct TargetActionTests {
  @Test("C5: a target's method is called with the change")
  func action() {
    let account = Account()
    let target = Target()
    let token = account.observe(
      \.balance, options: [.old, .new], target: target, action: Target.changed)
    account.balance = 1
    account.balance = 2
    token.invalidate()
    account.balance = 3
    expectEqual(target.lines, ["old 0.0 new 1.0", "old 1.0 new 2.0"])
  }

  @Test("C5: the target's override is called")
  func overriddenAction() {
    let account = Account()
    let target = LoudTarget()
    let token = account.observe(\.balance, options: .new, target: target, action: Target.changed)
    account.balance = 1
    token.invalidate()
    expectEqual(target.lines, ["loud", "new 1.0"])
  }

  @Test("C4: a target is not retained; after its death no call is made")
  func weakTarget() {
    let account = Account()
    var target: Target? = Target()
    weak let weakTarget = target
    let token = account.observe(\.balance, target: target!, action: Target.changed)
    account.balance = 1
    expectEqual(weakTarget?.lines, [""])
    target = nil
    expect(weakTarget == nil)
    account.balance = 2
    token.invalidate()
    expect(!isSwapped(account))
  }

  @Test("C4: a target that dies in the call of an earlier observer is not called")
  func targetDiesInCall() {
    let account = Account()
    let log = Recorder()
    var target: Target? = Target()
    weak let weakTarget = target
    log.observe(account, \.balance) { _, _ in target = nil }
    let token = account.observe(\.balance, target: target!, action: Target.changed)
    account.balance = 1
    expect(weakTarget == nil)
    expectEqual(log.take(), ["a"])
    token.invalidate()
  }

  @Test("C4: a target may drop its last reference in its own call")
  func targetDropsItself() {
    let account = Account()
    var target: Target? = Target()
    weak let weakTarget = target
    target?.reaction = { target = nil }
    let token = account.observe(\.balance, target: target!, action: Target.changed)
    account.balance = 1
    expect(weakTarget == nil)
    token.invalidate()
  }

  @Test("C7: a target may be the observed object itself")
  func targetIsObserved() {
    let account = SelfObserving()
    let token = account.observe(
      \.balance, options: .new, target: account, action: SelfObserving.balanceChanged)
    account.balance = 2
    expectEqual(account.owner, "2.0")
    token.invalidate()
  }

  @Test("C5: a handler is passed its own token, the one that observe returns")
  func withToken() {
    let account = Account()
    let log = Recorder()
    var given: [KeyValueObservation] = []
    let token = account.observe(
      \.balance, options: [.initial, .new],
      withToken: { _, change, token in
        log.note("\(change.newValue!) \(token.isValid)")
        given.append(token)
      })
    account.balance = 1
    expectEqual(log.take(), ["0.0 true", "1.0 true"])
    expect(given.allSatisfy { $0 === token })
    token.invalidate()
    given = []
  }

  @Test("C5: a handler may end itself")
  func endsItself() {
    let account = Account()
    let log = Recorder()
    let token = account.observe(
      \.balance, options: .new,
      withToken: { _, change, token in
        log.note("\(change.newValue!)")
        if change.newValue! >= 2 { token.invalidate() }
      })
    for balance in 1...4 { account.balance = Double(balance) }
    expectEqual(log.take(), ["1.0", "2.0"])
    expect(!token.isValid && !isSwapped(account))
  }

  @Test("C5: dropping the token ends a handler that is passed it")
  func dropping() {
    let account = Account()
    let log = Recorder()
    var token: KeyValueObservation? = account.observe(
      \.balance,
      withToken: { [life = Life(of: Target.self)] _, _, _ in
        life.goesOn()
        log.note("notified")
      })
    account.balance = 1
    withExtendedLifetime(token) {}
    token = nil
    account.balance = 2
    expectEqual(log.take(), ["notified"])
    expect(!isSwapped(account))
  }

  @Test("C5: a string key path gives a token as well, whose values are untyped")
  func byString() throws {
    let person = Person()
    let log = Recorder()
    let token = try log.observe(person, "lastName", [.old, .new])
    try log.observe(person, "shoeSize", [.old, .new], as: "size")
    person.lastName = nil
    try person.setValue(40, forKey: "shoeSize")
    token.invalidate()
    person.lastName = "King"
    expectEqual(log.take(), ["a old Lovelace new nil", "size old 38 new 40"])
  }

  @Test("C8: an unknown string key path is an error, and nothing is registered")
  func unknownByString() {
    let person = Person()
    let error = keyValueError { _ = try person.observe(keyPath: "hat") { _, _ in } }
    expectEqual(error, .undefinedKey(key: "hat", className: "Person"))
    expect(!isSwapped(person))
  }
}

private class Target {
  fileprivate(set) var lines: [String] = []
  var reaction: (() -> Void)?
  private let life = Life(of: Target.self)

  func changed(_ change: KeyValueObservedChange<Double>) {
    lines.append(change.words.joined(separator: " "))
    reaction?()
  }
}

private final class LoudTarget: Target {
  override func changed(_ change: KeyValueObservedChange<Double>) {
    lines.append("loud")
    super.changed(change)
  }
}

private final class SelfObserving: Account {
  func balanceChanged(_ change: KeyValueObservedChange<Double>) { owner = "\(change.newValue!)" }
}
