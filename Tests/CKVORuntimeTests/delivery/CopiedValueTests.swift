import CFixtures
import CKVORuntime
import Expectations
import TestSupport
import Testing

/// Changes of a property whose values have references: the fast path copies them. The tests run in processes of their
/// own, because the switch of the fast path is global.
@Suite struct CopiedValueTests {
  @Test("D5 D7 I2: the fast path delivers copied values as the slow path does, and releases them")
  func sameAsGeneral() async {
    await #expect(processExitsWith: .success) {
      for options in askedFor {
        for (event, opening) in events.flatMap({ event in Opening.allCases.map { (event, $0) } }) {
          let (fast, slow) = (
            play(event, options, opening, isFast: true),
            play(event, options, opening, isFast: false)
          )
          expectEqual(fast, slow, "\(event.name), \(opening), options \(options.rawValue)")
          expectEqual(fast.last, "references 0 0 0", "\(event.name), \(opening)")
        }
      }
    }
  }

  @Test("D5 D7 I2: copied values of the fast path, one example of each event")
  func examples() async {
    await #expect(processExitsWith: .success) {
      for event in events {
        let lines = play(event, [.KVO_OLD, .KVO_NEW], .set, isFast: true)
        expectEqual(lines.prefix { $0 != "next" }, event.lines[...], "\(event.name)")
      }
    }
  }

  @Test("D7 I2: copied values are right and released if another thread closes the change")
  func closedElsewhere() async {
    await #expect(processExitsWith: .success) {
      for isFast in [true, false] {
        let scene = Scene([.KVO_OLD, .KVO_NEW], isFast: isFast)
        scene.observe("a")
        let frame = Opening.set.open(scene.guests[0])
        let shared = Shared((scene, frame))
        onThreads(1) { _ in
          let (scene, frame) = shared.value
          scene.store(1)
          frame.map { kvo_stored_property_did_change($0) }
        }
        expectEqual(scene.log.take(), ["a: partner nil > 1"])
        expectEqual(scene.end(), "references 0 0 0")
      }
    }
  }

  @Test("D7 I2: a change that is cancelled releases its copied value and notifies no observer")
  func cancelled() async {
    await #expect(processExitsWith: .success) {
      for isFast in [true, false] {
        let scene = Scene([.KVO_OLD, .KVO_NEW], isFast: isFast)
        scene.store(2)
        scene.observe("a")
        let frame = Opening.mutation.open(scene.guests[0])
        frame.map { kvo_stored_property_cancel_change($0) }
        expectEqual(scene.log.take(), [])
        scene.set(1)
        expectEqual(scene.log.take(), ["a: partner 2 > 1"])
        expectEqual(scene.end(), "references 0 0 0")
      }
    }
  }
}

/// The ways to open a change of `partner`.
private enum Opening: CaseIterable {
  case set, mutation

  func open(_ guest: UnsafeMutablePointer<bound_object>) -> OpaquePointer? {
    switch self {
    case .set: kvo_stored_property_will_change(guest.header, guest.address(of: \.partner))
    case .mutation: guest.beginMutation(of: \.partner)
    }
  }
}

/// Something that happens in a change of `partner` from nil to guest 1, while it is open or in its first notification.
private struct Event {
  let name: String
  let isInCall: Bool
  /// The lines for an observer that asks for old and new.
  let lines: [String]
  let body: (Scene) -> Void

  init(
    _ name: String, inCall isInCall: Bool = false, _ lines: [String],
    _ body: @escaping (Scene) -> Void
  ) {
    self.name = name
    self.isInCall = isInCall
    self.lines = lines
    self.body = body
  }
}

private let askedFor: [kvo_options] = [[], .KVO_NEW, .KVO_OLD, [.KVO_OLD, .KVO_NEW]]
private let plain = "a: partner nil > 1"

nonisolated(unsafe) private let events: [Event] = [
  Event("nothing", [plain]) { _ in },
  Event("the observer is removed", []) { $0.first?.invalidate() },
  Event("the observer is removed, and another comes", []) {
    $0.first?.invalidate()
    $0.observe("b")
  },
  Event("another observer comes", [plain]) { $0.observe("b") },
  Event("one comes that wants to be called before", [plain]) { $0.observe("b", .KVO_PRIOR) },
  Event("another comes and goes", [plain]) { $0.observe("b").invalidate() },
  Event("the key is set once more", ["is 2", plain]) {
    $0.set(2)
    $0.log.note("is \($0.stored)")
  },
  Event("another observed key is set", ["b: mood", plain]) {
    $0.log.observe($0.guests[0].header, "mood", as: "b")
    $0.guests[0].set(\.mood, 3)
  },
  Event("the class gets a key", [plain]) { _ in declareKey() },
  Event("a key comes to be derived from it", [plain]) { observeDerivedKey($0) },
  Event("another thread observes a key that comes to be derived from it", [plain, "derived"]) {
    let shared = Shared($0)
    onThreads(1) { _ in observeDerivedKey(shared.value) }
  },
  Event("all observers are removed", []) { kvo_remove_all_observers($0.guests[0].header) },
  Event("the observer is removed in its call", inCall: true, [plain]) { $0.first?.invalidate() },
  Event("another comes in the call", inCall: true, [plain]) { $0.observe("b") },
  Event("the key is set in the call", inCall: true, [plain, "a: partner 1 > 2"]) { $0.set(2) },
  Event("the class gets a key in the call", inCall: true, [plain]) { _ in declareKey() },
]

