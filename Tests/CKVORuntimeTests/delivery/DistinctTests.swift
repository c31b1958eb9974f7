import CFixtures
import CKVORuntime
import Expectations
import TestSupport
import Testing

/// D3: what `distinct` compares, and which changes it withholds.
@Suite(.serialized, .recording) struct DistinctTests {
  private let object = make(disturbed.self)
  private let log = Recorder()

  private func end(_ others: [Disturbed] = []) {
    log.end()
    releaseAll([object] + others)
  }

  // MARK: The value last delivered

  @Test("D3: NaN over NaN is not a distinct change; a set gains and loses it once (H4)")
  func notANumber() {
    let account = make(account.self)
    log.observe(account.object, "balance", [.KVO_NEW, .KVO_DISTINCT])
    for balance in [Double.nan, -.nan, 1, .nan] { account_setBalance(account, balance) }
    expectEqual(
      log.take(), ["a: balance new nan", "a: balance new 1.0", "a: balance new nan"])
    account.release()
    end()
  }

  @Test(
    "D3: a change is compared with the value at registration, then with the one last delivered",
    arguments: DistinctWay.allCases)
  func lastDelivered(_ way: DistinctWay) {
    disturbed_setValue(object, 1)
    let root = way.observe(object, log)
    let notified = { (value: Int) in "a: \(way.key) new \(value)" }
    object.pointee.value = 2  // stored without a notification
    disturbed_setValue(object, 1)
    expectEqual(log.take(), [])
    object.pointee.value = 2
    disturbed_setValue(object, 2)
    expectEqual(log.take(), [notified(2)])
    object.pointee.value = 3
    disturbed_setValue(object, 2)
    expectEqual(log.take(), [])
    disturbed_setValue(object, 1)
    expectEqual(log.take(), [notified(1)])
    end([root])
  }

  @Test(
    "D3: the initial call counts as a delivery, and is made once",
    arguments: [[], .KVO_NEW] as [kvo_options])
  func initial(_ options: kvo_options) {
    disturbed_setValue(object, 1)
    let all: kvo_options = [options, .KVO_INITIAL, .KVO_DISTINCT]
    log.observe(object.object, "value", all) { _ in disturbed_setValue(object, 2) }
    let notified = options == [] ? ["a: value", "a: value"] : ["a: value new 1", "a: value new 2"]
    expectEqual(log.take(), notified)
    disturbed_setValue(object, 2)
    expectEqual(log.take(), [])
    log.observe(object.object, "value", all, as: "b")
    disturbed_setValue(object, 2)
    expectEqual(log.take().count, 1)
    end()
  }

  /// An account whose getter of `balance` runs `body`.
  private func interrupted(
    _ name: String, _ body: @escaping @convention(c) (UnsafeMutableRawPointer?) -> Void
  ) -> CObject {
    let cls = interrupted_account_subclass(name)
    interrupted_account_interrupt_getter(cls)
    kvo_class_add_dependency(cls, "balance", "interestRate", nil)
    let account = UnsafeMutableRawPointer(make(cls)).assumingMemoryBound(
      to: interrupted_account.self)
    account.pointee.context = UnsafeMutableRawPointer(account)
    account.pointee.during = body
    return UnsafeMutableRawPointer(account).assumingMemoryBound(to: kvo_object.self)
  }

  @Test("D3: registration returns, though each reading of the first value overtakes itself")
  func initialThatSets() {
    let object = interrupted("CInitialThatSets") {
      let account = $0!.assumingMemoryBound(to: account.self)
      account_setInterestRate(account, account_interestRate(account) + 1)
    }
    for options in [.KVO_INITIAL, [.KVO_INITIAL, .KVO_DISTINCT]] as [kvo_options] {
      log.observe(object, "balance", [options, .KVO_NEW])
      expectEqual(log.take(), ["a: balance new 0.0", "a: balance new 0.0"])
      log.end()
    }
    kvo_object_release(object)
    end()
  }

  @Test(
    "I2 D3: there is no initial call if the getter has ended the registration",
    arguments: [.KVO_NEW, .KVO_DISTINCT] as [kvo_options])
  func endedByGetter(_ options: kvo_options) {
    let object = interrupted("CEndedByGetter\(options.rawValue)") {
      kvo_remove_all_observers($0!.assumingMemoryBound(to: kvo_object.self))
    }
    log.observe(object, "balance", [options, .KVO_INITIAL])
    expectEqual(log.take(), [])
    log.end()
    kvo_object_release(object)
    end()
  }

