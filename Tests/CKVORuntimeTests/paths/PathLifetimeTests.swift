import CFixtures
import CKVORuntime
import Expectations
import Glibc
import TestSupport
import Testing

/// C4 and G3 along key paths: roots, linked objects and observers die in any order. No object is kept alive, no
/// observer is called for a dead object, and the survivors keep no trace.
@Suite(.recording) struct PathLifetimeTests {
  private let deaths = Deaths()

  private func makeNode() -> UnsafeMutablePointer<graph_node> {
    let node = make(graph_node.self)
    node.pointee.watcher.tracked.deaths = deaths.counter
    return node
  }

  private func isBare(_ object: CObject) -> Bool {
    !isSwapped(object) && object.pointee.observations == nil
  }

  private static let paths = [
    "next.value", "next.next.value", "next.total", "nextTotal", "both", "far", "heir.value",
    "items.@sum.value", "items.@count", "next.items.@max.value",
  ]

  @Test("C4: the death of the root ends a path and leaves nothing behind", arguments: paths)
  func rootDies(_ path: String) {
    let nodes = (0..<3).map { _ in makeNode() }
    graph_node_setNext(nodes[0], nodes[1])
    graph_node_setNext(nodes[1], nodes[2])
    graph_node_setOther(nodes[0], nodes[2])
    graph_node_insertItem(nodes[0], nodes[2], 0)
    graph_node_insertItem(nodes[1], nodes[2], 0)
    let log = Recorder()
    let registration = log.observe(nodes[0].object, path, [.KVO_NEW, .KVO_PRIOR])
    expectEqual(registration.outcome.status, .KVO_OK)
    nodes[0].release()
    expectEqual(deaths.count, 1)
    expect(!registration.isValid && registration.ended == 1)
    for node in nodes.dropFirst() {
      expect(isBare(node.object))
      graph_node_setValue(node, 1)
    }
    expectEqual(log.take(), [])
    releaseAll(Array(nodes.dropFirst()))
    expectEqual(deaths.count, 3)
  }

  @Test("C4: an observer object's death ends its paths", arguments: paths)
  func observerDies(_ path: String) {
    let nodes = (0..<2).map { _ in makeNode() }
    graph_node_setNext(nodes[0], nodes[1])
    graph_node_insertItem(nodes[0], nodes[1], 0)
    let log = Recorder()
    let observer = deaths.makeWatcher()
    log.listen(to: observer, as: "w")
    expectEqual(add(observer, to: nodes[0].object, path).status, .KVO_OK)
    observer.release()
    expectEqual(deaths.count, 1)
    for node in nodes {
      expect(isBare(node.object))
      graph_node_setValue(node, 1)
    }
    expectEqual(log.take(), [])
    releaseAll(nodes)
  }

  @Test("C4: a path retains no object on it")
  func pathKeepsNothing() {
    let root = makeNode()
    let next = makeNode()
    graph_node_setNext(root, next)
    next.release()
    let log = Recorder()
    log.observe(root.object, "next.value", [.KVO_OLD, .KVO_NEW])
    graph_node_setNext(root, nil)
    expectEqual(deaths.count, 1)
    expectEqual(log.take(), ["a: next.value old 0.0 new nil"])
    root.release()
    expectEqual(deaths.count, 2)
  }

  @Test("G3: a link that does not retain its object is silent at its death, then reads nil")
  func weakLink() {
    let nodes = (0..<3).map { _ in make(shared_node_class()) }
    shared_node_set_next(nodes[0], nodes[1])
    shared_node_set_value(nodes[1], 1)
    shared_node_set_value(nodes[2], 2)
    let log = Recorder()
    log.observe(nodes[0], "next.value", [.KVO_OLD, .KVO_NEW, .KVO_PRIOR])
    log.observe(nodes[0], "next.next.value", .KVO_NEW, as: "b")
    shared_node_forget_next(nodes[0])
    kvo_object_release(nodes[1])
    expectEqual(log.take(), [])
    shared_node_set_next(nodes[0], nodes[2])
    expectEqual(
      log.take(),
      [
        "a: prior next.value old nil", "a: next.value old nil new 2.0",
        "b: next.next.value new nil",
      ])
    shared_node_set_value(nodes[2], 3)
    expectEqual(log.take(), ["a: prior next.value old 2.0", "a: next.value old 2.0 new 3.0"])
    log.end()
    expect(isBare(nodes[0]) && isBare(nodes[2]))
    kvo_object_release(nodes[0])
    kvo_object_release(nodes[2])
  }

