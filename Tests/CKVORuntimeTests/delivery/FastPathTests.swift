import CFixtures
import CKVORuntime
import Expectations
import Testing

/// The fast path of a change delivers the same as the slow path, whatever happens in the setter. The tests run in
/// processes of their own, because the switch is global.
@Suite struct FastPathTests {
  @Test("D5 D7 I2: the fast path and the slow path deliver the same, whatever a setter does")
  func sameAsGeneral() async {
    await #expect(processExitsWith: .success) {
      for options in askedFor {
        for event in events {
          let short = play(event, options, long: false)
          let long = play(event, options, long: true)
          expect(
            short.notified == long.notified && short.later == long.later,
            "\(event.name), options \(options.rawValue)")
        }
      }
    }
  }

  @Test(
    "D7 G1 I2: both paths of delivery agree on key paths and derived keys",
    arguments: Reach.allCases)
  func sameAsGeneral(_ reach: Reach) async {
    // An exit test can't capture a parameter.
    switch reach {
    case .plain: break
    case .path:
      await #expect(processExitsWith: .success) { compareWays(.path, events + eventsOfPaths) }
    case .derived:
      await #expect(processExitsWith: .success) { compareWays(.derived, events) }
    }
  }

  @Test("D7 G1 I2: both paths of delivery agree on a key path, whatever its getters do")
  func sameInGetters() async {
    await #expect(processExitsWith: .success) {
      for call in 1...4 { compareWays(.path, events + eventsOfPaths, inGetter: call) }
    }
  }

  @Test("C5 I2: an observer of a path that is removed in its call is released after the call")
  func endsAfterCall() async {
    await #expect(processExitsWith: .success) {
      let (root, leaf) = (make(interrupted_account.self), make(interrupted_account.self))
      root.branch = leaf
      let log = Recorder()
      var registration: Registration?
      registration = log.observe(root.object, "branch.balance", .KVO_NEW) { _ in
        registration?.invalidate()
        expectEqual(registration?.ended, 0)
      }
      account_setBalance(leaf.account, 1)
      expectEqual(log.take(), ["a: branch.balance new 1.0"])
      expectEqual(registration?.ended, 1)
      registration = nil
      root.release()
      leaf.release()
    }
  }

  @Test("F5: an observer's reads are not recorded as a getter's reads")
  func setWhileRecorded() async {
    await #expect(processExitsWith: .success) {
      kvo_set_read_listener { recorder, _, _ in
        recorder.assumingMemoryBound(to: Int.self).pointee += 1
      }
      onFirstThreadAndAnother {
        let notified = UnsafeMutablePointer<Int>.allocate(capacity: 1)
        notified.initialize(to: 0)
        kvo_set_recorder(notified)  // before the thread is known
        let object = make(account.self)
        let log = Recorder()
        log.observe(object.object, "balance") { _ in
          expectEqual(readPath(object.object, "balance"), "1.0")
        }
        account_setBalance(object, 1)
        expectEqual(log.take(), ["a: balance"])
        expectEqual(notified.pointee, 0)
        kvo_set_recorder(nil)
        notified.deallocate()
        log.end()
        object.release()
      }
    }
  }

  @Test("F2: a getter that sets what its key is derived from notifies once")
  func setWhileRead() async {
    await #expect(processExitsWith: .success) {
      for long in [false, true] {
        kvo_set_fast_path_disabled(long)
        let cls = interrupted_account_subclass("CInterludeThatSets\(long)")
        interrupted_account_interrupt_getter(cls)
        kvo_class_add_dependency(cls, "balance", "interestRate", nil)
        let object = UnsafeMutableRawPointer(make(cls)).assumingMemoryBound(
          to: interrupted_account.self)
        let log = Recorder()
        log.observe(object.object, "balance", .KVO_NEW)
        object.pointee.context = UnsafeMutableRawPointer(object)
        object.pointee.during = {
          let object = $0!.assumingMemoryBound(to: interrupted_account.self)
          if object.pointee.account.interestRate < 5 { account_setInterestRate(object.account, 5) }
        }
        account_setInterestRate(object.account, 1)
        expectEqual(log.take(), ["a: balance new 0.0"], "\(long)")
        log.end()
        object.release()
      }
    }
  }

  @Test("D5 D7 I2: the fast path's deliveries, one example of each")
  func examples() async {
    await #expect(processExitsWith: .success) {
      for event in events {
        expectEqual(
          play(event, [.KVO_OLD, .KVO_NEW], long: false).notified, event.notified, "\(event.name)")
      }
    }
  }

  @Test("D5: a value read from a field has the field's type, whatever the setter takes")
  func fieldOfAnotherType() {
    let object = make(interrupted_account.self)
    defer { object.release() }
    let log = Recorder()
    defer { log.end() }
    log.observe(object.object, "rate", [.KVO_OLD, .KVO_NEW])
    interrupted_account_set_rate(object, 3)
    interrupted_account_set_rate(object, 4)
    expectEqual(log.take(), ["a: rate old 0.0 new 3.0", "a: rate old 3.0 new 4.0"])
  }

  @Test("D7: a change whose object dies in its setter notifies no observer")
  func death() {
    let object = make(interrupted_account.self)
    let log = Recorder()
    defer { log.end() }
    log.observe(object.object, "balance", [.KVO_OLD, .KVO_NEW])
    object.pointee.context = UnsafeMutableRawPointer(object)
    object.pointee.during = {
      let object = $0!.assumingMemoryBound(to: interrupted_account.self)
      // The memory stays valid: the setter still stores in it.
      kvo_object_will_die(object.object)
    }
    account_setBalance(
      UnsafeMutableRawPointer(object).assumingMemoryBound(to: account.self), 1)
    expectEqual(log.take(), [])
    object.pointee.during = nil
    object.release()
  }

  @Test("E1: a binding's key that notifies manually is notified only by the binding")
  func manual() async {
    await #expect(processExitsWith: .success) {
      offset_object_install()
      let object = UnsafeMutablePointer<offset_object>.allocate(capacity: 1)
      object.initialize(to: offset_object())
      let log = Recorder()
      log.observe(object.header, "savings", [.KVO_OLD, .KVO_NEW])
      log.observe(object.header, "rent", [.KVO_OLD, .KVO_NEW])
      offset_object_set_savings(object, 3)
      offset_object_set_rent(object, 5)
      expectEqual(log.take(), ["a: rent old 0.0 new 5.0"])
      kvo_object_will_die(object.header)
      object.deallocate()
    }
  }

  @Test("J2: the slow path is taken where it is forced, and the switch returns its old value")
  func switched() async {
    await #expect(processExitsWith: .success) {
      kvo_set_fast_path_disabled(false)
      expect(!kvo_set_fast_path_disabled(true))
      expect(kvo_set_fast_path_disabled(true))
      expect(kvo_set_fast_path_disabled(false))
      expect(!kvo_set_fast_path_disabled(false))
    }
  }
}

