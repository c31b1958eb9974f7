import CFixtures
import CKVORuntime
import Expectations
import TestSupport
import Testing

/// F1 and F4: declared dependencies of a class, when they are declared, and how its subclasses change them. The
/// ordinary notifications are covered by the scenarios.
@Suite(.recording) struct DependencyTests {
  private typealias Extended = UnsafeMutablePointer<extended>

  private func make(_ cls: OpaquePointer) -> Extended {
    UnsafeMutableRawPointer(CKVORuntimeTests.make(cls)).assumingMemoryBound(to: extended.self)
  }

  private func object(_ extended: Extended) -> CObject {
    UnsafeMutableRawPointer(extended).assumingMemoryBound(to: kvo_object.self)
  }

  private func depend(_ cls: OpaquePointer, _ key: String, on path: String) -> Outcome {
    attempt { kvo_class_add_dependency(cls, key, path, $0) }
  }

  @Test("F1: a dependency declared while the key is observed takes effect at once")
  func declaredLate() {
    let cls = extended_class("CLateDeclared")
    let node = make(cls)
    defer { kvo_object_release(object(node)) }
    let log = Recorder()
    log.observe(object(node), "sum", [.KVO_OLD, .KVO_NEW])
    extended_setA(node, 1)
    expectEqual(log.take(), [])
    expectEqual(depend(cls, "sum", on: "a").status, .KVO_OK)
    extended_setA(node, 2)
    extended_setB(node, 1)
    expectEqual(log.take(), ["a: sum old 1.0 new 2.0"])
    expectEqual(depend(cls, "sum", on: "b").status, .KVO_OK)
    extended_setB(node, 3)
    expectEqual(log.take(), ["a: sum old 3.0 new 5.0"])
    log.end()
    expect(!isSwapped(object(node)))
  }

  @Test("F2 D7: a derived key whose getter sets what affects it notifies once, and ends")
  func settingGetter() {
    let cls = extended_class("CSettingGetter")
    kvo_class_replace_method(cls, "sum", raising, nil, nil)
    expectEqual(depend(cls, "sum", on: "a").status, .KVO_OK)
    expectEqual(depend(cls, "sum", on: "b").status, .KVO_OK)
    let node = make(cls)
    defer { kvo_object_release(object(node)) }
    let log = Recorder()
    log.observe(object(node), "sum", [.KVO_OLD, .KVO_NEW])
    extended_setB(node, 10)
    expectEqual(log.take(), ["a: sum old 1.0 new 12.0"])
    log.end()
  }

  @Test("F2 E2: what a derived key's setter sets is part of its one change, set manually or by key")
  func derivedSetter() {
    let cls = extended_class("CSetSum")
    extended_add_setter_of_sum(cls)
    expectEqual(depend(cls, "sum", on: "a").status, .KVO_OK)
    expectEqual(depend(cls, "sum", on: "b").status, .KVO_OK)
    kvo_class_replace_method(cls, "peerSum", twice, nil, nil)
    expectEqual(depend(cls, "peerSum", on: "sum").status, .KVO_OK)
    let node = make(cls)
    defer { kvo_object_release(object(node)) }
    let log = Recorder()
    log.observe(object(node), "sum", [.KVO_OLD, .KVO_NEW, .KVO_PRIOR])
    log.observe(object(node), "peerSum", .KVO_NEW, as: "b")
    log.observe(object(node), "a", .KVO_NEW, as: "c")
    extended_setSum(node, 5)
    expectEqual(
      log.take(),
      [
        "a: prior sum old 0.0", "c: a new 4.0", "a: sum old 0.0 new 5.0", "b: peerSum new 10.0",
      ])
    let byKey = attempt { kvo_set_value_for_key(object(node), "sum", [kvo_value_double(7)], $0) }
    expectEqual(byKey.status, .KVO_OK)
    expectEqual(
      log.take(),
      [
        "a: prior sum old 5.0", "c: a new 6.0", "a: sum old 5.0 new 7.0", "b: peerSum new 14.0",
      ])
    extended_setA(node, 0)
    expectEqual(log.take().count, 4)
    log.end()
  }