  /// The thread that registers in the test below, and how often it has called the getter.
  private nonisolated(unsafe) static var registering: (thread: pthread_t, readings: Int)?

  @Test(
    "I2 D3: no call follows a registration whose value is overtaken, if the getter then ends it")
  func endedByLaterGetter() {
    let object = interrupted("CEndedByLaterGetter") {
      guard Self.registering?.thread == pthread_self() else { return }
      let account = Shared($0!.assumingMemoryBound(to: account.self))
      Self.registering!.readings += 1
      if Self.registering!.readings == 1 {
        onAnotherThread { account_setInterestRate(account.value, 1) }
      } else {
        kvo_remove_all_observers($0!.assumingMemoryBound(to: kvo_object.self))
      }
    }
    Self.registering = (pthread_self(), 0)
    log.observe(object, "balance", [.KVO_NEW, .KVO_PRIOR, .KVO_DISTINCT])
    expectEqual(Self.registering?.readings, 2)
    Self.registering = nil
    expectEqual(log.take(), ["a: prior balance", "a: balance new 0.0"])
    log.end()
    kvo_object_release(object)
    end()
  }

  @Test(
    "D3: an observer that asks for old, for new or for neither gets the same changes",
    arguments: [[], .KVO_OLD, .KVO_NEW, [.KVO_OLD, .KVO_NEW]] as [kvo_options],
    ["value", "next.value"])
  func parts(_ options: kvo_options, _ path: String) {
    let root = make(disturbed.self)
    for owner in [root, object] { disturbed_setNext(owner, object) }
    var calls = 0
    log.observe(path == "value" ? object.object : root.object, path, [options, .KVO_DISTINCT]) {
      _ in calls += 1
    }
    for value in [0, 1, 1, 2, 2] { disturbed_setValue(object, value) }
    expectEqual(calls, 2)
    log.end()
    for owner in [root, object] { disturbed_setNext(owner, nil) }
    releaseAll([root, object])
  }

  @Test("D3: prior calls are made also if the change is then withheld")
  func prior() {
    log.observe(object.object, "value", [.KVO_OLD, .KVO_PRIOR, .KVO_DISTINCT])
    disturbed_setValue(object, 0)
    expectEqual(log.take(), ["a: prior value old 0"])
    end()
  }

  @Test("D3: each key of a token has a value of its own")
  func keysOfOneToken() {
    let handles = UnsafeMutablePointer<OpaquePointer?>.allocate(capacity: 1)
    defer { handles.deallocate() }
    handles.initialize(to: nil)
    let seen = Seen()
    let outcome = attempt { error in
      withKeys(["value", "other", "value"]) {
        kvo_add_callback_for_keys(
          object.object, $0, 3, [.KVO_NEW, .KVO_DISTINCT],
          { context, _, key, change in
            let new = kvo_value_get_int(kvo_change_get_new(change))
            let index = kvo_change_get_key_index(change)
            Unmanaged<Seen>.fromOpaque(context!).takeUnretainedValue().calls
              .append("\(index) \(String(cString: key)) \(new)")
          }, Unmanaged.passUnretained(seen).toOpaque(), 0, nil, handles, error)
      }
    }
    expectEqual(outcome.status, .KVO_OK)
    for value in [1, 1] {
      disturbed_setOther(object, value)
      disturbed_setValue(object, value)
    }
    disturbed_setValue(object, 0)
    expectEqual(seen.calls, ["1 other 1", "0 value 1", "2 value 1", "0 value 0", "2 value 0"])
    kvo_handle_release(handles.pointee)
    end()
  }

  @Test("D3 H4: elements are delivered in any case, and the next setting after them is too")
  func elements() {
    let nodes = [make(graph_node.self), make(graph_node.self)]
    let log = Recorder()
    log.observe(nodes[0].object, "items", [.KVO_DISTINCT])
    let setItems = { (items: [CObject]) in
      withCollection(.KVO_ARRAY, of: items) { graph_node_setItems(nodes[0], $0) }
    }
    setItems([])
    expectEqual(log.take().count, 0)
    graph_node_insertItem(nodes[0], nodes[1], 0)
    expectEqual(log.take().count, 1)
    setItems([nodes[1].object])
    expectEqual(log.take().count, 1)
    setItems([nodes[1].object])
    expectEqual(log.take().count, 0)
    log.end()
    end()
    releaseAll(nodes)
  }

