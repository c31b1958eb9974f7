import CFixtures
import CKVORuntime
import Testing

/// The short way of a change: whatever happens in its setter, observers are told the same as by the
/// long way. In processes of their own, as the switch is the process's.
@Suite struct ShortWayTests {
  @Test("D5 D7 I2: both ways tell the same, whatever happens in a setter")
  func sameAsLong() async {
    await #expect(processExitsWith: .success) {
      for options in askedFor {
        for event in events {
          let short = play(event, options, long: false)
          let long = play(event, options, long: true)
          #expect(
            short.told == long.told && short.later == long.later,
            "\(event.name), options \(options.rawValue)")
        }
      }
    }
  }

  @Test("D5 D7 I2: what the short way tells, by an example of each")
  func examples() async {
    await #expect(processExitsWith: .success) {
      for event in events {
        #expect(play(event, [.KVO_OLD, .KVO_NEW], long: false).told == event.told, "\(event.name)")
      }
    }
  }

  @Test("D5: what is read of a field is of the field's type, whatever the setter takes")
  func fieldOfAnotherType() {
    let object = make(interlude.self)
    defer { object.release() }
    let log = Recorder()
    defer { log.end() }
    log.observe(object.object, "rate", [.KVO_OLD, .KVO_NEW])
    interlude_set_rate(object, 3)
    interlude_set_rate(object, 4)
    #expect(log.take() == ["a: rate old 0.0 new 3.0", "a: rate old 3.0 new 4.0"])
  }

  @Test("D7: a change whose object dies in its setter is told to nobody")
  func death() {
    let object = make(interlude.self)
    let log = Recorder()
    defer { log.end() }
    log.observe(object.object, "balance", [.KVO_OLD, .KVO_NEW])
    object.pointee.context = UnsafeMutableRawPointer(object)
    object.pointee.during = {
      let object = $0!.assumingMemoryBound(to: interlude.self)
      // Its memory stays: the setter goes on to store in it.
      kvo_object_will_die(object.object)
    }
    account_setBalance(
      UnsafeMutableRawPointer(object).assumingMemoryBound(to: account.self), 1)
    #expect(log.take() == [])
    object.pointee.during = nil
    object.release()
  }

  @Test("E1: a binding's key that notifies by hand alone is told of by nobody else")
  func manual() async {
    await #expect(processExitsWith: .success) {
      lodger_move_in()
      let object = UnsafeMutablePointer<lodger>.allocate(capacity: 1)
      object.initialize(to: lodger())
      let log = Recorder()
      log.observe(object.header, "savings", [.KVO_OLD, .KVO_NEW])
      log.observe(object.header, "rent", [.KVO_OLD, .KVO_NEW])
      lodger_set_savings(object, 3)
      lodger_set_rent(object, 5)
      #expect(log.take() == ["a: rent old 0.0 new 5.0"])
      kvo_object_will_die(object.header)
      object.deallocate()
    }
  }

  @Test("J2: the long way is taken where it is forced, and the switch tells what it was")
  func switched() async {
    await #expect(processExitsWith: .success) {
      kvo_set_long_way_forced(false)
      #expect(!kvo_set_long_way_forced(true))
      #expect(kvo_set_long_way_forced(true))
      #expect(kvo_set_long_way_forced(false))
      #expect(!kvo_set_long_way_forced(false))
    }
  }
}

extension UnsafeMutablePointer<lodger> {
  var header: CObject {
    (UnsafeMutableRawPointer(self) + MemoryLayout<lodger>.offset(of: \.header)!)
      .assumingMemoryBound(to: kvo_object.self)
  }
}

private let askedFor: [kvo_options] = [[], .KVO_NEW, .KVO_OLD, [.KVO_OLD, .KVO_NEW]]

/// Something that happens in the setter of an observed property.
private struct Event {
  let name: String
  /// What is told where old and new are asked for.
  let told: [String]
  let body: (Scene) -> Void

  init(_ name: String, _ told: [String], _ body: @escaping (Scene) -> Void) {
    self.name = name
    self.told = told
    self.body = body
  }
}

/// What an event may have to do with.
private final class Scene {
  let cls: CClass
  let object: UnsafeMutablePointer<interlude>
  let log = Recorder()
  let options: kvo_options
  var registration: Registration?

  init(_ name: String, _ options: kvo_options) {
    cls = interlude_subclass(name)
    object = UnsafeMutableRawPointer(make(cls)).assumingMemoryBound(to: interlude.self)
    self.options = options
  }

  var account: UnsafeMutablePointer<account> {
    UnsafeMutableRawPointer(object).assumingMemoryBound(to: CFixtures.account.self)
  }
}

private let plain = "a: balance old 0.0 new 1.0"

nonisolated(unsafe) private let events: [Event] = [
  Event("nothing", [plain, "is 1.0"]) { _ in },
  Event("the observer is removed", ["is 1.0"]) { $0.registration?.invalidate() },
  Event("the observer is removed, and another comes", ["is 1.0"]) {
    $0.registration?.invalidate()
    $0.log.observe($0.object.object, "balance", $0.options, as: "b")
  },
  Event("another observer comes", [plain, "is 1.0"]) {
    $0.log.observe($0.object.object, "balance", $0.options, as: "b")
  },
  Event("one comes that wants to be called before", [plain, "is 1.0"]) {
    $0.log.observe($0.object.object, "balance", $0.options.union(.KVO_PRIOR), as: "b")
  },
  Event("another comes and goes", [plain, "is 1.0"]) {
    $0.log.observe($0.object.object, "balance", $0.options, as: "b").invalidate()
  },
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
    interlude_replace_getter($0.cls)
  },
  Event("all observers are removed", ["is 1.0"]) { kvo_remove_all_observers($0.object.object) },
  Event("the class comes to be observed elsewhere", [plain, "is 1.0"]) {
    let other = make($0.cls)
    $0.log.observe(other, "frozen", $0.options, as: "b").release()
    kvo_object_release(other)
  },
]

/// Everything that is told when `balance` is set to 1 and the event happens in its setter; then what the
/// property is, and what is told of one more set.
private func play(
  _ event: Event, _ options: kvo_options, long: Bool
) -> (told: [String], later: [String]) {
  kvo_set_long_way_forced(long)
  numberOfClasses += 1
  let scene = Scene("Interlude\(numberOfClasses)", options)
  defer { scene.object.release() }
  // So that the object goes on having a table where nobody observes the balance any more.
  scene.log.observe(scene.object.object, "owner", [], as: "z")
  scene.registration = scene.log.observe(scene.object.object, "balance", options)
  let context = Context(scene: scene, body: event.body)
  scene.object.pointee.context = Unmanaged.passUnretained(context).toOpaque()
  scene.object.pointee.during = {
    let context = Unmanaged<Context>.fromOpaque($0!).takeUnretainedValue()
    context.body(context.scene)
  }
  withExtendedLifetime(context) { account_setBalance(scene.account, 1) }
  scene.object.pointee.during = nil
  scene.log.note("is \(account_balance(scene.account))")
  let told = scene.log.take()
  account_setBalance(scene.account, 2)
  let later = scene.log.take()
  scene.log.end()
  return (told, later)
}

nonisolated(unsafe) private var numberOfClasses = 0

private final class Context {
  let scene: Scene
  let body: (Scene) -> Void

  init(scene: Scene, body: @escaping (Scene) -> Void) {
    self.scene = scene
    self.body = body
  }
}
