import Expectations
import KVORuntime
import TestSupport
import Testing

/// I3: registrations on another thread while an unobserved property is being set.
@Suite(.leakFree, .serialized) struct LateRegistrationTests {
  /// An observer on another thread, and its notifications.
  private final class Latecomer: @unchecked Sendable {
    private var token: KeyValueObservation?
    private(set) var notified: [String] = []

    func register<Root: KVOObject, Value>(
      _ object: Root, _ keyPath: KeyPath<Root, Value> & Sendable,
      _ options: KeyValueObservingOptions
    ) {
      let shared = Shared((object, keyPath))
      onThreads(1) { _ in
        let (object, keyPath) = shared.value
        self.token = object.observe(keyPath, options: options) { _, change in
          self.notified.append(
            [change.oldValue, change.newValue].map { $0.map { "\($0)" } ?? "-" }
              .joined(separator: " -> "))
        }
      }
    }

    func register(_ object: KVOObject, key: String) {
      let shared = Shared(object)
      onThreads(1) { _ in
        self.token = try? shared.value.observe(keyPath: key, options: [.initial, .new]) {
          _, change in self.notified.append(change.newValue.map { "\($0)" } ?? "-")
        }
      }
    }

    func end() { token = nil }
  }

  private final class Farewell {
    let say: () -> Void
    init(_ say: @escaping () -> Void) { self.say = say }
    deinit { say() }
  }

  private struct Nothing {}

  private final class Model: KVOObject, @unchecked Sendable {
    @Observed var value = 0
    @Observed var item: Farewell?
    @Observed var count = 0
    @Observed var nothing = Nothing()
    var whileSetting: () -> Void = {}
    private var stored = 0

    override class func registerKeys() {
      declareKeys {
        $0.accessors(
          "declared", get: { $0.stored },
          set: {
            $0.whileSetting()
            $0.stored = $1
          })
      }
    }
  }

  private func change(_ number: inout Int, to value: Int, after event: () -> Void) {
    event()
    number = value
  }

  @Test(
    "I3: an in-place change notifies observers registered during it",
    arguments: [[.initial, .new], [.old, .new]] as [KeyValueObservingOptions])
  func inPlace(_ options: KeyValueObservingOptions) {
    let model = Model()
    let latecomer = Latecomer()
    change(&model.value, to: 5) { latecomer.register(model, \.value, options) }
    expectEqual(
      latecomer.notified, (options.contains(.initial) ? ["- -> 0", "- -> 5"] : ["5 -> 5"]))
    latecomer.end()
  }

  private func change(_ nothing: inout Nothing, after event: () -> Void) {
    event()
    nothing = Nothing()
  }

  @Test("I3: so does an in-place change of a zero-sized value")
  func inPlaceWithoutRoom() {
    let model = Model()
    let latecomer = Latecomer()
    change(&model.nothing) { latecomer.register(model, \.nothing, .new) }
    expectEqual(latecomer.notified, ["- -> Nothing()"])
    change(&model.nothing) {}
    expectEqual(latecomer.notified, ["- -> Nothing()", "- -> Nothing()"])
    latecomer.end()
    change(&model.nothing) {}
    change(&model.nothing) { latecomer.register(model, \.count, .new) }
    expectEqual(latecomer.notified, ["- -> Nothing()", "- -> Nothing()"])
    latecomer.end()
  }

  @Test("I3: an assignment notifies observers registered during it")
  func assigned() {
    let model = Model()
    let latecomer = Latecomer()
    model.item = Farewell { latecomer.register(model, \.item, .new) }
    model.item = nil
    expectEqual(latecomer.notified, ["- -> nil"])
    latecomer.end()
  }

  @Test("I3: so does an assignment beside an observed property")
  func assignedBeside() {
    let model = Model()
    let beside = model.observe(\.count) { _, _ in }
    let latecomer = Latecomer()
    model.item = Farewell { latecomer.register(model, \.item, .new) }
    model.item = nil
    expectEqual(latecomer.notified, ["- -> nil"])
    latecomer.end()
    beside.invalidate()
  }

  @Test("I3: a set by key notifies observers registered during it")
  func byKey() throws {
    let model = Model()
    let latecomer = Latecomer()
    model.whileSetting = { latecomer.register(model, key: "declared") }
    try model.setValue(5, forKey: "declared")
    model.whileSetting = {}
    expectEqual(latecomer.notified, ["0", "5"])
    latecomer.end()
  }

  @Test("I3: another key's observer, or none, gets nothing")
  func othersAreSilent() {
    let model = Model()
    let latecomer = Latecomer()
    change(&model.value, to: 5) { latecomer.register(model, \.count, .new) }
    expectEqual(latecomer.notified, [])
    model.value = 6
    expectEqual(latecomer.notified, [])
    latecomer.end()
  }
}
