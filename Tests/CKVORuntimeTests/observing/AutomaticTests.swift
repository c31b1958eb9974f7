import CFixtures
import CKVORuntime
import Expectations
import Testing

/// E1: automatic notification, and the three ways to turn it off for a key.
@Suite(.recording) struct AutomaticTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let cls: @Sendable () -> CClass
    let key: String
    let automatic: Bool

    init(_ cls: @escaping @Sendable () -> CClass, _ key: String, _ automatic: Bool) {
      self.cls = cls
      self.key = key
      self.automatic = automatic
    }

    var testDescription: String { "\(name(of: cls())).\(key)" }
  }

  static let cases = [
    // By hooks for one key; of two hooks, `Of` precedes `For`.
    Case({ automatic_by_key_class() }, "plain", true),
    Case({ automatic_by_key_class() }, "of", false),
    Case({ automatic_by_key_class() }, "for_", false),
    Case({ automatic_by_key_class() }, "both", true),
    Case({ automatic_by_key_class() }, "bare", false),
    // By the general hook, which precedes the hooks for one key.
    Case({ automatic_general_class() }, "quiet", false),
    Case({ automatic_general_class() }, "named", true),
    Case({ automatic_general_class() }, "loud", true),
    Case({ automatic_general_class() }, "left", false),
    // Inherited, and overridden with a call of the superclass.
    Case({ automatic_sub_class() }, "quiet", false),
    Case({ automatic_sub_class() }, "named", true),
    Case({ automatic_sub_class() }, "loud", false),
    Case({ automatic_sub_class() }, "left", false),
    Case({ automatic_sub_class() }, "extra", true),
    Case({ automatic_sub_class() }, "other", false),
  ]

  @Test("E1: the class's hooks turn automatic notification off per key", arguments: cases)
  func hooks(_ sample: Case) {
    let object = make(sample.cls())
    defer { kvo_object_release(object) }
    expectEqual(kvo_class_automatically_notifies(sample.cls(), sample.key), sample.automatic)
    let log = Recorder()
    log.observe(object, sample.key, [.KVO_OLD, .KVO_NEW])

    expectEqual(set(object, sample.key, .int(3)).status, .KVO_OK)
    expectEqual(read(object, sample.key), "3")
    expectEqual(log.take(), (sample.automatic ? ["a: \(sample.key) old 0 new 3"] : []))
  }

  @Test(
    "E1: off silences the setter called directly as well", arguments: [kvo_options(), .KVO_NEW])
  func directSetter(options: kvo_options) {
    let object = make(automatic_by_key.self)
    defer { object.release() }
    let log = Recorder()
    for key in ["plain", "of", "for_", "both"] { log.observe(object.object, key, options) }
    automatic_by_key_setPlain(object, 1)
    automatic_by_key_setOf(object, 2)
    automatic_by_key_setFor_(object, 3)
    automatic_by_key_setBoth(object, 4)
    expectEqual(
      log.take(),
      (options == .KVO_NEW ? ["a: plain new 1", "a: both new 4"] : ["a: plain", "a: both"]))
    expect(object.pointee.of == 2 && object.pointee.for_ == 3)
  }

  @Test("E1: of two keys that share a setter one may be off")
  func sharedSetter() {
    let object = make(automatic_general.self)
    defer { object.release() }
    let log = Recorder()
    log.observe(object.object, "loud", .KVO_NEW)
    log.observe(object.object, "Loud", .KVO_NEW)
    automatic_general_setLoud(object, 2)
    set(object.object, "Loud", .int(3))
    expectEqual(log.take(), ["a: loud new 2", "a: loud new 3"])
    kvo_will_change(object.object, "Loud")
    kvo_did_change(object.object, "Loud")
    expectEqual(log.take(), ["a: Loud new 30"])
  }

  @Test("E1: where automatic notification is off, a manual pair still notifies", arguments: cases)
  func pairByHand(_ sample: Case) {
    let object = make(sample.cls())
    defer { kvo_object_release(object) }
    let log = Recorder()
    log.observe(object, sample.key, .KVO_PRIOR)
    kvo_will_change(object, sample.key)
    kvo_did_change(object, sample.key)
    expectEqual(log.take(), ["a: prior \(sample.key)", "a: \(sample.key)"])
  }

  @Test("E1: the class is asked once per class and key")
  func askedOnce() {
    let log = Recorder()
    let objects = (0..<3).map { _ in make(automatic_general.self) }
    defer { releaseAll(objects) }
    for object in objects {
      for _ in 0..<2 { log.observe(object.object, "counted", .KVO_NEW) }
      automatic_general_setCounted(object, 1)
      set(object.object, "counted", .int(2))
      kvo_remove_all_observers(object.object)
    }
    expectEqual(automatic_general_times_asked(), 1)
    expectEqual(log.take().count, 12)
  }

  @Test("E1: with everything left at its default every setter notifies")
  func everySetter() {
    let object = make(account.self)
    defer { object.release() }
    let log = Recorder()
    let keys = ["balance", "interestRate", "frozen", "owner", "branch", "place"]
    for key in keys { log.observe(object.object, key) }
    account_setBalance(object, 1)
    account_setInterestRate(object, 1)
    account_setFrozen(object, true)
    account_setOwner(object, "Ada")
    account_setBranch(object, nil)
    account_setPlace(object, location())
    expectEqual(log.take(), keys.map { "a: \($0)" })
  }
}