extension UnsafeMutablePointer<offset_object> {
  var header: CObject {
    (UnsafeMutableRawPointer(self) + MemoryLayout<offset_object>.offset(of: \.header)!)
      .assumingMemoryBound(to: kvo_object.self)
  }
}

extension UnsafeMutablePointer<interrupted_account> {
  fileprivate var account: UnsafeMutablePointer<account> {
    UnsafeMutableRawPointer(self).assumingMemoryBound(to: CFixtures.account.self)
  }

  /// The object that the path `branch.balance` leads to.
  fileprivate var branch: UnsafeMutablePointer<interrupted_account>? {
    get { nil }
    nonmutating set {
      account_setBranch(
        account, newValue.map { UnsafeMutableRawPointer($0).assumingMemoryBound(to: tracked.self) })
    }
  }
}

/// How the observers reach the balance that is set.
enum Reach: CaseIterable { case plain, path, derived }

private func compareWays(_ reach: Reach, _ events: [Event], inGetter call: Int? = nil) {
  for options in askedFor {
    for event in events {
      let short = play(event, options, long: false, reach, inGetter: call)
      let long = play(event, options, long: true, reach, inGetter: call)
      expect(
        short.notified == long.notified && short.later == long.later,
        "\(event.name), \(reach), options \(options.rawValue), getter \(call ?? 0)")
    }
  }
}

