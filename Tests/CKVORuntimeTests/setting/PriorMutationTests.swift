import CFixtures
import CKVORuntime
import Expectations
import TestSupport
import Testing

/// D7: prior observers that mutate the key which is about to be mutated.
@Suite(.recording) struct PriorMutationTests {
  /// Runs `body` in the first prior call for the key.
  private func observe(_ object: Shelf, _ body: @escaping () -> Void) -> Recorder {
    let recorder = Recorder()
    var isDone = false
    recorder.observe(object.object, "items", .KVO_PRIOR) { call in
      guard call.isPrior, !isDone else { return }
      isDone = true
      body()
    }
    return recorder
  }

  /// Runs `body` in a batch of the object, or without one.
  private func run(inBatch isBatch: Bool, of object: Shelf, _ body: () -> Void) {
    if isBatch { coalescing(object.object, body) } else { body() }
  }

  @Test(
    "D7 H5 M1: a mutation is made to what a prior call has left, and is a setting from the first value",
    arguments: MutableTests.everyWay, [false, true])
  func ordered(_ methods: shelf_methods, _ isBatch: Bool) {
    let mutations: [((Many) -> Outcome, String)] = [
      ({ $0.remove(at: 1) }, "[8]"), ({ $0.replace(at: 0, with: .int(5)) }, "[5, 9]"),
      ({ $0.insert(ints(1, 2), at: 0..<2) }, "[1, 2, 8, 9]"), ({ $0.append(.int(4)) }, "[8, 9, 4]"),
      ({ $0.minus(ints(7, 9)) }, "[8]"), ({ $0.intersect(ints(7, 9)) }, "[9]"),
      ({ $0.set(ints(5, 6, 7)) }, "[5, 6, 7]"),
    ]
    for (mutate, expected) in mutations {
      let object = makeShelf(methods, [7, 8, 9])
      defer { object.release() }
      object.store(Many(ints: [7, 8, 9]))
      let proxy = Many(mutable: object.object)
      let recorder = observe(object) { proxy.remove(at: 0) }
      let log = Mutations(of: object.object)
      run(inBatch: isBatch, of: object) { expectEqual(mutate(proxy).status, .KVO_OK) }
      expectEqual(log.take(), ["setting old [7, 8, 9] new \(expected)"])
      expectEqual(proxy.text, expected)
      proxy.append(.int(4))
      expectEqual(log.take().map { $0.prefix(9) }, ["insertion"])
      recorder.end()
      log.end()
    }
  }

  @Test(
    "D7 H4 M1: so is a mutation of a set", arguments: MutableSetTests.everyWay, [false, true])
  func sets(_ methods: shelf_methods, _ isBatch: Bool) {
    let mutations: [((Many) -> Outcome, String)] = [
      ({ $0.union(ints(1, 2)) }, "{1, 2, 5, 8}"), ({ $0.minus(ints(8)) }, "{5}"),
      ({ $0.intersect(ints(8)) }, "{8}"), ({ $0.set(ints(7, 9)) }, "{7, 9}"),
    ]
    for (mutate, expected) in mutations {
      let object = makeShelf(methods, [7, 8])
      defer { object.release() }
      object.store(Many(.KVO_SET, ints: [7, 8]))
      let proxy = Many(mutable: object.object, as: .KVO_SET)
      let recorder = observe(object) {
        proxy.minus(ints(7))
        proxy.union(ints(5))
      }
      let log = Mutations(of: object.object)
      run(inBatch: isBatch, of: object) { expectEqual(mutate(proxy).status, .KVO_OK) }
      expectEqual(log.take().map { $0.prefix(7) }, ["setting"])
      expectEqual(proxy.snapshot?.text, expected)
      recorder.end()
      log.end()
    }
  }

  static let orderedSetWays: [shelf_methods] = [
    [.orderedSet, .singles], [.orderedSet, .batches, .SHELF_REPLACE],
    [.SHELF_GETTER, .SHELF_SETTER], .SHELF_IVAR,
  ]

  @Test(
    "D7 B9 M1: so is a mutation of an ordered set, which gets no member twice",
    arguments: orderedSetWays, [false, true])
  func orderedSets(_ methods: shelf_methods, _ isBatch: Bool) {
    let mutations: [((Many) -> Outcome, kvo_status, String)] = [
      ({ $0.insert(.int(9), at: 0) }, .KVO_OK, "<9, 7, 8>"),
      ({ $0.insert(ints(9, 5), at: 0..<2) }, .KVO_OK, "<5, 9, 7, 8>"),
      ({ $0.append(.int(9)) }, .KVO_OK, "<9, 7, 8>"),
      ({ $0.replace(at: 1, with: .int(9)) }, .KVO_INVALID_ARGUMENT, "<9, 7, 8>"),
    ]
    for (mutate, status, expected) in mutations {
      let object = makeShelf(methods, [7, 8])
      defer { object.release() }
      object.store(Many(.KVO_ORDERED_SET, ints: [7, 8]))
      let proxy = Many(mutable: object.object, as: .KVO_ORDERED_SET)
      let recorder = observe(object) { proxy.insert(.int(9), at: 0) }
      let log = Mutations(of: object.object)
      run(inBatch: isBatch, of: object) { expectEqual(mutate(proxy).status, status) }
      expectEqual(log.take().map { $0.prefix(7) }, ["setting"])
      expectEqual(proxy.snapshot?.text, expected)
      recorder.end()
      log.end()
    }
  }

