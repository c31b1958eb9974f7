import CFixtures
import CKVORuntime
import Expectations
import TestSupport
import Testing

/// M: batches of C objects.
@Suite(.recording) struct BatchTests {
  @Test(
    "M1: each key notifies once when the body ends, whatever kind of setter sets it",
    arguments: [false, true])
  func once(_ byClosures: Bool) async {
    await #expect(processExitsWith: .success) { [byClosures] in
      kvo_set_closures_forced(byClosures)
      let object = make(account.self)
      let log = Recorder()
      log.observe(object.object, "interestRate", [.KVO_OLD, .KVO_NEW])
      log.observe(object.object, "balance", [.KVO_PRIOR, .KVO_OLD, .KVO_NEW])
      coalescing(object.object) {
        account_setBalance(object, 1)
        expectEqual(log.take(), ["a: prior balance old 0.0"])
        set(object.object, "interestRate", .double(5))
        account_setBalance(object, 2)
        kvo_will_change(object.object, "balance")
        kvo_did_change(object.object, "balance")
        expectEqual(log.take(), [])
      }
      expectEqual(log.take(), ["a: balance old 0.0 new 2.0", "a: interestRate old 0.0 new 5.0"])
      account_setBalance(object, 3)
      expectEqual(log.take(), ["a: prior balance old 2.0", "a: balance old 2.0 new 3.0"])
      log.end()
      object.release()
    }
  }

  @Test(
    "M1: an observer added before a key's last change is notified of it, a later one is not")
  func comesInBody() {
    let object = make(account.self)
    let log = Recorder()
    log.observe(object.object, "interestRate", .KVO_NEW)
    coalescing(object.object) {
      account_setBalance(object, 1)
      log.observe(object.object, "balance", [.KVO_OLD, .KVO_NEW], as: "first")
      account_setBalance(object, 2)
      log.observe(object.object, "balance", [.KVO_OLD, .KVO_NEW], as: "in time")
      account_setBalance(object, 3)
      log.observe(object.object, "balance", [.KVO_OLD, .KVO_NEW], as: "late")
    }
    expectEqual(log.take(), ["first: balance old 1.0 new 3.0", "in time: balance old 3.0 new 3.0"])
    log.end()
    object.release()
  }

  @Test(
    "M1 I1: an observer added during a setter is notified by the batch alone"
  )
  func comesDuringSetter() {
    let object = make(account.self)
    let log = Recorder()
    coalescing(object.object) {
      // A setter that began unobserved. It sets its key again, and looks for new observers when it ends.
      onAnotherThread { log.observe(object.object, "balance", [.KVO_OLD, .KVO_NEW]) }
      account_setBalance(object, 2)
      kvo_stored_property_notify_late_observers_key(object, kvo_key_intern("balance")!)
      expectEqual(log.take(), [])
    }
    expectEqual(log.take(), ["a: balance old 0.0 new 2.0"])
    log.end()
    object.release()
  }

  @Test("M2: a key derived from several keys notifies once, and so does a key path")
  func derived() {
    let person = make(guide_named.self, of: guide_general_name_class())
    let node = make(graph_node.self)
    let next = make(graph_node.self)
    let log = Recorder()
    guide_named_setFirstName(person, "Ada")
    guide_named_setLastName(person, "King")
    log.observe(person.object, "fullName", [.KVO_OLD, .KVO_NEW])
    log.observe(person.object, "lastName", .KVO_NEW)
    coalescing(person.object) {
      guide_named_setFirstName(person, "Anne")
      guide_named_setLastName(person, "Byron")
    }
    expectEqual(
      log.take(), ["a: fullName old Ada King new Anne Byron", "a: lastName new Byron"])
    log.observe(node.object, "next.value", [.KVO_OLD, .KVO_NEW])
    graph_node_setValue(next, 5)
    coalescing(node.object) {
      graph_node_setNext(node, next)
      graph_node_setNext(node, nil)
      graph_node_setNext(node, next)
    }
    expectEqual(log.take(), ["a: next.value old nil new 5.0"])
    log.end()
    graph_node_setNext(node, nil)
    for object in [person.object, node.object, next.object] { kvo_object_release(object) }
  }

  @Test("M3: one change of elements is delivered in detail, several as a setting of the whole")
  func elements() {
    let object = makeShelf([.array, .singles], [7, 8])
    let log = Recorder()
    var old: [String] = []
    log.observe(object.object, "items", [.KVO_OLD, .KVO_NEW]) { call in
      if let value = kvo_change_get_old(call.change) { old.append(text(value)) }
    }
    let proxy = Many(mutable: object.object)
    coalescing(object.object) { proxy.insert(.int(9), at: 0) }
    let alone = log.take()
    coalescing(object.object) {
      proxy.insert(.int(5), at: 1)
      proxy.remove(at: 0)
    }
    expectEqual(alone, ["a: items of another kind new KVOStoredCollection"])
    expectEqual(log.take(), ["a: items old KVOStoredCollection new KVOStoredCollection"])
    expectEqual(old, ["[9, 7, 8]"])
    expectEqual(object.items, [5, 7, 8])
    log.end()
    object.release()
  }

  @Test(
    "M3: one mutation by a proxy stays one, by whichever methods or setter it is made",
    arguments: MutableTests.everyWay)
  func mutationsByProxies(_ methods: shelf_methods) {
    let object = makeShelf(methods, [7, 8])
    defer { object.release() }
    object.store(Many(ints: [7, 8]))
    let proxy = Many(mutable: object.object)
    let log = Mutations(of: object.object, "items", [.KVO_OLD, .KVO_NEW, .KVO_PRIOR])
    coalescing(object.object) { proxy.append(.int(9)) }
    expectEqual(log.take(), ["prior insertion 2..<3", "insertion 2..<3 new [9]"])
    coalescing(object.object) { proxy.insert(ints(1, 2), at: 0..<1, 2..<3) }
    expectEqual(
      log.take(), ["prior insertion 0..<1 2..<3", "insertion 0..<1 2..<3 new [1, 2]"])
    coalescing(object.object) { proxy.replace(at: 0, with: .int(6)) }
    expectEqual(
      log.take(), ["prior replacement 0..<1 old [1]", "replacement 0..<1 old [1] new [6]"])
    coalescing(object.object) { proxy.remove(at: 1) }
    expectEqual(log.take(), ["prior removal 1..<2 old [7]", "removal 1..<2 old [7]"])
    coalescing(object.object) {
      proxy.remove(at: 0)
      proxy.append(.int(5))
    }
    expectEqual(
      log.take(), ["prior removal 0..<1 old [6]", "setting old [6, 2, 8, 9] new [2, 8, 9, 5]"])
    coalescing(object.object) {
      coalescing(object.object) { proxy.remove(at: 0) }
      proxy.set(ints(3))
    }
    expectEqual(
      log.take(), ["prior removal 0..<1 old [2]", "setting old [2, 8, 9, 5] new [3]"])
    log.end()
  }

  @Test(
    "M3: one mutation of a set by a proxy stays one, by whichever methods or setter it is made",
    arguments: MutableSetTests.everyWay)
  func setMutationsByProxies(_ methods: shelf_methods) {
    let object = makeShelf(methods, [7, 8])
    defer { object.release() }
    object.store(Many(.KVO_SET, ints: [7, 8]))
    let proxy = Many(mutable: object.object, as: .KVO_SET)
    let log = Mutations(of: object.object)
    coalescing(object.object) { proxy.union(ints(8, 9)) }
    coalescing(object.object) { proxy.minus(ints(7, 1)) }
    coalescing(object.object) { proxy.set(ints(4)) }
    expectEqual(
      log.take(), ["insertion new {9}", "removal old {7}", "replacement old {8, 9} new {4}"])
    coalescing(object.object) {
      proxy.add(.int(5))
      proxy.remove(.int(4))
    }
    // A key with an array's methods is read as an array.
    let lines = log.take().map { $0.replacing("[", with: "{").replacing("]", with: "}") }
    expectEqual(lines, ["setting old {4} new {5}"])
    log.end()
  }

  @Test(
    "M3: a prior call that sets the key of a mutation in a batch still has the mutation's elements")
  func setInPriorCall() {
    let object = makeShelf([.SHELF_GETTER, .SHELF_SETTER])
    defer { object.release() }
    object.store(Many(ints: [7, 8]))
    let log = Recorder()
    var calls: [String] = []
    log.observe(object.object, "items", [.KVO_PRIOR, .KVO_OLD]) { call in
      guard kvo_change_is_prior(call.change) else { return }
      Many(mutable: object.object).set(ints(1, 2))
      let indexes = kvo_change_get_indexes(call.change)
      calls.append("\(indexes.map { kvo_index_set_count($0) } ?? 0)")
      calls.append(kvo_change_get_old(call.change).map(text) ?? "none")
    }
    coalescing(object.object) { Many(mutable: object.object).remove(at: 0) }
    expectEqual(calls, ["1", "[7]"])
    _ = log.take()
    log.end()
  }

  @Test("M3 D9: a mutation that fails leaves the batch, and later changes, whole")
  func failedMutation() {
    let object = makeShelf([.SHELF_GETTER, .SHELF_SETTER])
    defer { object.release() }
    object.store(Many(ints: [7, 8]))
    let proxy = Many(mutable: object.object)
    let log = Mutations(of: object.object)
    coalescing(object.object) { expect(proxy.remove(at: 5).status != .KVO_OK) }
    expectEqual(log.take(), [])
    coalescing(object.object) { proxy.remove(at: 0) }
    proxy.remove(at: 0)
    expectEqual(log.take(), ["removal 0..<1 old [7]", "removal 0..<1 old [8]"])
    log.end()
  }

  @Test("M4: a body inside another is part of it, one for another object is not")
  func nested() {
    let (object, other) = (make(account.self), make(account.self))
    let log = Recorder()
    log.observe(object.object, "balance", .KVO_NEW)
    log.observe(other.object, "balance", .KVO_NEW, as: "other")
    coalescing(object.object) {
      coalescing(object.object) { account_setBalance(object, 1) }
      coalescing(other.object) { account_setBalance(other, 1) }
      account_setBalance(other, 2)
      account_setBalance(object, 3)
    }
    expectEqual(
      log.take(), ["other: balance new 1.0", "other: balance new 2.0", "a: balance new 3.0"])
    log.end()
    object.release()
    other.release()
  }

  @Test("M4: the last reference may be released in the body")
  func lastReference() {
    let deaths = Deaths()
    let object = make(thrower.self)
    object.pointee.base.deaths = deaths.counter
    let log = Recorder()
    log.observe(object.object, "reading", .KVO_NEW)
    coalescing(object.object) {
      thrower_setReading(object, 4)
      object.release()
      expectEqual(deaths.count, 0)
    }
    expectEqual(log.take(), ["a: reading new 4.0"])
    expectEqual(deaths.count, 1)
    log.end()
  }
}

/// Passes a closure as the body.
func coalescing(_ object: UnsafeMutablePointer<kvo_object>, _ body: () -> Void) {
  withoutActuallyEscaping(body) { body in
    var body = body
    withUnsafeMutablePointer(to: &body) {
      kvo_coalesce(object, { $0!.assumingMemoryBound(to: (() -> Void).self).pointee() }, $0)
    }
  }
}
