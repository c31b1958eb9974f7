import CFixtures
import CKVORuntime
import Testing

/// A hardened system: closures can't be made. In processes of their own.
@Suite struct ClosureTests {
  @Test("A3: without closures a setter can't be observed: the error names class, key and cause")
  func refused() async {
    await #expect(processExitsWith: .success) {
      closures_refuse(true)
      let object = make(account.self)
      let outcome = attempt {
        kvo_add_callback(object.object, "balance", [], { _, _, _, _ in }, nil, nil, nil, $0)
      }
      #expect(outcome.status == .KVO_CLOSURES_UNAVAILABLE)
      #expect(outcome.className == "CAccount" && outcome.key == "balance")
      for word in ["balance", "CAccount", "executable"] { #expect(outcome.message.contains(word)) }
      #expect(!kvo_is_observed(object.object, "balance"))
      #expect(kvo_isa(object.object) == kvo_class_of(object.object))
      object.release()
    }
  }

  @Test("A3: and once they are to be had, the same registration succeeds")
  func allowedAgain() async {
    await #expect(processExitsWith: .success) {
      closures_refuse(true)
      let object = make(account.self)
      let log = Recorder()
      #expect(
        attempt {
          kvo_add_callback(object.object, "balance", [], { _, _, _, _ in }, nil, nil, nil, $0)
        }.status == .KVO_CLOSURES_UNAVAILABLE)
      closures_refuse(false)
      log.observe(object.object, "balance")
      account_setBalance(object, 1)
      #expect(log.take() == ["a: balance"])
      object.release()
    }
  }
}