  @Test(
    "D7 B9 M1: an ordered set gets the members that a prior call has removed, in the order of the operand",
    arguments: orderedSetWays, [false, true])
  func removedMembers(_ methods: shelf_methods, _ isBatch: Bool) {
    let mutations: [((Many) -> Outcome, String)] = [
      ({ $0.union(ints(7, 5)) }, "<8, 7, 5>"), ({ $0.union(ints(5, 7, 8, 5)) }, "<8, 5, 7>"),
      ({ $0.insert(ints(7, 5), at: 0..<2) }, "<7, 5, 8>"),
    ]
    for (mutate, expected) in mutations {
      let object = makeShelf(methods, [7, 8])
      defer { object.release() }
      object.store(Many(.KVO_ORDERED_SET, ints: [7, 8]))
      let proxy = Many(mutable: object.object, as: .KVO_ORDERED_SET)
      let recorder = observe(object) { proxy.remove(at: 0) }
      let log = Mutations(of: object.object)
      run(inBatch: isBatch, of: object) { expectEqual(mutate(proxy).status, .KVO_OK) }
      expectEqual(log.take().map { $0.prefix(7) }, ["setting"])
      expectEqual(proxy.snapshot?.text, expected)
      recorder.end()
      log.end()
    }
  }

  @Test(
    "D7 H6 M1: a mutation that fails after a prior call delivers what the prior call has changed",
    arguments: MutableTests.everyWay, [false, true])
  func failing(_ methods: shelf_methods, _ isBatch: Bool) {
    let mutations: [(Many) -> Outcome] = [
      { $0.remove(at: 1) }, { $0.remove(at: 0..<2) }, { $0.replace(at: 1, with: .int(5)) },
      { $0.insert(.int(5), at: 2) },
    ]
    for mutate in mutations {
      let object = makeShelf(methods, [7, 8])
      defer { object.release() }
      object.store(Many(ints: [7, 8]))
      let proxy = Many(mutable: object.object)
      let recorder = observe(object) { proxy.remove(at: 0) }
      let log = Mutations(of: object.object)
      run(inBatch: isBatch, of: object) {
        expectEqual(
          brief(mutate(proxy)), "KVO_INDEX_OUT_OF_BOUNDS \(className(object)).items")
      }
      expectEqual(log.take(), ["setting old [7, 8] new [8]"])
      expectEqual(proxy.text, "[8]")
      recorder.end()
      log.end()
    }
  }

  @Test(
    "D7: a change that a binding works out is worked out again from what a prior call has left",
    arguments: MutableTests.everyWay)
  func workedOut(_ methods: shelf_methods) {
    let changes: [(WorkOut, String, String)] = [
      (removingLast, "KVO_OK", "[8]"), (insertingInTheMiddle, "KVO_OK", "[8, 5, 9]"),
      (removingOfThree, "KVO_OK", "[8, 9]"), (refusingTwo, "KVO_REFUSED .", "[8, 9]"),
    ]
    for (workOut, status, expected) in changes {
      let object = makeShelf(methods, [7, 8, 9])
      defer { object.release() }
      object.store(Many(ints: [7, 8, 9]))
      let proxy = Many(mutable: object.object)
      let recorder = observe(object) { proxy.remove(at: 0) }
      let log = Mutations(of: object.object)
      let made = proxy.lend { proxy in
        attempt { kvo_collection_change(proxy, workOut, UnsafeMutableRawPointer(proxy), $0) }
      }
      expectEqual(brief(made), status)
      expectEqual(log.take(), ["setting old [7, 8, 9] new \(expected)"])
      expectEqual(proxy.text, expected)
      recorder.end()
      log.end()
    }
  }

  @Test("H6: a change that a binding can't work out is an error, and notifies no observer")
  func notWorkedOut() {
    let object = makeShelf(.mutableArray, [7])
    defer { object.release() }
    let log = Mutations(of: object.object)
    let name = className(object)
    for (kind, form) in [(kvo_collection_kind.KVO_ARRAY, "array"), (.KVO_SET, "set")] {
      let proxy = Many(mutable: object.object, as: kind)
      let made = proxy.lend { proxy in
        attempt { kvo_collection_change(proxy, { _, _, _ in .KVO_OK }, nil, $0) }
      }
      let status = form == "set" ? "KVO_INVALID_ARGUMENT" : "KVO_NO_MEMORY"
      expectEqual(brief(made), "\(status) \(name).items")
    }
    expectEqual(log.take(), [])
    log.end()
  }

