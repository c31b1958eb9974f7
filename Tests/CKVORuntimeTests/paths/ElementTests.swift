import CFixtures
import CKVORuntime
import Expectations
import TestSupport
import Testing

/// C6: the elements of an observed collection are followed as they come and go. If a change names the elements that it
/// inserts and removes, only these are read. If it does something else than it says, all elements are read.
@Suite(.recording) struct ElementTests {
  typealias Node = UnsafeMutablePointer<graph_node>

  private let log = Recorder()

  /// A list of `count` nodes, and `spare` more nodes that are not in it.
  private func makeList(_ count: Int, spare: Int = 4) -> (root: Node, all: [Node]) {
    let root = make(graph_node.self)
    let all = (0..<count + spare).map { _ in make(graph_node.self) }
    store(Array(all.prefix(count)), in: root)
    return (root, all)
  }

  private func end(_ root: Node, _ all: [Node]) {
    store([], in: root)
    releaseAll(all)
    root.release()
  }

  private func store(_ nodes: [Node], in root: Node) {
    nodes.withUnsafeBufferPointer { graph_node_store_items(root, $0.baseAddress, $0.count) }
  }

  private func items(_ root: Node) -> [Node] {
    (0..<root.pointee.items.count).map { root.pointee.items.nodes![$0] }
  }

  /// A change of a node is delivered only if the node is an element.
  private func expectFollowed(_ root: Node, _ nodes: [Node], _ what: String = "") {
    let present = Set(items(root))
    _ = log.take()
    for (number, node) in nodes.enumerated() {
      graph_node_setValue(node, 1)
      expectEqual(log.take().isEmpty, !present.contains(node), "node \(number) \(what)")
    }
  }

  private func withIndexSet<R>(_ indexes: [Int], _ body: (OpaquePointer) -> R) -> R {
    withIndexes(indexes.map { $0..<$0 + 1 }, body)
  }

  // MARK: Cost

  /// The number of elements read for each of these changes of a list of `count` elements.
  private func reads(of count: Int, _ path: String) -> [Int] {
    let (root, all) = makeList(count, spare: 5)
    defer { end(root, all) }
    log.observe(root.object, path)
    let new = Array(all.suffix(5))
    let changes: [() -> Void] = [
      { graph_node_insertItem(root, new[0], count) },
      { graph_node_insertItem(root, new[1], 0) },
      { graph_node_insertItem(root, new[1], 5) },
      { graph_node_removeItem(root, 5) },
      { graph_node_removeItem(root, count / 2) },
      { graph_node_replaceItem(root, 3, new[2]) },
      { graph_node_replaceItem(root, 4, new[2]) },
      {
        collected(.KVO_ARRAY, [new[3].object, new[4].object]).lend { objects in
          withIndexSet([2, 4]) { graph_node_insertItems(root, objects, $0) }
        }
      },
      { withIndexSet([1, 3, 4]) { graph_node_removeItems(root, $0) } },
      {
        let both = [items(root)[6].object, items(root)[1].object]
        collected(.KVO_ARRAY, both).lend { objects in
          withIndexSet([1, 6]) { graph_node_replaceItems(root, $0, objects) }
        }
      },
    ]
    return changes.enumerated().map { number, change in
      root.pointee.item_reads = 0
      change()
      let reads = root.pointee.item_reads
      expectFollowed(root, Array(all.prefix(10) + all.suffix(10)), "after change \(number)")
      return reads
    }
  }

