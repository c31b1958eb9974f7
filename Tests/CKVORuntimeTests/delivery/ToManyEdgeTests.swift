import CFixtures
import CKVORuntime
import Expectations
import TestSupport
import Testing

/// To-many keys where changes cross, collections are nested, and several threads take part.
@Suite(.recording) struct ToManyEdgeTests {
  @Test("D5 H4: a did inside a prior call keeps the values that this call and later priors see")
  func didInPrior() {
    let nodes = (0..<3).map { _ in make(graph_node.self) }
    defer { releaseAll(nodes) }
    graph_node_addTag(nodes[0], nodes[1])
    let other = collected(.KVO_SET, [nodes[1].object])
    let log = Recorder()
    var before: String?
    log.observe(nodes[0].object, "tags", [.KVO_PRIOR, .KVO_OLD], as: "a") { call in
      guard call.isPrior, before == nil else { return }
      before = call.old
      other.lend { kvo_did_change_set(nodes[0].object, .KVO_MINUS, $0, "tags") }
      expectEqual(call.old, before)
    }
    log.observe(nodes[0].object, "tags", [.KVO_PRIOR, .KVO_OLD], as: "b") { call in
      if call.isPrior { expectEqual(call.old, before) }
    }
    other.lend { kvo_will_change_set(nodes[0].object, .KVO_MINUS, $0, "tags") }
    expect(before != nil)
    expectEqual(log.take().count, 4)
    graph_node_removeTag(nodes[0], nodes[1])
  }

  @Test(
    "H3: a change of elements behind an operator is a setting of the operator's value",
    arguments: ["wares.@unionOfArrays.items", "wares.@distinctUnionOfArrays.items"])
  func unions(_ path: String) {
    let nodes = (0..<3).map { _ in make(graph_node.self) }
    defer { releaseAll(nodes) }
    let wares = collected(.KVO_ARRAY, nodes[1...].map(\.object))
    wares.lend { graph_node_setWares(nodes[0], $0) }
    let log = Mutations(of: nodes[0].object, path, [])
    graph_node_insertItem(nodes[1], nodes[2], 0)
    graph_node_removeItem(nodes[1], 0)
    expectEqual(log.take(), ["setting", "setting"])
    graph_node_setWares(nodes[0], nil)
    log.end()
  }

  @Test(
    "C6: the elements of collections in a collection are followed",
    arguments: ["wares.@unionOfArrays.value", "wares.@distinctUnionOfArrays.value"])
  func nested(_ path: String) {
    let nodes = (0..<3).map { _ in make(graph_node.self) }
    defer { releaseAll(nodes) }
    let inner = nodes.dropFirst().map { collected(.KVO_ARRAY, [$0.object]) }
    let outer = withExtendedLifetime(inner) { collected(.KVO_ARRAY, inner.map { $0.object }) }
    outer.lend { graph_node_setWares(nodes[0], $0) }
    let log = Recorder()
    let registration = log.observe(nodes[0].object, path)
    expectEqual(registration.outcome.status, .KVO_OK)
    for node in nodes.dropFirst() { graph_node_setValue(node, 1) }
    expectEqual(log.take(), ["a: \(path)", "a: \(path)"])
    graph_node_setWares(nodes[0], nil)
    expectEqual(log.take(), ["a: \(path)"])
    for node in nodes.dropFirst() { graph_node_setValue(node, 2) }
    expectEqual(log.take(), [])
    log.end()
    expect(nodes.allSatisfy { !isSwapped($0.object) })
  }

  @Test("B9: an error from the class is the proxy's error, and no final call is made")
  func refusedEdit() {
    let size = MemoryLayout<graph_node>.size
    let cls = kvo_class_create("CRefusesWares", graph_node_class(), size, nil)!
    expectEqual(kvo_class_register(cls, nil), .KVO_OK)
    let hook:
      @convention(c) (
        CObject?, OpaquePointer?, UnsafePointer<kvo_value>?, UnsafePointer<CChar>?,
        UnsafeMutablePointer<kvo_error>?
      ) -> kvo_status = { _, _, _, _, _ in .KVO_VALIDATION_FAILED }
    let added = kvo_class_add_method(
      cls, "setValue:forKey:", unsafeBitCast(hook, to: kvo_imp.self),
      signature(.KVO_FORM_HOOK, layout("")), nil, nil)
    expectEqual(added, .KVO_OK)
    let node = make(cls)
    defer { kvo_object_release(node) }
    let log = Recorder()
    log.observe(node, "wares")
    var proxy: OpaquePointer?
    expectEqual(kvo_mutable_array(node, "wares", &proxy, nil), .KVO_OK)
    let wares = Many(taking: proxy!)
    var element = kvo_value_object(node)
    defer { kvo_value_destroy(&element) }
    expectEqual(wares.lend { kvo_collection_append($0, &element, nil) }, .KVO_VALIDATION_FAILED)
    expectEqual(log.take(), [])
    graph_node_setWares(UnsafeMutableRawPointer(node).assumingMemoryBound(to: graph_node.self), nil)
    expectEqual(log.take(), ["a: wares"])
  }

  @Test("I1: all observers of an object are removed while paths are registered with it")
  func removeAllAgainstPaths() {
    let nodes = [make(shared_node_class()), make(shared_node_class())]
    shared_node_set_next(nodes[0], nodes[1])
    let shared = Shared(nodes)
    let tally = Tally()
    onThreads(3) { thread in
      for _ in 0..<400 {
        if thread == 0 {
          kvo_remove_all_observers(shared.value[0])
        } else {
          let handle = tally.make(
            shared.value[0], thread == 1 ? "next.value" : "nextTwice", .KVO_NEW)
          kvo_handle_release(handle)
        }
      }
    }
    expect(tally.isSettled)
    expect(nodes.allSatisfy { !isSwapped($0) && $0.pointee.observations == nil })
    for node in nodes { kvo_object_release(node) }
  }

  @Test("F1: dependencies that several threads declare at once are all kept")
  func declaredAtOnce() {
    for round in 0..<20 {
      let cls = extended_class("CDeclaredAtOnce\(round)")
      let node = make(cls)
      let log = Recorder()
      log.observe(node, "sum", .KVO_NEW)
      let shared = Shared((cls, node))
      onThreads(2) { thread in
        let status = kvo_class_add_dependency(shared.value.0, "sum", thread == 0 ? "a" : "b", nil)
        expectEqual(status, .KVO_OK)
      }
      let extended = UnsafeMutableRawPointer(node).assumingMemoryBound(to: extended.self)
      extended_setA(extended, 1)
      extended_setB(extended, 2)
      expectEqual(log.take(), ["a: sum new 1.0", "a: sum new 3.0"])
      log.end()
      kvo_object_release(node)
    }
  }
}

private func collected(_ kind: kvo_collection_kind, _ objects: [CObject]) -> Many {
  var values = objects.map { kvo_value_object($0) }
  defer { for index in values.indices { kvo_value_destroy(&values[index]) } }
  return Many(kind, elements: values)
}