  @Test("D3: a setting is not delivered after elements that were inserted since it was read")
  func elementsSince() {
    let nodes = [make(graph_node.self), make(graph_node.self)]
    let (first, log) = (Recorder(), Recorder())
    first.observe(nodes[0].object, "items", as: "b") { _ in
      if nodes[0].pointee.items.count == 0 { graph_node_insertItem(nodes[0], nodes[1], 0) }
    }
    log.observe(nodes[0].object, "items", [.KVO_DISTINCT])
    let setItems = { (items: [CObject]) in
      withCollection(.KVO_ARRAY, of: items) { graph_node_setItems(nodes[0], $0) }
    }
    setItems([])
    expectEqual(log.take().count, 1)
    for calls in [1, 0] {
      setItems([nodes[1].object])
      expectEqual(log.take().count, calls)
    }
    first.end()
    log.end()
    end()
    releaseAll(nodes)
  }

  // MARK: Overlapping changes of one thread

  @Test(
    "D3 D7: setting an equal value in an observer of distinct changes notifies no observer",
    arguments: DistinctWay.allCases)
  func setsItself(_ way: DistinctWay) {
    let root = way.observe(object, log) { _ in
      disturbed_setValue(object, min(disturbed_value(object) + 1, 3))
    }
    onAnotherThread { disturbed_setValue(object, 1) }
    expectEqual(log.take(), (1...3).map { "a: \(way.key) new \($0)" })
    end([root])
  }

  @Test(
    "D3: a value that an earlier observer has replaced is not delivered after the one that replaced it",
    arguments: [false, true], [0, 2])
  func replaced(_ isPath: Bool, _ replacement: Int) {
    let root = make(disturbed.self)
    disturbed_setNext(root, object)
    let (observed, key) = isPath ? (root.object, "next.value") : (object.object, "value")
    log.observe(observed, key, as: "b") { _ in
      if disturbed_value(object) == 1 { disturbed_setValue(object, replacement) }
    }
    log.observe(observed, key, [.KVO_NEW, .KVO_DISTINCT])
    disturbed_setValue(object, 1)
    let notified = replacement == 0 ? [] : ["a: \(key) new 2"]
    expectEqual(log.take().filter { $0.hasPrefix("a") }, notified)
    end([root])
  }

  @Test("D3: a value is delivered, also if releasing the one before it sets an equal one")
  func setByRelease() {
    let node = make(graph_node.self)
    let element = make(disturbed.self)
    withCollection(.KVO_ARRAY, of: [element.object]) { graph_node_setWares(node, $0) }
    log.observe(node.object, "wares", .KVO_DISTINCT)
    let key = UnsafeRawPointer(element)
    let status = kvo_object_associate(
      element.object, key, node,
      { value in
        withCollection(.KVO_ARRAY, [.int(1)]) {
          graph_node_setWares(value.assumingMemoryBound(to: graph_node.self), $0)
        }
      }, nil)
    expectEqual(status, .KVO_OK)
    element.release()
    withCollection(.KVO_ARRAY, [.int(1)]) { graph_node_setWares(node, $0) }
    expectEqual(log.take(), ["a: wares"])
    end()
    node.release()
  }

  @Test(
    "D3: however changes nest and cross on a thread, distinct has delivered the final value",
    arguments: [0, 1, 2, 3], [false, true])
  func tangle(_ way: UInt32, _ isFirstThread: Bool) {
    let run = {
      let way = nested_changes_way(rawValue: way)!
      for seed in 0..<300 as Range<UInt64> {
        let untold = nested_changes_find_missed(way, seed, 100).map { String(cString: $0) }
        expect(untold == nil, "seed \(seed)")
        if untold != nil { break }
      }
    }
    if isFirstThread { run() } else { onAnotherThread(run) }
    end()
  }