  @Test(
    "C6: elements that come and go are followed without reading the others",
    arguments: ["items.@sum.value", "items.@max.value", "items.@unionOfObjects.value", "sum"])
  func namedElements(_ path: String) async {
    // In a process of its own: once memory has run out in a process, all elements are read.
    await #expect(processExitsWith: .success) { [path] in
      let tests = ElementTests()
      let few = tests.reads(of: 20, path)
      let many = tests.reads(of: 600, path)
      precondition(few == many, "\(few) is not \(many)")
      precondition(few.allSatisfy { $0 < 24 }, "\(few)")
    }
  }

  @Test("C6: the elements of elements are followed without reading the others")
  func nested() async {
    await #expect(processExitsWith: .success) { ElementTests().followElementsOfElements() }
  }

  private func followElementsOfElements() {
    let (root, all) = makeList(300)
    defer { end(root, all) }
    for node in all.dropLast(4) { store([all[301]], in: node) }
    log.observe(root.object, "items.@sum.items.@sum.value")
    (root.pointee.item_reads, all[7].pointee.item_reads) = (0, 0)
    graph_node_insertItem(root, all[300], 300)
    graph_node_insertItem(all[7], all[302], 1)
    graph_node_insertItem(all[300], all[303], 0)
    graph_node_removeItem(all[7], 0)
    let reads = root.pointee.item_reads + all[7].pointee.item_reads
    precondition(reads < 20, "\(reads)")
    _ = log.take()
    for (node, notified) in [(all[301], 1), (all[302], 1), (all[303], 1), (all[0], 0)] {
      graph_node_setValue(node, 1)
      precondition(log.take().count == notified)
    }
    for node in all { store([], in: node) }
  }

  @Test("H4 C6: members of a set that go are followed without reading the others")
  func members() {
    let nodes = (0..<3).map { _ in make(graph_node.self) }
    defer { releaseAll(nodes) }
    let root = make(graph_node.self)
    defer { root.release() }
    log.observe(root.object, "tags.@sum.value")
    let change: [() -> Void] = [
      { graph_node_addTag(root, nodes[0]) }, { graph_node_addTag(root, nodes[1]) },
      { graph_node_addTag(root, nodes[0]) }, { graph_node_removeTag(root, nodes[2]) },
      { graph_node_removeTag(root, nodes[0]) },
      { collected(.KVO_SET, nodes.map(\.object)).lend { graph_node_addTags(root, $0) } },
      { collected(.KVO_SET, [nodes[1].object]).lend { graph_node_intersectTags(root, $0) } },
      { collected(.KVO_SET, [nodes[2].object]).lend { graph_node_setTags(root, $0) } },
    ]
    for change in change {
      change()
      let tags = (0..<root.pointee.tags.count).map { root.pointee.tags.nodes![$0] }
      _ = log.take()
      for node in nodes {
        graph_node_setValue(node, 1)
        expectEqual(log.take().count, tags.contains(node) ? 1 : 0)
      }
    }
  }

  // MARK: Repeated elements

  @Test("C6: an element that is there several times is followed until the last of them goes")
  func repeated() {
    let (root, all) = makeList(2)
    defer { end(root, all) }
    log.observe(root.object, "items.@sum.value")
    let changes: [() -> Void] = [
      { graph_node_insertItem(root, all[0], 2) },
      { graph_node_removeItem(root, 0) },
      { graph_node_insertItem(root, all[1], 0) },
      { graph_node_replaceItem(root, 1, all[2]) },
      { graph_node_replaceItem(root, 0, all[2]) },
      { graph_node_removeItem(root, 1) },
      {
        collected(.KVO_ARRAY, [all[3].object, all[3].object]).lend { objects in
          withIndexSet([0, 1]) { graph_node_insertItems(root, objects, $0) }
        }
      },
      { withIndexSet([0, 1]) { graph_node_removeItems(root, $0) } },
      { graph_node_replaceItem(root, 0, items(root)[0]) },
      { withIndexSet([0, 1]) { graph_node_removeItems(root, $0) } },
    ]
    for (number, change) in changes.enumerated() {
      change()
      expectFollowed(root, all, "after change \(number)")
    }
  }

  @Test("C6: an element with many observers is followed as it comes, comes again and goes")
  func shared() {
    let (root, all) = makeList(3)
    defer { end(root, all) }
    let others = Recorder()
    for number in 0..<80 { others.observe(all[number % 2 * 4].object, "value") }
    log.observe(root.object, "items.@sum.value")
    func expectFollowedOnce(_ what: String) {
      expectFollowed(root, all, what)
      graph_node_setValue(all[0], 2)
      expectEqual(log.take().count, items(root).contains(all[0]) ? 1 : 0, what)
    }
    let changes: [() -> Void] = [
      { graph_node_insertItem(root, all[0], 3) },
      { graph_node_insertItem(root, all[4], 0) },
      { graph_node_removeItem(root, 1) },
      { graph_node_replaceItem(root, 0, all[0]) },
      { graph_node_removeItem(root, 0) },
      { graph_node_removeItem(root, 2) },
    ]
    for (number, change) in changes.enumerated() {
      change()
      expectFollowedOnce("after change \(number)")
    }
  }

  @Test("C6: the object itself may be an element")
  func itself() {
    let (root, all) = makeList(1)
    log.observe(root.object, "items.@sum.items.@sum.value")
    graph_node_insertItem(root, root, 1)
    expectFollowed(root, all)
    graph_node_insertItem(root, all[1], 0)
    expectFollowed(root, all)
    graph_node_removeItem(root, 2)
    _ = log.take()
    for node in all {
      graph_node_setValue(node, 1)
      expectEqual(log.take(), [])
    }
    end(root, all)
  }

  // MARK: Changes that are not what they say

  @Test(
    "C6: an accessor that changes other elements than it is asked to is believed",
    arguments: [graph_oddity.GRAPH_AT_FRONT, .GRAPH_BESIDE, .GRAPH_DROPS, .GRAPH_EXCHANGES])
  func oddAccessor(_ oddity: graph_oddity) {
    let odd = UnsafeMutableRawPointer(make(graph_odd_node_class()))
    odd.assumingMemoryBound(to: graph_odd_node.self).pointee.oddity = oddity
    let root = odd.assumingMemoryBound(to: graph_node.self)
    let all = (0..<6).map { _ in make(graph_node.self) }
    defer { end(root, all) }
    graph_node_setOther(root, all[5])
    store([all[0], all[1], all[2]], in: root)
    log.observe(root.object, "items.@sum.value")
    graph_node_insertItem(root, all[3], 3)
    expectFollowed(root, all, "after an insertion at the end")
    graph_node_insertItem(root, all[4], 1)
    expectFollowed(root, all, "after an insertion in the middle")
    graph_node_removeItem(root, 1)
    expectFollowed(root, all, "after a removal")
    while root.pointee.items.count > 0 {
      graph_node_removeItem(root, root.pointee.items.count - 1)
      expectFollowed(root, all, "after the removal of the last")
    }
  }

  @Test("C6: an accessor that inserts elsewhere among equal elements is believed")
  func insertedAmongEqual() {
    let odd = UnsafeMutableRawPointer(make(graph_odd_node_class()))
    odd.assumingMemoryBound(to: graph_odd_node.self).pointee.oddity = .GRAPH_AT_FRONT
    let root = odd.assumingMemoryBound(to: graph_node.self)
    let all = (0..<2).map { _ in make(graph_node.self) }
    defer { end(root, all) }
    store([all[0], all[0], all[0]], in: root)
    log.observe(root.object, "items.@sum.value")
    graph_node_insertItem(root, all[1], 2)
    expectFollowed(root, all)
  }

  @Test("C6: an accessor that removes another element than an equal one beside it is believed")
  func removedBesideEqual() {
    let odd = UnsafeMutableRawPointer(make(graph_odd_node_class()))
    odd.assumingMemoryBound(to: graph_odd_node.self).pointee.oddity = .GRAPH_REMOVES_LAST
    let root = odd.assumingMemoryBound(to: graph_node.self)
    let all = (0..<2).map { _ in make(graph_node.self) }
    defer { end(root, all) }
    store([all[0], all[0], all[1]], in: root)
    log.observe(root.object, "items.@sum.value")
    graph_node_removeItem(root, 0)
    expectFollowed(root, all, "after the removal")
    graph_node_removeItem(root, 0)
    expectFollowed(root, all, "after the second removal")
  }

  @Test("C6: elements that were stored without a change are found where their number shows them")
  func storedSilently() {
    let (root, all) = makeList(2)
    defer { end(root, all) }
    log.observe(root.object, "items.@sum.value")
    store([all[0], all[1], all[2]], in: root)
    graph_node_insertItem(root, all[3], 3)
    expectFollowed(root, all)
    store([all[0]], in: root)
    graph_node_removeItem(root, 0)
    expectFollowed(root, all)
    store([all[0], all[1]], in: root)
    Many([]).lend { graph_node_setItems(root, $0) }
    expectFollowed(root, all)
    graph_node_insertItem(root, all[0], 0)
    store([all[0], all[2]], in: root)
    graph_node_insertItem(root, all[0], 2)
    expectFollowed(root, all)
  }

  @Test(
    "C6: a manual change that names other elements than it changes is detected",
    arguments: [kvo_change_kind.KVO_INSERTION, .KVO_REMOVAL, .KVO_REPLACEMENT])
  func wrongIndexes(_ kind: kvo_change_kind) {
    let (root, all) = makeList(4)
    defer { end(root, all) }
    log.observe(root.object, "items.@sum.value")
    withIndexSet([kind == .KVO_REPLACEMENT ? 0 : 1]) { named in
      kvo_will_change_indexes(root.object, kind, named, "items")
      switch kind {
      case .KVO_INSERTION: store([all[0], all[1], all[2], all[4], all[3]], in: root)
      case .KVO_REMOVAL: store([all[0], all[1], all[3]], in: root)
      default: store([all[0], all[1], all[4], all[3]], in: root)
      }
      kvo_did_change_indexes(root.object, kind, named, "items")
    }
    expectFollowed(root, all)
  }

  @Test("C6 D6: a did that names other elements than its will is followed by reading all")
  func otherDid() async {
    await #expect(processExitsWith: .success) {
      kvo_set_misuse_handler { _ in heard.withLock { $0 += 1 } }
      ElementTests().endOtherwise()
    }
  }

  private func endOtherwise() {
    let (root, all) = makeList(3)
    log.observe(root.object, "items.@sum.value")
    withIndexSet([3]) { named in
      kvo_will_change_indexes(root.object, .KVO_INSERTION, named, "items")
      store([all[3], all[1], all[2], all[4]], in: root)
      withIndexSet([0]) { kvo_did_change_indexes(root.object, .KVO_INSERTION, $0, "items") }
    }
    expectEqual(heard.withLock { $0 }, 1)
    expectFollowed(root, all)
    log.end()
    end(root, all)
  }

  // MARK: Changes in changes

  @Test("C6: changes of a list within one another, and crossing ones, are followed")
  func withinOneAnother() {
    let (root, all) = makeList(2)
    defer { end(root, all) }
    log.observe(root.object, "items.@sum.value")
    withIndexSet([2]) { named in
      kvo_will_change_indexes(root.object, .KVO_INSERTION, named, "items")
      graph_node_replaceItem(root, 0, all[3])
      store([all[3], all[1], all[2]], in: root)
      kvo_did_change_indexes(root.object, .KVO_INSERTION, named, "items")
    }
    expectFollowed(root, all, "after one within a pair")
    withIndexSet([0]) { first in
      kvo_will_change_indexes(root.object, .KVO_REMOVAL, first, "items")
      kvo_will_change(root.object, "items")
      store([all[1], all[4]], in: root)
      kvo_did_change(root.object, "items")
      kvo_did_change_indexes(root.object, .KVO_REMOVAL, first, "items")
    }
    expectFollowed(root, all, "after a setting within a pair")
    store([], in: root)
    collected(.KVO_ARRAY, all[0...2].map(\.object)).lend { graph_node_setItems(root, $0) }
    withIndexSet([0]) { first in
      kvo_will_change_indexes(root.object, .KVO_REPLACEMENT, first, "items")
      collected(.KVO_ARRAY, [all[3].object, all[1].object]).lend { graph_node_setItems(root, $0) }
      store([all[4], all[1], all[2]], in: root)
      kvo_did_change_indexes(root.object, .KVO_REPLACEMENT, first, "items")
    }
    expectFollowed(root, all, "after a setting within a replacement")
  }

  @Test("C6: a change that an observer makes to the list it observes is followed")
  func inDelivery() {
    let (root, all) = makeList(2)
    defer { end(root, all) }
    var changes = [
      { graph_node_removeItem(root, 0) }, { graph_node_insertItem(root, all[3], 0) },
    ]
    log.observe(root.object, "items.@sum.value", [.KVO_PRIOR]) { call in
      if !call.isPrior { changes.popLast()?() }
    }
    graph_node_insertItem(root, all[2], 2)
    expectEqual(items(root), [all[0], all[1], all[2]])
    expectFollowed(root, all, "after finals that changed it")
    log.observe(root.object, "items", [.KVO_PRIOR]) { call in
      if call.isPrior, changes.isEmpty {
        changes = [{}]
        graph_node_replaceItem(root, 0, all[4])
      }
    }
    graph_node_insertItem(root, all[3], 3)
    expectFollowed(root, all, "after a prior that changed it")
  }

  @Test("M1 C6: what a batch changes of a list is followed")
  func batch() {
    let (root, all) = makeList(2)
    defer { end(root, all) }
    log.observe(root.object, "items.@sum.value")
    let first = kvo_batch_begin(root.object)
    graph_node_insertItem(root, all[2], 0)
    kvo_batch_end(first!)
    expectFollowed(root, all)
    let second = kvo_batch_begin(root.object)
    graph_node_replaceItem(root, 0, all[3])
    graph_node_removeItem(root, 1)
    kvo_batch_end(second!)
    expectFollowed(root, all)
    graph_node_insertItem(root, all[0], 1)
    expectFollowed(root, all)
  }

  @Test("C4 C6: an element that dies when it goes leaves the others followed")
  func goesAndDies() async {
    // In a process of its own, as in `namedElements`.
    await #expect(processExitsWith: .success) { ElementTests().loseElement() }
  }

  private func loseElement() {
    let (root, all) = makeList(2)
    defer { end(root, all) }
    let deaths = Deaths()
    let dying = make(graph_node.self)
    dying.pointee.watcher.tracked.deaths = deaths.counter
    log.observe(root.object, "items.@sum.value")
    graph_node_insertItem(root, dying, 1)
    dying.release()
    root.pointee.item_reads = 0
    graph_node_removeItem(root, 1)
    precondition(deaths.count == 1)
    precondition(root.pointee.item_reads < 6, "\(root.pointee.item_reads)")
    expectFollowed(root, all)
    graph_node_insertItem(root, all[2], 0)
    expectFollowed(root, all)
  }

  @Test("C6: collections and nil among the elements are followed")
  func otherElements() {
    let nodes = (0..<4).map { _ in make(graph_node.self) }
    defer { releaseAll(nodes) }
    let inner = collected(.KVO_ARRAY, [nodes[1].object])
    collected(.KVO_ARRAY, [inner.object]).lend { graph_node_setWares(nodes[0], $0) }
    log.observe(nodes[0].object, "wares.@unionOfArrays.value")
    let proxy = Many(mutable: nodes[0].object, "wares")
    let second = collected(.KVO_ARRAY, [nodes[2].object, nodes[3].object])
    func expectNotified(_ notified: [Int]) {
      _ = log.take()
      for number in 1..<4 {
        graph_node_setValue(nodes[number], 1)
        expectEqual(log.take().isEmpty, !notified.contains(number))
      }
    }
    var value = kvo_value_object(second.object)
    kvo_collection_append(proxy.collection, &value, nil)
    kvo_value_destroy(&value)
    expectNotified([1, 2, 3])
    proxy.remove(at: 0)
    expectNotified([2, 3])
    proxy.append(.nil)
    expectNotified([2, 3])
    proxy.remove(at: 0)
    expectNotified([])
  }

  // MARK: Random changes

  @Test("C6: after random changes just the elements are followed", arguments: 1...8)
  func random(_ seed: Int) {
    var random = Random(seed: UInt64(seed))
    let (root, all) = makeList(3)
    defer { end(root, all) }
    for path in ["items.@sum.value", "items.@max.value"] { log.observe(root.object, path) }
    for step in 0..<300 {
      let count = root.pointee.items.count
      let node = all[random.next(all.count)]
      let index = random.next(max(count, 1))
      switch random.next(8) {
      case 0...2: graph_node_insertItem(root, node, random.next(count + 1))
      case 3, 4: graph_node_removeItem(root, index)
      case 5: graph_node_replaceItem(root, index, node)
      case 6:
        let gone = (0..<count).filter { _ in random.next(3) == 0 }
        withIndexSet(gone) { graph_node_removeItems(root, $0) }
      default:
        let objects = (0..<2).map { _ in all[random.next(all.count)].object }
        collected(.KVO_ARRAY, objects).lend { objects in
          withIndexSet([index, index + 1]) { graph_node_insertItems(root, objects, $0) }
        }
      }
      expectFollowed(root, all, "after step \(step)")
    }
  }
}

/// How often the misuse handler was called, in a process of its own.
private let heard = Locked(0)

private func collected(_ kind: kvo_collection_kind, _ objects: [CObject]) -> Many {
  var values = objects.map { kvo_value_object($0) }
  defer { for index in values.indices { kvo_value_destroy(&values[index]) } }
  return Many(kind, elements: values)
}
