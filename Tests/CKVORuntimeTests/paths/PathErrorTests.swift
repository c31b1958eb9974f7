import CFixtures
import CKVORuntime
import Expectations
import TestSupport
import Testing

/// C6, C8, C9: key paths that can't be observed. The error names class, key and cause, and nothing
/// is registered anywhere along the path.
@Suite(.recording) struct PathErrorTests {
  private struct Refusal: CustomTestStringConvertible, Sendable {
    let path: String
    let status: kvo_status
    let words: [String]
    var testDescription: String { path }
  }

  private static let refusals = [
    Refusal(path: "", status: .KVO_INVALID_KEY_PATH, words: ["GraphNode"]),
    Refusal(path: ".", status: .KVO_INVALID_KEY_PATH, words: ["GraphNode"]),
    Refusal(path: "next.", status: .KVO_INVALID_KEY_PATH, words: ["GraphNode", "next."]),
    Refusal(path: ".next", status: .KVO_INVALID_KEY_PATH, words: ["GraphNode", ".next"]),
    Refusal(path: "next..value", status: .KVO_INVALID_KEY_PATH, words: ["next..value"]),
    Refusal(path: "nonsense", status: .KVO_UNDEFINED_KEY, words: ["GraphNode", "nonsense"]),
    Refusal(path: "nonsense.value", status: .KVO_UNDEFINED_KEY, words: ["GraphNode", "nonsense"]),
    Refusal(path: "next.nonsense", status: .KVO_UNDEFINED_KEY, words: ["GraphNode", "nonsense"]),
    Refusal(path: "next.next.no", status: .KVO_UNDEFINED_KEY, words: ["GraphNode", "no"]),
    Refusal(path: "value.next", status: .KVO_INVALID_KEY_PATH, words: ["value", "not an object"]),
    Refusal(
      path: "items.value", status: .KVO_INVALID_KEY_PATH,
      words: ["GraphNode", "items", "collection", "@unionOfObjects"]),
    Refusal(
      path: "next.items.value", status: .KVO_INVALID_KEY_PATH, words: ["items", "collection"]),
    Refusal(
      path: "items.@sum.items.value", status: .KVO_INVALID_KEY_PATH,
      words: ["\"items.@sum.items.@sum.value\""]),
    Refusal(
      path: "items.@unionOfSets.tags.value", status: .KVO_INVALID_KEY_PATH,
      words: ["\"items.@unionOfSets.tags.@distinctUnionOfObjects.value\""]),
    Refusal(path: "items.@nonsense.value", status: .KVO_INVALID_OPERATOR, words: ["nonsense"]),
    Refusal(path: "items.@sum", status: .KVO_INVALID_OPERATOR, words: ["sum"]),
    Refusal(path: "items.@sum.nonsense", status: .KVO_UNDEFINED_KEY, words: ["nonsense"]),
    Refusal(path: "value.@count", status: .KVO_INVALID_KEY_PATH, words: ["value", "collection"]),
    Refusal(path: "@count", status: .KVO_NOT_OBSERVABLE, words: ["GraphNode", "@count"]),
    Refusal(path: "self", status: .KVO_NOT_OBSERVABLE, words: ["GraphNode", "self"]),
  ]

  @Test(
    "C8: a path that can't be followed is refused, and nothing is registered", arguments: refusals)
  private func refused(_ refusal: Refusal) {
    let nodes = (0..<3).map { _ in make(graph_node.self) }
    defer { releaseAll(nodes) }
    graph_node_setNext(nodes[0], nodes[1])
    graph_node_setNext(nodes[1], nodes[2])
    graph_node_insertItem(nodes[0], nodes[2], 0)
    graph_node_insertItem(nodes[1], nodes[2], 0)
    let log = Recorder()
    let registration = log.observe(nodes[0].object, refusal.path, [.KVO_INITIAL, .KVO_NEW])
    expectEqual(registration.outcome.status, refusal.status)
    for word in refusal.words { expect(registration.outcome.message.contains(word)) }
    expect(!registration.isValid && registration.ended == 0)
    expect(nodes.allSatisfy { !isSwapped($0.object) && $0.object.pointee.observations == nil })
    expectEqual(log.take(), [])
  }