  @Test(
    "D3: pairs inside a pair are compared with what was delivered, not with each other",
    arguments: DistinctWay.allCases)
  func pairs(_ way: DistinctWay) {
    let root = way.observe(object, log)
    let bracketed = { (body: () -> Void) in
      kvo_will_change(object.object, "value")
      body()
      kvo_did_change(object.object, "value")
    }
    onFirstThreadAndAnother {
      bracketed { bracketed { bracketed {} } }
      bracketed {
        disturbed_setValue(object, 1)
        disturbed_setValue(object, 0)
      }
    }
    expectEqual(log.take(), [1, 0, 1, 0].map { "a: \(way.key) new \($0)" })
    end([root])
  }

  @Test("D3 F2: a path that moves to an object with the value last delivered notifies no observer")
  func moves() {
    let root = make(disturbed.self)
    let leaves = [object, make(disturbed.self)]
    disturbed_setNext(root, leaves[0])
    disturbed_setValue(leaves[1], 3)
    log.observe(root.object, "next.value", [.KVO_NEW, .KVO_DISTINCT])
    kvo_will_change(leaves[0].object, "value")
    leaves[0].pointee.value = 2
    disturbed_setNext(root, leaves[1])
    kvo_did_change(leaves[0].object, "value")  // the path leads elsewhere
    leaves[0].pointee.value = 3
    disturbed_setNext(root, leaves[0])
    expectEqual(log.take(), ["a: next.value new 3"])
    end([root, leaves[1]])
  }

  // MARK: The stored value's memory

  @Test(
    "D3: the object last delivered is not kept alive, and equals no other",
    arguments: [false, true])
  func objects(_ isInitial: Bool) {
    let deaths = Deaths()
    let account = make(account.self)
    let first = deaths.make()
    let second = deaths.make()
    account_setBranch(account, first)
    first.release()
    let initial: kvo_options = isInitial ? .KVO_INITIAL : []
    log.observe(account.object, "branch", [initial, .KVO_DISTINCT])
    account.pointee.branch = nil  // stored without a notification
    first.release()
    expectEqual(deaths.count, 1)
    account_setBranch(account, nil)
    account_setBranch(account, second)
    account_setBranch(account, second)
    expectEqual(log.take().count, isInitial ? 3 : 2)
    for left in [account.object, second.object] { kvo_object_release(left) }
    end()
  }

  @Test("D3: an object equals itself, also in a property whose type can't be compared")
  func objectsOfAnyType() {
    let crew = Crew()
    let (ada, bob) = (crew.make("Ada"), crew.make("Bob"))
    withGuest { guest in
      log.observe(guest.header, "partner", .KVO_DISTINCT)
      for worker in [ada, ada, bob, bob, ada] {
        var value = kvo_value_object(worker.object)
        expectEqual(kvo_set_value_for_key(guest.header, "partner", &value, nil), .KVO_OK)
        kvo_value_destroy(&value)
      }
      expectEqual(log.take().count, 3)
      expectEqual(setPath(guest.header, "partner", .nil).status, .KVO_OK)
      log.end()
    }
    crew.end()
    end()
  }

  @Test("D3: the value last delivered is released when the registration ends, or the object dies")
  func release() {
    let deaths = Deaths()
    for endsFirst in [true, false] {
      let node = make(graph_node.self)
      let element = deaths.make()
      withCollection(.KVO_ARRAY, of: [element.object]) { graph_node_setWares(node, $0) }
      let log = Recorder()
      log.observe(node.object, "wares", [.KVO_DISTINCT, .KVO_INITIAL])
      element.release()
      if endsFirst { log.end() }
      graph_node_setWares(node, nil)
      if endsFirst { expectEqual(deaths.count, 1) }
      node.release()
      expectEqual(deaths.count, endsFirst ? 1 : 2)
      if !endsFirst { log.end() }
    }
    end()
  }

  @Test(
    "D3: if memory is out for the value to be stored, one call more is made, and never one less")
  func shortage() {
    kvo_set_misuse_handler { _ in }
    defer { kvo_set_misuse_handler(nil) }
    for allocation in 0..<12 as Range<Int64> {
      let account = make(account.self)
      let log = Recorder()
      log.observe(account.object, "owner", .KVO_DISTINCT)
      fixture_fail_allocation(allocation)
      account_setOwner(account, "Ada")
      fixture_limit_memory(-1)
      account_setOwner(account, "Ada")
      account_setOwner(account, "Ada")
      let calls = log.take().count
      expect(calls == 1 || calls == 2, "allocation \(allocation): \(calls)")
      log.end()
      account.release()
    }
    end()
  }
}

private final class Seen { var calls: [String] = [] }
