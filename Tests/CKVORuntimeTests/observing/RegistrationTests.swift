import CFixtures
import CKVORuntime
import Expectations
import TestSupport
import Testing

/// C1 and C2: several registrations of one observer, and which of them a removal ends.
@Suite(.recording) struct RegistrationTests {
  @Test("C1: a registration made several times is called as often, and removed one at a time")
  func sameSeveralTimes() {
    let object = make(account.self)
    let observer = make(watcher.self)
    defer {
      object.release()
      observer.release()
    }
    let log = Recorder()
    log.listen(to: observer, as: "w")
    for _ in 0..<3 { add(observer, to: object.object, "balance", context: address(7)) }

    for left in (0...3).reversed() {
      account_setBalance(object, 1)
      expectEqual(log.take(), Array(repeating: "w[7]: balance", count: left))
      let status = remove(observer, from: object.object, "balance", context: address(7)).status
      expectEqual(status, (left > 0 ? .KVO_OK : .KVO_NOT_REGISTERED))
    }
  }

  @Test("C1: several registrations of one observer keep their own options")
  func optionsPerRegistration() {
    let object = make(account.self)
    let observer = make(watcher.self)
    defer {
      object.release()
      observer.release()
    }
    let log = Recorder()
    log.listen(to: observer, as: "w")
    add(observer, to: object.object, "balance", .KVO_NEW)
    add(observer, to: object.object, "balance", .KVO_OLD)
    account_setBalance(object, 2)
    expectEqual(log.take(), ["w: balance new 2.0", "w: balance old 0.0"])
    remove(observer, from: object.object, "balance")
    account_setBalance(object, 3)
    expectEqual(log.take(), ["w: balance new 3.0"])
  }

  @Test("C1: removal with a context takes only the most recent of that context")
  func removalWithContext() {
    let object = make(account.self)
    let observer = make(watcher.self)
    defer {
      object.release()
      observer.release()
    }
    let log = Recorder()
    log.listen(to: observer, as: "w")
    for context in [1, 2, 1, 3] {
      add(observer, to: object.object, "balance", context: address(context))
    }
    let expected = [
      (1, ["w[1]: balance", "w[2]: balance", "w[3]: balance"]),
      (2, ["w[1]: balance", "w[3]: balance"]),
      (1, ["w[3]: balance"]),
      (3, []),
    ]
    for (context, lines) in expected {
      let outcome = remove(observer, from: object.object, "balance", context: address(context))
      expectEqual(outcome.status, .KVO_OK)
      account_setBalance(object, 1)
      expectEqual(log.take(), lines)
    }
  }

  @Test("C1: random removals among many observers and contexts match a plain list")
  func removalsAmongMany() {
    let object = make(account.self)
    let observers = (0..<3).map { _ in make(watcher.self) }
    defer {
      object.release()
      for observer in observers { observer.release() }
    }
    let log = Recorder()
    for (i, observer) in observers.enumerated() { log.listen(to: observer, as: "w\(i)") }
    var random = Random(seed: 7)
    var expected: [(observer: Int, context: Int)] = []
    for step in 0..<800 {
      let entry = (observer: random.next(3), context: 1 + random.next(4))
      let observer = observers[entry.observer]
      // grows to about sixty, then shrinks
      let grows = random.next(10) < (step % 200 < 120 ? 7 : 2)
      let anyContext = random.next(2) == 0
      if grows {
        expected.append(entry)
        add(observer, to: object.object, "balance", context: address(entry.context))
      } else {
        let outcome =
          anyContext
          ? remove(observer, from: object.object, "balance")
          : remove(observer, from: object.object, "balance", context: address(entry.context))
        let place = expected.lastIndex {
          $0.observer == entry.observer && (anyContext || $0.context == entry.context)
        }
        expectEqual(outcome.status, (place == nil ? .KVO_NOT_REGISTERED : .KVO_OK))
        if let place { expected.remove(at: place) }
      }
      account_setBalance(object, 1)
      expectEqual(log.take(), expected.map { "w\($0.observer)[\($0.context)]: balance" })
    }
  }