  @Test("D7 M3: a mutation that follows in the batch is made as usual")
  func laterInBatch() {
    let object = makeShelf(.mutableArray, [7, 8, 9])
    defer { object.release() }
    let proxy = Many(mutable: object.object)
    let recorder = observe(object) { proxy.remove(at: 0) }
    let log = Mutations(of: object.object)
    coalescing(object.object) {
      proxy.remove(at: 0)
      _ = object.takeCalls()
      proxy.remove(at: 0)
      expectEqual(object.takeCalls(), "count remove(0)")
    }
    expectEqual(log.take(), ["setting old [7, 8, 9] new []"])
    recorder.end()
    log.end()
  }

  @Test("D9: a getter that throws when a prior call changes the key leaves the next change noticed")
  func throwing() {
    let object = makeShelf([.SHELF_GETTER, .SHELF_SETTER])
    defer { object.release() }
    object.store(Many(ints: [7, 8]))
    let proxy = Many(mutable: object.object)
    let recorder = observe(object) {
      let numbers = Many(ints: [5, 6])
      var value = kvo_value_object(numbers.object)
      defer { kvo_value_destroy(&value) }
      object.pointee.before_get = shelf_throws_once
      expectEqual(thrown_by_set_value(object.object, "items", &value), 1)
      proxy.set(ints(5, 6))
    }
    let log = Mutations(of: object.object)
    proxy.insert(.int(9), at: 0)
    expectEqual(log.take(), ["setting old [7, 8] new [9, 5, 6]"])
    recorder.end()
    log.end()
  }

  @Test(
    "D7 D8: if memory runs out when a prior call changes the key, no wrong old value is delivered")
  func shortage() async {
    await #expect(processExitsWith: .success) {
      kvo_set_misuse_handler { _ in reports.withLock { $0 += 1 } }
      for allocation in 0..<24 as Range<Int64> {
        reports.withLock { $0 = 0 }
        let object = makeShelf(.mutableArray, [7, 8])
        let proxy = Many(mutable: object.object)
        let recorder = Recorder()
        recorder.observe(object.object, "items", .KVO_PRIOR) { call in
          guard call.isPrior else { return }
          fixture_fail_allocation(allocation)
          proxy.remove(at: 0)
          fixture_limit_memory(-1)
        }
        let log = Mutations(of: object.object)
        proxy.insert(.int(9), at: 0)
        let lines = log.take()
        let right = ["setting old [7, 8] new [9, 8]", "insertion 0..<1 new [9]"]
        let isReported = reports.withLock { $0 == 1 } && lines.isEmpty
        expect(
          isReported || lines.count == 1 && right.contains(lines[0]), "\(allocation): \(lines)")
        recorder.end()
        log.end()
        object.release()
      }
    }
  }

  @Test("D7 H1: observers that are called before get the setting from then on")
  func laterPriors() {
    let object = makeShelf(.SHELF_IVAR)
    defer { object.release() }
    object.store(Many(ints: [7, 8]))
    let proxy = Many(mutable: object.object)
    let first = Mutations(of: object.object, "items", [.KVO_PRIOR, .KVO_OLD])
    let recorder = observe(object) { proxy.remove(at: 0) }
    let last = Mutations(of: object.object, "items", [.KVO_PRIOR, .KVO_OLD])
    proxy.insert(.int(9), at: 0)
    expectEqual(first.take(), ["prior insertion 0..<1", "setting old [7, 8]"])
    expectEqual(last.take(), ["prior setting old [7, 8]", "setting old [7, 8]"])
    recorder.end()
    first.end()
    last.end()
  }
}

// MARK: Changes that are worked out

/// The context is the collection.
private typealias WorkOut =
  @convention(c) (
    UnsafeMutableRawPointer?, UnsafeMutablePointer<kvo_worked_out_change>,
    UnsafeMutablePointer<kvo_error>?
  ) -> kvo_status

private let removingLast: WorkOut = { collection, change, _ in
  let last = kvo_collection_count(OpaquePointer(collection!)) - 1
  change.pointee.kind = .KVO_REMOVAL
  change.pointee.indexes = kvo_index_set_create_range(last, 1)
  return .KVO_OK
}

private let insertingInTheMiddle: WorkOut = { collection, change, _ in
  let middle = kvo_collection_count(OpaquePointer(collection!)) / 2
  change.pointee.kind = .KVO_INSERTION
  change.pointee.indexes = kvo_index_set_create_range(middle, 1)
  var five = kvo_value_int(5)
  change.pointee.elements = kvo_collection_create(.KVO_ARRAY, &five, 1, nil)
  return .KVO_OK
}

private let removingOfThree: WorkOut = { collection, change, _ in
  let isThree = kvo_collection_count(OpaquePointer(collection!)) == 3
  change.pointee.kind = .KVO_REMOVAL
  change.pointee.indexes = kvo_index_set_create_range(0, isThree ? 1 : 0)
  return .KVO_OK
}

private let refusingTwo: WorkOut = { collection, change, error in
  guard kvo_collection_count(OpaquePointer(collection!)) == 2 else {
    return removingLast(collection, change, error)
  }
  error?.pointee = kvo_error()
  return .KVO_REFUSED
}

/// The number of reports in a process of its own.
private let reports = Locked(0)