  @Test("F1: a hook added to the class while objects are observed takes effect at once")
  func hookAddedLate() {
    let cls = extended_class("CLateHook")
    let nodes = [make(cls), make(cls)]
    defer { for node in nodes { kvo_object_release(object(node)) } }
    let log = Recorder()
    log.observe(object(nodes[0]), "sum", .KVO_NEW, as: "0")
    log.observe(object(nodes[1]), "sum", .KVO_NEW, as: "1")
    extended_add_hook_of_key(cls)
    extended_setA(nodes[0], 1)
    extended_setB(nodes[1], 2)
    expectEqual(log.take(), ["0: sum new 1.0", "1: sum new 2.0"])
    log.end()
    expect(nodes.allSatisfy { !isSwapped(object($0)) })
  }

  @Test("F1: a late dependency of a key that an observed path leads to is followed as well")
  func lateBehindPath() {
    let cls = extended_class("CLateBehindPath")
    let nodes = [make(cls), make(cls)]
    defer { for node in nodes { kvo_object_release(object(node)) } }
    extended_setPeer(nodes[0], nodes[1])
    let log = Recorder()
    log.observe(object(nodes[0]), "peer.sum", .KVO_NEW)
    log.observe(object(nodes[0]), "peerSum", .KVO_NEW, as: "b")
    extended_add_hook_of_key(cls)
    extended_setA(nodes[1], 1)
    expectEqual(log.take(), ["a: peer.sum new 1.0"])
    expectEqual(depend(cls, "peerSum", on: "peer.sum").status, .KVO_OK)
    extended_setB(nodes[1], 1)
    expectEqual(log.take(), ["a: peer.sum new 2.0", "b: peerSum new 2.0"])
    log.end()
    expect(nodes.allSatisfy { !isSwapped(object($0)) })
  }

  @Test("F1: a subclass inherits dependencies, also where it overrides the getter or a setter")
  func inherited() {
    let base = extended_class("CInheritedBase")
    extended_add_hook_of_key(base)
    let node = make(extended_subclass("CInheriting", base))
    defer { kvo_object_release(object(node)) }
    let log = Recorder()
    log.observe(object(node), "sum", [.KVO_OLD, .KVO_NEW])
    extended_setA(node, 1)
    extended_setB(node, 2)
    expectEqual(log.take(), ["a: sum old 0.0 new 2.0", "a: sum old 2.0 new 6.0"])
  }

  @Test("F1: a dependency that a superclass gets late applies to its subclasses")
  func lateInSuperclass() {
    let base = extended_class("CLateBase")
    let node = make(extended_subclass("CLateSub", base))
    defer { kvo_object_release(object(node)) }
    let log = Recorder()
    log.observe(object(node), "sum", .KVO_NEW)
    expectEqual(depend(base, "sum", on: "b").status, .KVO_OK)
    extended_setB(node, 2)
    expectEqual(log.take(), ["a: sum new 4.0"])
  }

  @Test("F1: the general hook is asked before the key's own, and adds to the superclass's answer")
  func generalHook() {
    let base = extended_class("CGeneralBase")
    let sub = extended_subclass("CGeneral", base)
    expectEqual(depend(base, "sum", on: "b").status, .KVO_OK)
    extended_add_general_hook(sub)
    let nodes = [make(base), make(sub)]
    defer { for node in nodes { kvo_object_release(object(node)) } }
    let log = Recorder()
    log.observe(object(nodes[0]), "sum", .KVO_NEW, as: "base")
    log.observe(object(nodes[1]), "sum", .KVO_NEW, as: "sub")
    for node in nodes { extended_setA(node, 1) }
    expectEqual(log.take(), ["sub: sum new 2.0"])
    for node in nodes { extended_setB(node, 1) }
    expectEqual(log.take(), ["base: sum new 2.0", "sub: sum new 4.0"])
  }

