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

  @Test(
    "D7 H5: a mutation is made to what a prior call has left, and is a setting from the first value",
    arguments: MutableTests.everyWay)
  func ordered(_ methods: shelf_methods) {
    let mutations: [(Many) -> Void] = [
      { $0.remove(at: 1) }, { $0.replace(at: 0, with: .int(5)) },
      { $0.insert(ints(1, 2), at: 0..<2) },
    ]
    for (mutate, expected) in zip(mutations, ["[8]", "[5, 9]", "[1, 2, 8, 9]"]) {
      let object = makeShelf(methods, [7, 8, 9])
      defer { object.release() }
      object.store(Many(ints: [7, 8, 9]))
      let proxy = Many(mutable: object.object)
      let recorder = observe(object) { proxy.remove(at: 0) }
      let log = Mutations(of: object.object)
      mutate(proxy)
      expectEqual(log.take(), ["setting old [7, 8, 9] new \(expected)"])
      expectEqual(proxy.text, expected)
      proxy.append(.int(4))
      expectEqual(log.take().map { $0.prefix(9) }, ["insertion"])
      recorder.end()
      log.end()
    }
  }

  @Test(
    "D7 H4: so is a mutation of a set", arguments: MutableSetTests.everyWay)
  func sets(_ methods: shelf_methods) {
    let object = makeShelf(methods, [7, 8])
    defer { object.release() }
    object.store(Many(.KVO_SET, ints: [7, 8]))
    let proxy = Many(mutable: object.object, as: .KVO_SET)
    let recorder = observe(object) { proxy.minus(ints(7)) }
    let log = Mutations(of: object.object)
    proxy.union(ints(1, 2))
    expectEqual(log.take().map { $0.prefix(7) }, ["setting"])
    expectEqual(proxy.snapshot?.text, "{1, 2, 8}")
    recorder.end()
    log.end()
  }

  @Test("D7: a mutation that fails after a prior call delivers what the prior call has changed")
  func failing() {
    for methods in [[.SHELF_GETTER, .SHELF_SETTER], .SHELF_IVAR] as [shelf_methods] {
      let object = makeShelf(methods)
      defer { object.release() }
      object.store(Many(ints: [7, 8]))
      let proxy = Many(mutable: object.object)
      let recorder = observe(object) { proxy.remove(at: 0) }
      let log = Mutations(of: object.object)
      expectEqual(
        brief(proxy.remove(at: 1)), "KVO_INDEX_OUT_OF_BOUNDS \(className(object)).items")
      expectEqual(log.take(), ["setting old [7, 8] new [8]"])
      recorder.end()
      log.end()
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
