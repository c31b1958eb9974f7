import CFixtures
import CKVORuntime
import Expectations
import TestSupport
import Testing

/// The runtime and a naive model run the same random programs and must record the same log: every call in order with
/// its content, and every state in between.
@Suite struct ModelTests {
  @Test(
    "C1 C2 C3 D2 D3 D4 D5 D6 D7: random programs behave as the naive model",
    arguments: 1...10 as ClosedRange<UInt64>)
  func sameLog(_ seed: UInt64) {
    let steps = Int(Environment.times(400))
    let runtime = RuntimeSystem()
    let model = NaiveModel(objects: RandomProgram.objectCount)
    for system in [runtime, model] as [ObservedSystem] {
      let program = RandomProgram(system, seed: seed)
      program.run(steps: steps)
      withExtendedLifetime(program) {}
    }
    let difference = firstDifference(runtime.lines, model.lines)
    expect(difference == nil, "\(difference ?? "")")
    expect(model.lines.count > steps + steps / 2)
    expectEqual(runtime.endings, [])
  }
}

/// Accounts and watchers of the runtime, whose calls a recorder records.
private final class RuntimeSystem: ObservedSystem {
  var reaction: (String) -> Void = { _ in }
  private let recorder = Recorder()
  private var objects = (0..<RandomProgram.objectCount).map { _ in make(account.self) }
  private var watchers = (0..<RandomProgram.watcherCount).map { _ in make(watcher.self) }
  private var registrations: [String: Registration] = [:]
  private var invalidated: Set<String> = []

  var lines: [String] { recorder.lines }
  func note(_ line: String) { recorder.note(line) }

  init() {
    for watcher in watchers.indices { listen(watcher) }
  }

  deinit {
    for object in objects { object.release() }
    for watcher in watchers { watcher.release() }
  }

  private func listen(_ watcher: Int) {
    recorder.listen(to: watchers[watcher], as: "w\(watcher)") { [unowned self] _ in
      reaction("w\(watcher)")
    }
  }

  /// Registrations whose `ended` was not called exactly once.
  var endings: [String] {
    registrations.filter { ($0.value.isValid ? 0 : 1) != $0.value.ended }.map(\.key)
  }

  func set(_ object: Int, _ key: Int, to value: Double, byKey: Bool) {
    let target = objects[object]
    if byKey {
      CKVORuntimeTests.set(target.object, modelKeys[key], .double(value))
    } else if key == 0 {
      account_setBalance(target, value)
    } else {
      account_setInterestRate(target, value)
    }
  }

  func observe(_ object: Int, _ key: Int, _ options: kvo_options, as name: String) {
    registrations[name] = recorder.observe(
      objects[object].object, modelKeys[key], options, as: name
    ) { [unowned self] _ in reaction(name) }
  }

  func invalidate(_ name: String) { registrations[name]?.invalidate() }

  func add(_ watcher: Int, to object: Int, _ key: Int, _ options: kvo_options, context: Int) {
    CKVORuntimeTests.add(
      watchers[watcher], to: objects[object].object, modelKeys[key], options,
      context: address(context))
  }

  func remove(_ watcher: Int, from object: Int, _ key: Int, context: Int?) -> Bool {
    let target = objects[object].object
    let outcome =
      if let context {
        CKVORuntimeTests.remove(
          watchers[watcher], from: target, modelKeys[key], context: address(context))
      } else {
        CKVORuntimeTests.remove(watchers[watcher], from: target, modelKeys[key])
      }
    return outcome.status == .KVO_OK
  }

  func removeAll(from object: Int) { kvo_remove_all_observers(objects[object].object) }
  func will(_ object: Int, _ key: Int) { kvo_will_change(objects[object].object, modelKeys[key]) }
  func did(_ object: Int, _ key: Int) { kvo_did_change(objects[object].object, modelKeys[key]) }

  func replaceWatcher(_ watcher: Int) {
    let old = watchers[watcher]
    watchers[watcher] = make(CFixtures.watcher.self)
    listen(watcher)
    old.release()
  }

  func replaceObject(_ object: Int) {
    let old = objects[object]
    objects[object] = make(account.self)
    old.release()
  }

  func state(of object: Int) -> String {
    let target = objects[object].object
    let counter = KeyCounter()
    kvo_visit_registrations(
      target,
      { context, info in
        let counter = Unmanaged<KeyCounter>.fromOpaque(context!).takeUnretainedValue()
        counter.counts[modelKeys.firstIndex(of: String(cString: info.pointee.key_path))!] += 1
      },
      Unmanaged.passUnretained(counter).toOpaque())
    for (key, count) in counter.counts.enumerated()
    where kvo_is_observed(target, modelKeys[key]) != (count > 0) {
      note("\(modelKeys[key]) is and is not observed")
    }
    return "\(counter.counts) \(isSwapped(target))"
  }
}

private final class KeyCounter {
  var counts = modelKeys.map { _ in 0 }
}