  @Test("C8: the error for a path through a plain pointer names the missing encoding")
  func plainPointer() {
    let object = make(scalars.self)
    defer { object.release() }
    let remedy =
      ": a property of object type that is declared with CUSTOM, ASSIGN or READONLY needs the encoding \"@\"."
    for (path, wanted) in [("pointer.value", "an object"), ("pointer.@count", "a collection")] {
      let outcome = Recorder().observe(object.object, path).outcome
      expectEqual(outcome.status, .KVO_INVALID_KEY_PATH)
      expect(outcome.message.hasSuffix("through \"pointer\", which is not \(wanted)" + remedy))
    }
    let message = Recorder().observe(object.object, "real.value").outcome.message
    expect(message.hasSuffix("which is not an object."))
  }

  @Test("C8: a path with a nil link may be observed, and is followed when the link is set")
  func brokenToday() {
    let nodes = (0..<2).map { _ in make(graph_node.self) }
    defer { releaseAll(nodes) }
    let log = Recorder()
    log.observe(nodes[0].object, "next.value", [.KVO_INITIAL, .KVO_OLD, .KVO_NEW])
    graph_node_setNext(nodes[0], nodes[1])
    graph_node_setValue(nodes[1], 2)
    expectEqual(
      log.take(),
      [
        "a: next.value new nil", "a: next.value old nil new 0.0", "a: next.value old 0.0 new 2.0",
      ])
  }

  @Test("C8: a path of the maximum number of components is observed and released")
  func longPath() {
    let nodes = (0..<2).map { _ in make(graph_node.self) }
    defer { releaseAll(nodes) }
    graph_node_setNext(nodes[0], nodes[1])
    graph_node_setNext(nodes[1], nodes[0])
    let path = String(repeating: "next.", count: 254) + "value"
    let log = Recorder()
    expectEqual(log.observe(nodes[0].object, path).outcome.status, .KVO_OK)
    graph_node_setValue(nodes[0], 1)
    expectEqual(log.take().count, 1)
    log.end()
    expect(nodes.allSatisfy { !isSwapped($0.object) })
    graph_node_setNext(nodes[0], nil)
    graph_node_setNext(nodes[1], nil)
  }

  @Test("C9: a collection can't be observed; a proxy's error names the property to observe")
  func collections() throws {
    let node = make(graph_node.self)
    defer { node.release() }
    let log = Recorder()
    var value = kvo_value()
    expectEqual(kvo_value_for_key(node.object, "items", &value, nil), .KVO_OK)
    defer { kvo_value_destroy(&value) }
    let proxy = try require(kvo_value_get_object(&value))
    for path in ["@count", "count", "next.value"] {
      let outcome = log.observe(proxy, path).outcome
      expectEqual(outcome.status, .KVO_NOT_OBSERVABLE)
      expect(outcome.message.contains("items") && outcome.message.contains("GraphNode"))
    }
    let stored = try require(kvo_collection_create(.KVO_ARRAY, nil, 0, nil))
    let object = UnsafeMutableRawPointer(stored).assumingMemoryBound(to: kvo_object.self)
    defer { kvo_object_release(object) }
    expectEqual(log.observe(object, "@count").outcome.status, .KVO_NOT_OBSERVABLE)
    expect(!isSwapped(proxy) && !isSwapped(object))
  }