private func observeDerivedKey(_ scene: Scene) {
  let key = declareKey()
  kvo_class_add_dependency(bound_object_class(), key, "partner", nil)
  scene.unnamed.observe(scene.guests[0].header, key) { _ in scene.log.note("derived") }
}

/// Adds a property to the class, so that what is known of its accessors has to be found again.
@discardableResult
private func declareKey() -> String {
  numberOfKeys += 1
  let key = "extra\(numberOfKeys)"
  var description = kvo_property_description(
    key: kvo_key_intern(key)!, type: kvo_type_for_encoding("d", nil)!, offset: 0,
    get: { _, _, value, _ in
      value.pointee = kvo_value_double(0)
      return .KVO_OK
    },
    set: nil, show: nil, binding: nil, manual: false, track: nil, is_path: false, has_link: false,
    pick: nil)
  expectEqual(kvo_class_add_property(bound_object_class(), &description, nil), .KVO_OK)
  return key
}

nonisolated(unsafe) private var numberOfKeys = 0

/// Three objects, the first of which has the property. `references` counts what the runtime has retained.
private final class Scene {
  let guests = (0..<3).map { _ in UnsafeMutablePointer<bound_object>.allocate(capacity: 1) }
  let log = Recorder()
  /// Its own lines are not compared: they contain addresses and numbered keys.
  let unnamed = Recorder()
  private let options: kvo_options
  private(set) var first: Registration?

  init(_ options: kvo_options, isFast: Bool) {
    kvo_set_fast_path_disabled(!isFast)
    kvo_set_class_of_unobserved({ _ in bound_object_class() }, nil)
    for guest in guests {
      guest.initialize(to: bound_object())
      guest.pointee.header.isa = bound_object_class()
    }
    self.options = options
  }

  var stored: String { name(guests[0].pointee.partner) }

  func store(_ number: Int) { guests[0].pointee.partner = guests[number].header }

  func set(_ number: Int) { guests[0].set(\.partner, guests[number].header) }

  /// Registers an observer that notes the numbers of the old and the new guest.
  @discardableResult
  func observe(
    _ label: String, _ more: kvo_options = [], reaction: @escaping () -> Void = {}
  ) -> Registration {
    let registration = unnamed.observe(guests[0].header, "partner", options.union(more)) {
      [unowned self] call in
      let values = [kvo_change_get_old(call.change), kvo_change_get_new(call.change)]
        .map { $0.map { name(kvo_value_get_object($0)) } ?? "-" }
      log.note("\(label): \(call.isPrior ? "prior " : "")partner \(values[0]) > \(values[1])")
      reaction()
    }
    if first == nil { first = registration }
    return registration
  }

  private func name(_ object: CObject?) -> String {
    guard let object else { return "nil" }
    return guests.firstIndex { $0.header == object }.map { "\($0)" } ?? "unknown"
  }

  /// Removes all observers. Returns what the runtime still retains.
  func end() -> String {
    log.end()
    unnamed.end()
    guests[0].pointee.partner = nil
    for guest in guests { kvo_object_will_die(guest.header) }
    let counts = guests.map { "\($0.pointee.references)" }
    for guest in guests { guest.deallocate() }
    return "references " + counts.joined(separator: " ")
  }
}

/// Sets the partner to guest 1 with the event, and then to guest 2. Returns all lines.
private func play(_ event: Event, _ options: kvo_options, _ opening: Opening, isFast: Bool)
  -> [String]
{
  let scene = Scene(options, isFast: isFast)
  // Keeps the object's table when `partner` has no observer any more.
  scene.log.observe(scene.guests[0].header, "title", as: "z")
  var isDone = false
  scene.observe("a") {
    guard event.isInCall, !isDone else { return }
    isDone = true
    event.body(scene)
  }
  let frame = opening.open(scene.guests[0])
  if !event.isInCall { event.body(scene) }
  scene.store(1)
  frame.map { kvo_stored_property_did_change($0) }
  scene.log.note("next")
  scene.set(2)
  scene.log.note("is \(scene.stored)")
  let lines = scene.log.take()
  return lines + [scene.end()]
}