private let askedFor: [kvo_options] = [[], .KVO_NEW, .KVO_OLD, [.KVO_OLD, .KVO_NEW]]

/// Something that happens in the setter of an observed property.
private struct Event {
  let name: String
  /// The lines for an observer that asks for old and new.
  let notified: [String]
  let body: (Scene) -> Void

  init(_ name: String, _ notified: [String], _ body: @escaping (Scene) -> Void) {
    self.name = name
    self.notified = notified
    self.body = body
  }
}

/// The objects that an event may use.
private final class Scene {
  let cls: CClass
  let object: UnsafeMutablePointer<interrupted_account>
  let log = Recorder()
  let options: kvo_options
  let reach: Reach
  /// An object of another class that leads to `object`, or `object` itself if there is no path.
  private(set) var root: UnsafeMutablePointer<interrupted_account>
  var registration: Registration?

  init(_ name: String, _ options: kvo_options, _ reach: Reach) {
    cls = interrupted_account_subclass(name)
    if reach == .derived { kvo_class_add_dependency(cls, "interestRate", "balance", nil) }
    object = UnsafeMutableRawPointer(make(cls)).assumingMemoryBound(to: interrupted_account.self)
    root = object
    self.options = options
    self.reach = reach
    if reach == .path {
      root = make(interrupted_account.self)
      root.branch = object
    }
  }

  var account: UnsafeMutablePointer<account> { object.account }

  var key: String {
    switch reach {
    case .plain: "balance"
    case .path: "branch.balance"
    case .derived: "interestRate"
    }
  }

  @discardableResult
  func observe(as name: String = "a", _ more: kvo_options = []) -> Registration {
    log.observe(root.object, key, options.union(more), as: name)
  }

  func end() {
    log.end()
    if root != object { root.release() }
    object.release()
  }
}

private let plain = "a: balance old 0.0 new 1.0"

nonisolated(unsafe) private let events: [Event] = [
  Event("nothing", [plain, "is 1.0"]) { _ in },
  Event("the observer is removed", ["is 1.0"]) { $0.registration?.invalidate() },
  Event("the observer is removed, and another comes", ["is 1.0"]) {
    $0.registration?.invalidate()
    $0.observe(as: "b")
  },
  Event("another observer comes", [plain, "is 1.0"]) { $0.observe(as: "b") },
  Event("one comes that wants to be called before", [plain, "is 1.0"]) {
    $0.observe(as: "b", .KVO_PRIOR)
  },
  Event("another comes and goes", [plain, "is 1.0"]) { $0.observe(as: "b").invalidate() },
  Event("other keys are observed", [plain, "is 1.0"]) {
    for key in ["interestRate", "frozen", "number", "owner", "place"] {
      $0.log.observe($0.object.object, key, [], as: "b")
    }
  },
  Event("the key is set once more", ["was 7.0", plain, "is 1.0"]) { scene in
    scene.object.pointee.during = nil
    account_setBalance(scene.account, 7)
    scene.log.note("was \(account_balance(scene.account))")
  },
  Event("another observed key is set", ["b: interestRate old 0.0 new 3.0", plain, "is 1.0"]) {
    $0.log.observe($0.object.object, "interestRate", $0.options, as: "b")
    account_setInterestRate($0.account, 3)
  },
  Event("the getter is replaced", ["a: balance old 0.0 new 100.0", "is 100.0"]) {
    interrupted_account_replace_getter($0.cls)
  },
  Event("all observers are removed", ["is 1.0"]) { kvo_remove_all_observers($0.object.object) },
  Event("the class comes to be observed elsewhere", [plain, "is 1.0"]) {
    let other = make($0.cls)
    $0.log.observe(other, "frozen", $0.options, as: "b").release()
    kvo_object_release(other)
  },
]