  @Test("C6: a dependency through a plain collection is reported, with the operator form")
  func dependencyThroughCollection() async {
    await #expect(processExitsWith: .success) {
      kvo_set_misuse_handler { message in heard.withLock { $0.append(String(cString: message)) } }
      let size = MemoryLayout<graph_node>.size
      let cls = kvo_class_create("CThroughItems", graph_node_class(), size, nil)!
      expectEqual(kvo_class_register(cls, nil), .KVO_OK)
      expectEqual(kvo_class_add_dependency(cls, "loud", "items.value", nil), .KVO_OK)
      let node = make(cls)
      let log = Recorder()
      expectEqual(log.observe(node, "loud").outcome.status, .KVO_OK)
      expectEqual(reports(), 1)
      for word in ["loud", "CThroughItems", "items.@unionOfObjects.value"] {
        expect(heard.withLock { $0[0] }.contains(word))
      }
      log.end()
      expect(!isSwapped(node))
      kvo_object_release(node)
    }
  }

  @Test("B6: an unknown operator's error lists the operators")
  func operators() {
    let node = make(graph_node.self)
    defer { node.release() }
    let outcome = Recorder().observe(node.object, "items.@median.value").outcome
    expectEqual(outcome.status, .KVO_INVALID_OPERATOR)
    expect(
      outcome.message.contains(
        "GraphNode has the unknown operator \"@median\". There are @count, @sum,"))
    expect(outcome.message.hasSuffix("@unionOfSets, @distinctUnionOfSets."))
  }

  @Test("B6: what an observed operator can't add up is delivered as nil, and reported once")
  func unsummable() async {
    await #expect(processExitsWith: .success) {
      kvo_set_misuse_handler { message in heard.withLock { $0.append(String(cString: message)) } }
      let nodes = (0..<3).map { _ in make(graph_node.self) }
      graph_node_setNext(nodes[1], nodes[2])
      let log = Recorder()
      expectEqual(log.observe(nodes[0].object, "items.@sum.next", .KVO_NEW).outcome.status, .KVO_OK)
      expectEqual(reports(), 0)
      for index in 0..<3 { graph_node_insertItem(nodes[0], nodes[1], index) }
      expectEqual(reports(), 1)
      for word in [
        "items.@sum.next", "GraphNode", "reported as nil", "needs numbers", "an object of",
      ] {
        expect(heard.withLock { $0[0] }.contains(word))
      }
      log.end()
      for node in nodes { node.release() }
    }
  }

  @Test("B6: the error for a collection of the wrong kind says what it is")
  func wrongKind() {
    let nodes = (0..<2).map { _ in make(graph_node.self) }
    defer { releaseAll(nodes) }
    graph_node_insertItem(nodes[0], nodes[1], 0)
    for (path, text) in [
      ("items.@unionOfSets.items", "needs sets, but an element gives an array."),
      ("items.@unionOfArrays.tags", "needs arrays, but an element gives a set."),
    ] {
      var value = kvo_value()
      let outcome = attempt { kvo_value_for_key_path(nodes[0].object, path, &value, $0) }
      kvo_value_destroy(&value)
      expect(outcome.status == .KVO_TYPE_MISMATCH && outcome.message.hasSuffix(text), "\(outcome)")
    }
  }

  @Test("B6: nil in an observed union is delivered as nil, and reported once")
  func nilInUnion() async {
    await #expect(processExitsWith: .success) {
      kvo_set_misuse_handler { message in heard.withLock { $0.append(String(cString: message)) } }
      let nodes = (0..<3).map { _ in make(graph_node.self) }
      let log = Recorder()
      let path = "items.@unionOfObjects.next"
      expectEqual(log.observe(nodes[0].object, path, .KVO_NEW).outcome.status, .KVO_OK)
      graph_node_setNext(nodes[1], nodes[2])
      graph_node_insertItem(nodes[0], nodes[1], 0)
      expectEqual(reports(), 0)
      for _ in 0..<2 { graph_node_setNext(nodes[1], nil) }
      expectEqual(reports(), 1)
      for word in [path, "GraphNode", "reported as nil", "needs values", "an element gives nil"] {
        expect(heard.withLock { $0[0] }.contains(word))
      }
      log.end()
      for node in nodes { node.release() }
    }
  }

  @Test("B6: an element without keys among objects is delivered as nil, and reported once")
  func keyless() async {
    await #expect(processExitsWith: .success) {
      kvo_set_misuse_handler { message in heard.withLock { $0.append(String(cString: message)) } }
      let node = make(graph_node.self)
      let log = Recorder()
      for path in ["wares.@avg.value", "wares.@unionOfObjects.value"] {
        expectEqual(log.observe(node.object, path, .KVO_NEW).outcome.status, .KVO_OK)
      }
      let wares = Many(mutable: node.object, "wares")
      var member = kvo_value_object(node.object)
      expectEqual(kvo_collection_append(wares.collection, &member, nil), .KVO_OK)
      kvo_value_destroy(&member)
      expectEqual(reports(), 0)
      _ = log.take()
      for text in ["a", "b"] { wares.append(.string(text)) }
      expectEqual(log.take().filter { $0.hasSuffix(" new nil") }.count, 4)
      expectEqual(reports(), 2)
      for word in ["\"wares.@avg.value\" of CGraphNode is reported as nil", "has no keys"] {
        expect(heard.withLock { $0[0] }.contains(word))
      }
      log.observe(node.object, "wares.@max.value", [.KVO_INITIAL, .KVO_NEW])
      expectEqual(reports(), 3)
      log.end()
      graph_node_setWares(node, nil)
      node.release()
    }
  }

  @Test("B6: an operator whose operand stops being a collection delivers nil, and is reported")
  func noCollection() async {
    await #expect(processExitsWith: .success) {
      kvo_set_misuse_handler { message in heard.withLock { $0.append(String(cString: message)) } }
      let nodes = (0..<2).map { _ in make(graph_node.self) }
      let log = Recorder()
      expectEqual(log.observe(nodes[0].object, "wares.@count", .KVO_NEW).outcome.status, .KVO_OK)
      for _ in 0..<2 {
        var value = kvo_value_object(nodes[1].object)
        expectEqual(kvo_set_value_for_key(nodes[0].object, "wares", &value, nil), .KVO_OK)
        kvo_value_destroy(&value)
      }
      expectEqual(log.take(), ["a: wares.@count new nil", "a: wares.@count new nil"])
      expectEqual(reports(), 1)
      expect(heard.withLock { $0[0] }.contains("reported as nil: The operator \"@count\""))
      log.end()
      releaseAll(nodes)
    }
  }

  @Test("C8: a dependency on an unknown key is reported at the first observation only")
  func dependencyOnUnknownKey() async {
    await #expect(processExitsWith: .success) {
      kvo_set_misuse_handler { message in heard.withLock { $0.append(String(cString: message)) } }
      let cls = extended_class("CThroughCollection")
      expectEqual(kvo_class_add_dependency(cls, "sum", "peer.nonsense", nil), .KVO_OK)
      let nodes = [make(cls), make(cls)]
      extended_setPeer(of(nodes[0]), of(nodes[1]))
      expectEqual(reports(), 0)
      let log = Recorder()
      expectEqual(log.observe(nodes[0], "sum").outcome.status, .KVO_OK)
      expectEqual(reports(), 1)
      let message = heard.withLock { $0[0] }
      for word in ["sum", "CThroughCollection", "peer.nonsense", "nonsense"] {
        expect(message.contains(word))
      }
      log.end()
      extended_setPeer(of(nodes[1]), of(nodes[0]))
      for node in nodes { expectEqual(log.observe(node, "sum").outcome.status, .KVO_OK) }
      expectEqual(reports(), 1)
      log.end()
      for node in nodes { extended_setPeer(of(node), nil) }
      expect(nodes.allSatisfy { !isSwapped($0) })
      for node in nodes { kvo_object_release(node) }
    }
  }
}

private func of(_ object: CObject) -> UnsafeMutablePointer<extended> {
  UnsafeMutableRawPointer(object).assumingMemoryBound(to: extended.self)
}

/// Collects the misuse reports of a process of its own.
private let heard = Locked<[String]>([])
private func reports() -> Int { heard.withLock { $0.count } }
