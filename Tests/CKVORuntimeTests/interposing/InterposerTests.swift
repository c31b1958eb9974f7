import CFixtures
import CKVORuntime
import Expectations
import SignatureFixtures
import Testing

/// The two kinds of interposers, and systems that refuse one of them. The tests run in processes of their own,
/// because the choice and the system restrictions are global.
@Suite struct InterposerTests {
  @Test("A3 J2: every type is observed exactly where closures are forced")
  func forced() async {
    await #expect(processExitsWith: .success) {
      kvo_set_closures_forced(true)
      for index in 0..<signature_case_count() {
        expect(failure(of: index) == nil, "\(name(of: index))")
      }
    }
  }

  @Test(
    "A3 J2: every scalar and pointer is observed exactly without a closure, and no other type is")
  func typed() async {
    await #expect(processExitsWith: .success) {
      closures_refuse(true)
      kvo_set_closures_forced(false)
      for index in 0..<signature_case_count() {
        let failure = failure(of: index)
        if signature_case_is_typed(index) {
          expect(failure == nil, "\(name(of: index))")
        } else {
          for word in ["\"value\"", "Signature\(index)", "executable"] {
            expectEqual(failure?.contains(word), true, "\(name(of: index)): \(failure ?? "none")")
          }
        }
      }
    }
  }

  @Test("A3: the test has cases of both kinds of interposer")
  func enough() {
    let typed = (0..<signature_case_count()).filter(signature_case_is_typed)
    expect(typed.count >= 20)
    expect(signature_case_count() - typed.count >= 20)
  }

  @Test(
    "J2: the interposer is chosen at the first interposition; the switch returns its old value"
  )
  func chosenOnce() async {
    await #expect(processExitsWith: .success) {
      kvo_set_closures_forced(false)
      let object = make(account.self)
      let log = Recorder()
      log.observe(object.object, "balance", .KVO_NEW)
      expect(!kvo_set_closures_forced(true))
      expect(kvo_set_closures_forced(true))
      closures_refuse(true)
      log.observe(object.object, "balance", .KVO_NEW, as: "b")
      account_setBalance(object, 1)
      expectEqual(log.take(), ["a: balance new 1.0", "b: balance new 1.0"])
      expectEqual(observe(object, "interestRate").status, .KVO_CLOSURES_UNAVAILABLE)
      expect(kvo_set_closures_forced(false))
      expectEqual(observe(object, "interestRate").status, .KVO_OK)
      object.release()
    }
  }

  // MARK: A hardened system

  @Test(
    "A3: a setter that needs a closure it can't get fails, naming class, key and cause")
  func refused() async {
    await #expect(processExitsWith: .success) {
      closures_refuse(true)
      let object = make(account.self)
      let outcome = observe(object, "place")
      expectEqual(outcome.status, .KVO_CLOSURES_UNAVAILABLE)
      expect(outcome.className == "CAccount" && outcome.key == "place")
      for word in ["place", "CAccount", "executable"] { expect(outcome.message.contains(word)) }
      expect(!kvo_is_observed(object.object, "place"))
      expectEqual(kvo_isa(object.object), kvo_class_of(object.object))
      account_setPlace(object, location(latitude: 1, longitude: 2))
      expectEqual(account_place(object).longitude, 2)
      object.release()
    }
  }

  @Test("A3: once a closure is available, the same registration succeeds")
  func allowedAgain() async {
    await #expect(processExitsWith: .success) {
      closures_refuse(true)
      let object = make(account.self)
      expectEqual(observe(object, "place").status, .KVO_CLOSURES_UNAVAILABLE)
      closures_refuse(false)
      expectNotified(object.object, "place", "(1.0, 2.0)") {
        account_setPlace(object, location(latitude: 1, longitude: 2))
      }
      object.release()
    }
  }

  @Test("A3 E2 E3: interposers that need no closure work where the system refuses them")
  func otherLanes() async {
    await #expect(processExitsWith: .success) {
      kvo_set_closures_forced(false)
      closures_refuse(true)
      expectOtherLanesWork()
    }
  }

  @Test(
    "A3: a kernel that forbids writable memory to become executable is handled, or named",
    .enabled(if: system_can_harden(), "the kernel has no PR_SET_MDWE (Linux 6.3), or no seccomp"))
  func writeExecuteDenied() async {
    await #expect(processExitsWith: .success) {
      kvo_set_closures_forced(false)
      expect(system_deny_write_execute())
      let object = make(account.self)
      let outcome = observe(object, "place")
      if outcome.status == .KVO_OK {
        expectNotified(object.object, "place", "(1.0, 2.0)") {
          account_setPlace(object, location(latitude: 1, longitude: 2))
        }
      } else {
        expectRefusal(outcome)
      }
      expectOtherLanesWork()
      object.release()
    }
  }

  @Test(
    "A3 E2 E3: a kernel that gives no executable memory does not stop interposers without closures",
    .enabled(if: system_can_harden(), "the kernel has no PR_SET_MDWE (Linux 6.3), or no seccomp"))
  func executeDenied() async {
    await #expect(processExitsWith: .success) {
      kvo_set_closures_forced(false)
      expect(system_deny_write_execute() && system_deny_execute())
      let object = make(account.self)
      expectRefusal(observe(object, "place"))
      expectEqual(kvo_isa(object.object), kvo_class_of(object.object))
      expectOtherLanesWork()
      object.release()
    }
  }
}

private func name(of index: Int) -> String { String(cString: signature_case_name(index)) }

private func failure(of index: Int) -> String? {
  var text = [CChar](repeating: 0, count: 512)
  if signature_case_run(index, &text, text.count) { return nil }
  return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
}

private func observe(_ object: UnsafeMutablePointer<account>, _ key: String) -> Outcome {
  attempt { kvo_add_callback(object.object, key, [], { _, _, _, _ in }, nil, nil, nil, $0) }
}

private func expectRefusal(_ outcome: Outcome) {
  expectEqual(outcome.status, .KVO_CLOSURES_UNAVAILABLE)
  for word in ["\"place\"", "CAccount", "executable memory: Permission denied"] {
    expect(outcome.message.contains(word), "\(outcome.message)")
  }
}

private func expectNotified(
  _ object: CObject, _ key: String, _ value: String, _ change: () -> Void
) {
  let log = Recorder()
  log.observe(object, key, .KVO_NEW)
  change()
  expectEqual(log.take(), ["a: \(key) new \(value)"])
  log.end()
}

/// Typed setters, manual changes of a key without a setter, key-value coding of a setter and of data, and a setter
/// that can't be observed.
private func expectOtherLanesWork() {
  let object = make(account.self)
  expectNotified(object.object, "balance", "1.0") { account_setBalance(object, 1) }
  expectNotified(object.object, "owner", "Ada") { account_setOwner(object, "Ada") }
  expectNotified(object.object, "frozen", "true") {
    expectEqual(set(object.object, "frozen", .bool(true)).status, .KVO_OK)
  }
  expectNotified(object.object, "number", "7") {
    kvo_will_change(object.object, "number")
    object.pointee.number = 7
    kvo_did_change(object.object, "number")
  }
  account_setPlace(object, location(latitude: 3, longitude: 4))
  expectEqual(read(object.object, "place"), "(3.0, 4.0)")
  object.release()
  let data = make(plain_class())
  expectNotified(data, "secret", "2.5") {
    expectEqual(set(data, "secret", .double(2.5)).status, .KVO_OK)
  }
  kvo_object_release(data)
}