/// Events for a key path.
nonisolated(unsafe) private let eventsOfPaths: [Event] = [
  Event("the path is led elsewhere", []) {
    let other = make(interrupted_account.self)
    $0.root.branch = other
    other.release()
  },
  Event("the path ends before", []) { $0.root.branch = nil },
  Event("the path is led elsewhere and back", []) {
    $0.root.branch = nil
    $0.root.branch = $0.object
  },
  Event("the key itself is observed", []) {
    $0.log.observe($0.object.object, "balance", $0.options, as: "b")
  },
  Event("the key itself is observed, and the path led elsewhere", []) {
    $0.log.observe($0.object.object, "balance", $0.options, as: "b")
    $0.root.branch = nil
  },
  Event("the observer is removed, and the key itself observed", []) {
    $0.registration?.invalidate()
    $0.log.observe($0.object.object, "balance", $0.options, as: "b")
  },
  Event("another path comes to lead there", []) {
    let other = make(interrupted_account.self)
    other.branch = $0.object
    $0.log.observe(other.object, "branch.balance", $0.options, as: "b")
    $0.log.observe(other.object, "branch.interestRate", $0.options, as: "c")
    other.release()
  },
  Event("a key comes to be derived from it", []) {
    kvo_class_add_dependency($0.cls, "frozen", "balance", nil)
    $0.log.observe($0.object.object, "frozen", $0.options, as: "b")
  },
  Event("all observers of the root are removed", []) { kvo_remove_all_observers($0.root.object) },
]

/// Sets `balance` to 1, with the event in its setter, or in the given call of its getter. Returns all lines and the
/// property's value, then the lines of one more set.
private func play(
  _ event: Event, _ options: kvo_options, long: Bool, _ reach: Reach = .plain,
  inGetter call: Int? = nil
) -> (notified: [String], later: [String]) {
  kvo_set_fast_path_disabled(long)
  numberOfClasses += 1
  let scene = Scene("Interlude\(numberOfClasses)", options, reach)
  defer { scene.end() }
  // Keeps the object's table when the balance has no observer any more.
  scene.log.observe(scene.object.object, "owner", [], as: "z")
  scene.registration = scene.observe()
  if call != nil {
    interrupted_account_interrupt_getter(scene.cls)
    scene.account.pointee.balance = 1  // so old equals new
  }
  let context = Context(scene: scene, call: call, body: event.body)
  scene.object.pointee.context = Unmanaged.passUnretained(context).toOpaque()
  scene.object.pointee.during = {
    Unmanaged<Context>.fromOpaque($0!).takeUnretainedValue().play()
  }
  withExtendedLifetime(context) { account_setBalance(scene.account, 1) }
  scene.object.pointee.during = nil
  scene.log.note("is \(account_balance(scene.account))")
  let notified = scene.log.take()
  account_setBalance(scene.account, 2)
  let later = scene.log.take()
  return (notified, later)
}

nonisolated(unsafe) private var numberOfClasses = 0

private final class Context {
  let scene: Scene
  private let body: (Scene) -> Void
  /// Counted without synchronisation: getter and setter calls never overlap.
  private var calls: Int

  init(scene: Scene, call: Int?, body: @escaping (Scene) -> Void) {
    self.scene = scene
    self.body = body
    calls = call ?? 1
  }

  func play() {
    calls -= 1
    if calls == 0 || scene.reach == .plain { body(scene) }
  }
}
