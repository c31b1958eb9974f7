import CFixtures
import CKVORuntime
import Expectations
import TestSupport
import Testing

/// I1 and C4 along key paths and through derived keys: several threads change links and values, register, and end
/// objects, which are linked in cycles.
@Suite(.serialized) struct PathThreadTests {
  private static let paths = [
    "value", "twice", "nextTwice", "next.value", "next.twice", "next.next.value",
    "next.nextTwice", "next.next.nextTwice",
  ]

  private static func options(_ random: inout Random) -> kvo_options {
    kvo_options(rawValue: UInt32(random.next(16)))
  }

  @Test(
    "I1: paths survive concurrent sets, registrations, invalidations and deaths")
  func everythingAtOnce() {
    let nodes = (0..<5).map { _ in make(shared_node_class()) }
    let shared = Shared(nodes)
    let tally = Tally()
    onThreads(5) { thread in
      var random = Random(seed: UInt64(thread))
      for _ in 0..<800 {
        let node = shared.value[random.next(5)]
        let next = random.next(6)
        switch thread {
        case 0: shared_node_set_value(node, Double(next))
        case 1, 2: shared_node_set_next(node, next < 5 ? shared.value[next] : nil)
        case 3:
          let path = Self.paths[random.next(Self.paths.count)]
          tally.makeAndEnd(node, path, Self.options(&random))
        default:
          let mortal = make(shared_node_class())
          shared_node_set_next(mortal, node)
          tally.makeAndEnd(mortal, Self.paths[random.next(Self.paths.count)], .KVO_PRIOR)
          kvo_add_callback(
            mortal, "next.nextTwice", .KVO_NEW, { _, _, _, _ in }, nil, nil, nil, nil)
          shared_node_set_value(mortal, 1)
          shared_node_set_next(mortal, nil)
          kvo_object_release(mortal)
        }
      }
    }
    expect(tally.isSettled)
    expect(nodes.allSatisfy { !isSwapped($0) && $0.pointee.observations == nil })
    for node in nodes { kvo_object_release(node) }
  }

  @Test("C1 I1: an observer of a derived key may be removed as soon as it is registered")
  func removedAtOnce() {
    let node = make(shared_node_class())
    let observer = make(watcher.self)
    let (shared, watching) = (Shared(node), Shared(observer))
    let (left, wrong) = (Count(), Count())
    let rounds = 20_000
    onThreads(3) { thread in
      if thread == 0 {
        for _ in 0..<rounds {
          if add(watching.value, to: shared.value, "twice").status != .KVO_OK { wrong.add() }
        }
      } else {
        while left.value < rounds {
          if remove(watching.value, from: shared.value, "twice").status == .KVO_OK { left.add() }
        }
      }
    }
    expect(wrong.value == 0 && left.value == rounds)
    expect(!isSwapped(node) && node.pointee.observations == nil)
    observer.release()
    kvo_object_release(node)
  }

  @Test("I1: n sets on m threads at the end of a path make n times m calls")
  func exactCount() {
    let nodes = (0..<3).map { _ in make(shared_node_class()) }
    shared_node_set_next(nodes[0], nodes[1])
    shared_node_set_next(nodes[1], nodes[2])
    let probe = Probe()
    let handles = ["next.next.value", "next.next.twice", "next.nextTwice"].map {
      probe.register(nodes[0], $0)
    }
    let shared = Shared(nodes)
    onThreads(4) { _ in
      for round in 0..<500 { shared_node_set_value(shared.value[2], Double(round)) }
    }
    expectEqual(probe.calls, 3 * 4 * 500)
    for handle in handles { kvo_handle_release(handle) }
    expectEqual(probe.ended, 3)
    for node in nodes { kvo_object_release(node) }
  }

  @Test(
    "I3: a path that is led to an object being changed, by any thread, is notified of the change",
    arguments: ["next.value", "nextTwice", "next.twice", "next.nextTwice"])
  func pathLedElsewhere(_ path: String) {
    let nodes = (0..<4).map { _ in make(shared_node_class()) }
    shared_node_set_next(nodes[2], nodes[3])
    let changed = path == "next.nextTwice" ? nodes[3] : nodes[2]
    let (steady, led) = (Probe(), Probe())
    let shared = Shared(nodes)
    let handles = [steady.register(changed, "value"), led.register(nodes[0], path)]
    for isElsewhere in [true, false] {
      shared_node_set_next(nodes[0], nodes[1])
      let calls = led.calls
      kvo_will_change(changed, "value")
      if isElsewhere {
        onThreads(1) { _ in shared_node_set_next(shared.value[0], shared.value[2]) }
      } else {
        shared_node_set_next(nodes[0], nodes[2])
      }
      expectEqual(led.calls, calls + 1)
      kvo_did_change(changed, "value")
      expectEqual(led.calls, calls + 2)
    }
    for handle in handles { kvo_handle_release(handle) }
    for node in nodes { kvo_object_release(node) }
  }