  @Test("F1: a subclass's general hook finds a superclass's hook for the key")
  func generalHookFindsTheKeys() {
    let base = extended_class("CFindsBase")
    extended_add_hook_of_key(base)
    let node = make(extended_subclass("CFindsSub", base))
    defer { kvo_object_release(object(node)) }
    let log = Recorder()
    log.observe(object(node), "sum", .KVO_NEW)
    extended_setB(node, 1)
    expectEqual(log.take(), ["a: sum new 2.0"])
  }

  @Test(
    "F1: a dependency that is not a key path is refused, and changes nothing",
    arguments: [
      ("", kvo_status.KVO_INVALID_KEY_PATH), ("a..b", .KVO_INVALID_KEY_PATH),
      (".a", .KVO_INVALID_KEY_PATH), ("peer.@nonsense", .KVO_INVALID_OPERATOR),
      ("peer.@sum", .KVO_INVALID_OPERATOR),
    ])
  func refused(_ path: String, _ status: kvo_status) {
    let cls = extended_class("CRefused \(path)")
    let outcome = depend(cls, "sum", on: path)
    expectEqual(outcome.status, status)
    expect(outcome.message.contains("CRefused"))
  }

  @Test(
    "F1: a key may depend on a key that only manual changes announce and the class lacks")
  func byHand() {
    let cls = extended_class("CByHand")
    expectEqual(depend(cls, "sum", on: "state").status, .KVO_OK)
    let node = make(cls)
    defer { kvo_object_release(object(node)) }
    let log = Recorder()
    log.observe(object(node), "sum", [.KVO_OLD, .KVO_NEW])
    kvo_will_change(object(node), "state")
    extended_setA(node, 1)
    kvo_did_change(object(node), "state")
    expectEqual(log.take(), ["a: sum old 0.0 new 1.0"])
    expectEqual(log.observe(object(node), "state").outcome.status, .KVO_UNDEFINED_KEY)
    log.end()
    expect(!isSwapped(object(node)))
  }

  @Test("F2: keys that depend on one another are released with their last observer")
  func circleLetGo() {
    let node = CKVORuntimeTests.make(graph_node.self)
    defer { node.release() }
    let log = Recorder()
    for key in ["ringA", "ringB", "circle"] {
      log.observe(node.object, key)
      log.end()
      expect(!isSwapped(node.object), "\(key)")
    }
    let first = log.observe(node.object, "ringA", as: "1")
    log.observe(node.object, "ringB", as: "2")
    first.release()
    graph_node_setValue(node, 1)
    expectEqual(log.take(), ["2: ringB"])
    log.end()
    expect(!isSwapped(node.object))
  }

  @Test("F1: a chain of derived keys over ten thousand objects is followed and released")
  func longChain() {
    let nodes = (0..<10_000).map { _ in CKVORuntimeTests.make(graph_node.self) }
    for (node, next) in zip(nodes, nodes.dropFirst()) { graph_node_setNext(node, next) }
    let log = Recorder()
    log.observe(nodes[0].object, "circle")
    graph_node_setValue(nodes[nodes.count - 1], 1)
    expectEqual(log.take(), ["a: circle"])
    log.end()
    expect(nodes.allSatisfy { !isSwapped($0.object) })
    for node in nodes { graph_node_setNext(node, nil) }
    for node in nodes { node.release() }
  }
}

private typealias DoubleGetter =
  @convention(c) (UnsafeMutablePointer<kvo_object>, OpaquePointer?) -> Double

/// A getter of `sum` that raises `a`.
private let twice = unsafeBitCast(
  { object, _ in
    let node = UnsafeMutableRawPointer(object).assumingMemoryBound(to: extended.self)
    return 2 * (node.pointee.a + node.pointee.b)
  } as DoubleGetter, to: kvo_imp.self)

private let raising = unsafeBitCast(
  { object, _ in
    let node = UnsafeMutableRawPointer(object).assumingMemoryBound(to: extended.self)
    extended_setA(node, node.pointee.a + 1)
    return node.pointee.a + node.pointee.b
  } as DoubleGetter, to: kvo_imp.self)