  @Test("C1: removal without a context takes the most recent of that observer and key")
  func removalWithoutContext() {
    let object = make(account.self)
    let observer = make(watcher.self)
    let other = make(watcher.self)
    defer {
      object.release()
      observer.release()
      other.release()
    }
    let log = Recorder()
    log.listen(to: observer, as: "w")
    log.listen(to: other, as: "o")
    add(observer, to: object.object, "balance", context: address(1))
    add(observer, to: object.object, "balance", context: nil)
    add(observer, to: object.object, "balance", context: address(2))
    add(other, to: object.object, "balance", context: address(9))
    add(observer, to: object.object, "owner", context: address(8))

    for lines in [["w[1]", "w", "o[9]"], ["w[1]", "o[9]"], ["o[9]"]] {
      expectEqual(remove(observer, from: object.object, "balance").status, .KVO_OK)
      account_setBalance(object, 1)
      expectEqual(log.take(), lines.map { "\($0): balance" })
    }
    account_setOwner(object, "Ada")
    expectEqual(log.take(), ["w[8]: owner"])
  }

  @Test("C1: a context of NULL is a context as any other")
  func nullContext() {
    let object = make(account.self)
    let observer = make(watcher.self)
    defer {
      object.release()
      observer.release()
    }
    let log = Recorder()
    log.listen(to: observer, as: "w")
    add(observer, to: object.object, "balance", context: nil)
    add(observer, to: object.object, "balance", context: address(5))
    expectEqual(remove(observer, from: object.object, "balance", context: nil).status, .KVO_OK)
    expectEqual(
      remove(observer, from: object.object, "balance", context: nil).status, .KVO_NOT_REGISTERED)
    account_setBalance(object, 1)
    expectEqual(log.take(), ["w[5]: balance"])
  }

  /// A removal that must fail: its observer (the registered one or another), key, context.
  struct Removal: Sendable, CustomTestStringConvertible {
    var registered = true
    var key = "balance"
    var context: Int?
    var testDescription: String {
      "\(registered ? "the" : "another") observer, \(key), context \(context.map(String.init) ?? "any")"
    }
  }

  @Test(
    "C2: removing what is not registered is an error, and nothing else changes",
    arguments: [
      Removal(context: 2), Removal(context: 0), Removal(registered: false),
      Removal(registered: false, context: 1), Removal(key: "interestRate"),
      Removal(key: "interestRate", context: 1), Removal(key: "nonsense"), Removal(key: ""),
      Removal(key: "Balance"),
    ])
  func removingNothing(_ removal: Removal) {
    let object = make(account.self)
    let observer = make(watcher.self)
    let other = make(watcher.self)
    defer {
      object.release()
      observer.release()
      other.release()
    }
    let log = Recorder()
    log.listen(to: observer, as: "w")
    add(observer, to: object.object, "balance", context: address(1))
    let isa = kvo_isa(object.object)
    let who = removal.registered ? observer : other

    let outcome =
      if let context = removal.context {
        remove(who, from: object.object, removal.key, context: address(context))
      } else {
        remove(who, from: object.object, removal.key)
      }

    expectEqual(outcome.status, .KVO_NOT_REGISTERED)
    expectEqual(outcome.className, "CAccount")
    expectEqual(outcome.key, removal.key)
    expect(outcome.message.contains("CAccount") && outcome.message.contains(removal.key))
    expectEqual(kvo_isa(object.object), isa)
    account_setBalance(object, 1)
    expectEqual(log.take(), ["w[1]: balance"])
  }

  @Test("C2: removing from an object that was never observed is an error")
  func removingFromUnobserved() {
    let object = make(account.self)
    let observer = make(watcher.self)
    defer {
      object.release()
      observer.release()
    }
    expectEqual(remove(observer, from: object.object, "balance").status, .KVO_NOT_REGISTERED)
    kvo_remove_all_observers(object.object)
    expectEqual(kvo_isa(object.object), account_class())
  }
}