  @Test("I3: a path that a setter leads to its own object is notified of the value that it sets")
  func setterLeads() {
    let cls = kvo_class_create("CLeading", tally_class(), MemoryLayout<tally>.size, nil)!
    let lead: @convention(c) (UnsafeMutablePointer<tally>, OpaquePointer, Int) -> Void = {
      member, _, x in
      if let root = member.pointee.next { tally_setNext(root, member) }
      member.pointee.x = x
    }
    let setter = signature(.KVO_FORM_SETTER, layout("q", size: 8, alignment: 8))
    let added = kvo_class_add_method(
      cls, "setX:", unsafeBitCast(lead, to: kvo_imp.self), setter, nil, nil)
    expectEqual(added, .KVO_OK)
    kvo_class_register(cls, nil)
    for isObserved in [false, true] {
      let (root, log) = (make(tally.self), Recorder())
      let member = UnsafeMutableRawPointer(make(cls)).assumingMemoryBound(to: tally.self)
      tally_setNext(member, root)
      log.observe(root.object, "next.x", [.KVO_OLD, .KVO_NEW])
      if isObserved { log.observe(member.object, "x", as: "member") }
      tally_setX(member, 5)
      let own = isObserved ? ["member: x"] : []
      expectEqual(log.take(), ["a: next.x old nil new 0", "a: next.x old 5 new 5"] + own)
      tally_setNext(root, nil)
      log.end()
      for object in [root, member] { object.release() }
    }
  }

  @Test("I3: a path that a setter leads to its own object is notified, also with one thread")
  func setterLeadsAlone() {
    let run = runProgram("lead", "KVO_COUNT_HITS", "0")
    expectEqual(run.errors.split(separator: "\n"), ["x 0", "x 5"])
    expectEqual(run.exitCode, 0)
  }

  /// Stops a thread when it reads a node's link.
  private final class Halt: @unchecked Sendable {
    private let gate = UnsafeMutablePointer<CFixtures.gate>.allocate(capacity: 1)
    init() { gate.initialize(to: .init()) }
    deinit { gate.deallocate() }
    /// Arms the gate for the calling thread.
    func setUp(at node: CObject) { shared_node_halt_at(node, gate) }
    func awaitArrival() { awaitTurn(&gate.pointee.begun, 1) }
    func letGo() { fixture_raise(&gate.pointee.let_go) }
  }

  /// How often the probe is called for one set before other threads go on.
  private static func notified(_ probe: Probe, _ node: CObject) -> Int {
    let calls = probe.calls
    shared_node_set_value(node, 5)
    return probe.calls - calls
  }

  private static func row(_ count: Int) -> [CObject] {
    let nodes = (0..<count).map { _ in make(shared_node_class()) }
    for index in 2..<count { shared_node_set_next(nodes[index - 1], nodes[index]) }
    return nodes
  }

  @Test(
    "I3 G1: setting a link follows the whole path behind it, also links set concurrently",
    arguments: ["next.next.value", "nextTwice", "next.next.twice", "next.nextTwice"])
  func linkSetBesideAnother(_ path: String) {
    let nodes = Self.row(4)
    let (probe, notified, halt) = (Probe(), Locked(0), Halt())
    let handle = probe.register(nodes[0], path)
    let shared = Shared((nodes, changed: path == "next.nextTwice" ? nodes[3] : nodes[2]))
    onThreads(2) { thread in
      let (nodes, changed) = shared.value
      if thread == 0 {
        halt.setUp(at: nodes[1])  // it stops there: it has registered at the link, and no further
        shared_node_set_next(nodes[0], nodes[1])
        return
      }
      halt.awaitArrival()
      shared_node_set_next(nodes[0], nodes[1])
      notified.withLock { $0 = Self.notified(probe, changed) }
      halt.letGo()
    }
    expectEqual(notified.withLock { $0 }, 1)
    kvo_handle_release(handle)
    for node in nodes { kvo_object_release(node) }
  }

  @Test("I3 C1: registering a path follows all of it, also links set concurrently")
  func registeredBesideAnother() {
    let nodes = Self.row(4)
    let (probe, notified, registering, setting) = (Probe(), Locked(0), Halt(), Halt())
    let shared = Shared(nodes)
    onThreads(3) { thread in
      let nodes = shared.value
      switch thread {
      case 0:  // registered at the path's first link, it is following what that key is derived from
        registering.setUp(at: nodes[0])
        let handle = probe.register(nodes[0], "nextNext.next.value")
        notified.withLock { $0 = Self.notified(probe, nodes[3]) }
        setting.letGo()
        kvo_handle_release(handle)
      case 1:  // registered further along that path, and no further
        registering.awaitArrival()
        setting.setUp(at: nodes[2])
        shared_node_set_next(nodes[0], nodes[1])
      default:
        setting.awaitArrival()
        registering.letGo()
      }
    }
    expectEqual(notified.withLock { $0 }, 1)
    for node in nodes { kvo_object_release(node) }
  }

  @Test("F5 I3: a tracked key follows a value set while the runtime attaches to it")
  func trackedRounds() { expectEqual(moving_reads_missed_after_rounds(), 0) }

  @Test("F5 I3: threads that track one key leave it attached to what was read last")
  func trackedBesideAnother() { expectEqual(moving_reads_missed_beside_another(), 0) }

  @Test("F5 I3: a thread delayed while reading a computed key does not undo a later read")
  func trackedByOlderReading() { expectEqual(moving_reads_missed_after_older_reading(), 0) }

  @Test("F5: a getter that reads other objects each time is given up, and still notifies")
  func trackedRestless() { expect((2...5).contains(moving_reads_readings_of_restless())) }

  @Test("G1: the link set last, by whichever thread, is the one followed")
  func lastLinkWins() {
    let nodes = (0..<4).map { _ in make(shared_node_class()) }
    let probe = Probe()
    let handle = probe.register(nodes[0], "next.value")
    let shared = Shared(nodes)
    for round in 0..<200 {
      onThreads(3) { thread in shared_node_set_next(shared.value[0], shared.value[thread + 1]) }
      let calls = probe.calls
      for node in nodes.dropFirst() { shared_node_set_value(node, Double(round)) }
      expectEqual(probe.calls, calls + 1)
    }
    kvo_handle_release(handle)
    for node in nodes { kvo_object_release(node) }
  }
}