  @Test("C4: dropping the root in a callback ends the path; the other observers are notified")
  func rootDroppedInCallback() {
    let roots = (0..<3).map { _ in makeNode() }
    let leaf = makeNode()
    for root in roots { graph_node_setNext(root, leaf) }
    let log = Recorder()
    log.observe(roots[0].object, "next.value", .KVO_NEW, as: "0") { _ in roots[1].release() }
    log.observe(roots[1].object, "next.value", .KVO_NEW, as: "1")
    log.observe(roots[2].object, "next.value", .KVO_NEW, as: "2") { _ in roots[2].release() }
    graph_node_setValue(leaf, 1)
    expectEqual(log.take(), ["0: next.value new 1.0", "2: next.value new 1.0"])
    expectEqual(deaths.count, 2)
    roots[0].release()
    leaf.release()
    expectEqual(deaths.count, 4)
  }

  @Test("C1: removing all observers of an object keeps other objects' paths through it")
  func removeAll() {
    let nodes = (0..<2).map { _ in makeNode() }
    defer { releaseAll(nodes) }
    graph_node_setNext(nodes[0], nodes[1])
    let log = Recorder()
    log.observe(nodes[0].object, "next.value", .KVO_NEW, as: "path")
    for name in ["a", "b"] { log.observe(nodes[1].object, "value", .KVO_NEW, as: name) }
    log.observe(nodes[1].object, "total", .KVO_NEW, as: "total")
    kvo_remove_all_observers(nodes[1].object)
    graph_node_setValue(nodes[1], 1)
    expectEqual(log.take(), ["path: next.value new 1.0"])
    expect(kvo_is_observed(nodes[1].object, "value"))
    kvo_remove_all_observers(nodes[0].object)
    graph_node_setValue(nodes[1], 2)
    expectEqual(log.take(), [])
    expect(nodes.allSatisfy { isBare($0.object) })
  }

  @Test("J1: the dump lists the path and dependency observations at an object")
  func dump() {
    let nodes = (0..<2).map { _ in makeNode() }
    defer { releaseAll(nodes) }
    graph_node_setNext(nodes[0], nodes[1])
    let log = Recorder()
    log.observe(nodes[0].object, "next.total", .KVO_NEW)
    let text = kvo_copy_debug_dump(nodes[1].object)!
    defer { free(text) }
    let dump = String(cString: text)
    expect(dump.contains("\"total\" leads on for \"next.total\""))
    expect(dump.contains("\"value\" leads on for \"total\""))
    expect(dump.contains("derived from \"value\""))
    expect(!dump.contains("observed by"))
  }

  @Test("J1: the dump lists them in the order in which they were made")
  func orderOfTheDump() {
    let nodes = (0..<7).map { _ in makeNode() }
    defer { releaseAll(nodes) }
    let log = Recorder()
    let keys = ["value", "extra", "quiet", "extra", "value", "quiet"]
    for (node, key) in zip(nodes.dropFirst(), keys) {
      graph_node_setNext(node, nodes[0])
      log.observe(node.object, "next.\(key)", .KVO_NEW)
    }
    let text = kvo_copy_debug_dump(nodes[0].object)!
    defer { free(text) }
    let notified = String(cString: text).split(separator: "\n").filter { $0.contains("leads on") }
    expectEqual(notified.map { $0.split(separator: "\"")[1] }, keys.map { Substring($0) })
  }
}
