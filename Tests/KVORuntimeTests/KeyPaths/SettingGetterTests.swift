import Expectations
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

/// F2, F5: getters that set what they read.
@Suite(.leakFree) struct SettingGetterTests {
  private final class Counter: KVOObject {
    @Observed var serial = 0
    @Observed var factor = 1
    @Observed var next: Counter?
    @Observed var echo = 0
    @Observed var cached: Int?

    var ticket: Int {
      serial += 1
      return serial * factor
    }
    var ping: Int {
      echo = serial
      return echo
    }
    var pong: Int {
      serial = echo
      return serial
    }
    var lazyFactor: Int {
      if cached == nil { cached = factor }
      return cached!
    }
    var declared: Int {
      serial += 1
      return serial * factor
    }

    override class func registerKeys() {
      declareKeys { $0.computed("declared", \.declared, affectedBy: ["serial", "factor"]) }
    }
  }

  @Test(
    "F5 D7: a getter that sets what it reads notifies once, without endless recursion",
    arguments: [[], [.old, .new], [.initial, .prior, .old, .new]] as [KeyValueObservingOptions])
  func ends(_ options: KeyValueObservingOptions) {
    let counter = Counter()
    let log = Recorder()
    log.observe(counter, \.ticket, options.union(.new), as: "ticket")
    _ = log.take()
    counter.factor = 1000
    let notified = log.take().filter { !$0.contains("prior") }
    expectEqual(notified.count, 1)
    expect(notified.allSatisfy { $0.hasSuffix("000") })
    counter.serial = 70
    expectEqual(log.take().filter { !$0.contains("prior") }.count, 1)
  }

  @Test("F2: so is a declared key whose getter sets what affects it")
  func declared() throws {
    let counter = Counter()
    let log = Recorder()
    log.observe(counter, \.declared, [.old, .new])
    counter.factor = 1000
    expectEqual(log.take().count, 1)
  }

  @Test("F3 G1: so are paths to such keys, typed and by string")
  func paths() throws {
    for isTyped in [true, false] {
      let (root, counter) = (Counter(), Counter())
      root.next = counter
      let log = Recorder()
      if isTyped { log.observe(root, \.next?.ticket, [.old, .new]) }
      if !isTyped { try log.observe(root, "next.declared", [.old, .new]) }
      _ = log.take()
      counter.factor = 1000
      expectEqual(log.take().count, 1)
    }
  }

  @Test("F5: two getters that each set what the other reads")
  func mutual() {
    let counter = Counter()
    let log = Recorder()
    log.observe(counter, \.ping, [.new], as: "ping")
    log.observe(counter, \.pong, [.new], as: "pong")
    _ = log.take()
    counter.serial = 5
    expectEqual(Set(log.take()), ["ping new 5", "pong new 5"])
  }

  @Test("F5 D1: other observers of what the getter sets are notified")
  func others() {
    let counter = Counter()
    let log = Recorder()
    log.observe(counter, \.lazyFactor, [.old, .new], as: "lazy")
    log.observe(counter, \.cached, [.new], as: "cached")
    counter.cached = nil
    expect(log.take().contains("cached new 1"))
    expectEqual(counter.lazyFactor, 1)
    _ = log.take()
    counter.cached = 3
    expectEqual(log.take(), ["cached new 3", "lazy old 1 new 3"])
  }
}
