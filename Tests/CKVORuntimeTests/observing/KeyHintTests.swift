import CFixtures
import CKVORuntime
import Expectations
import TestSupport
import Testing

/// E2, F1: hints about keys that a C class does not have. Handlers are global.
@Suite struct KeyHintTests {
  @Test("E2: a manual change of a key path, of no key, or of a key the C class lacks is misuse")
  func changesByHand() async {
    await #expect(processExitsWith: .success) {
      kvo_set_misuse_handler(hear)
      let object = make(savings.self)
      let log = Recorder()
      let change = { (key: String) in
        kvo_will_change(object.object, key)
        kvo_did_change(object.object, key)
      }
      change("blance")  // no observer is needed
      log.observe(object.object, "owner")
      for key in ["owner", "balance", "ovner", "balance.size", "", "@count"] { change(key) }
      expect([
        handText("blance") + #"CSavings has no key "blance". Did you mean "balance"?"#,
        handText("ovner") + #"CSavings has no key "ovner". Did you mean "owner"?"#,
        handText("balance.size")
          + "this is a key path. Announce the change of the object that has its last key.",
        handText("") + "a key is not empty.",
        handText("@count") + #"CSavings has no key "@count"."#,
      ])
      expectEqual(log.take(), ["a: owner"])
      log.end()
      object.release()
    }
  }

  @Test("E2: a key that the class's own hook answers is no hint; a write-only key is")
  func hooks() async {
    await #expect(processExitsWith: .success) {
      kvo_set_hint_handler(hear)
      let object = make(forgiving.self)
      let log = Recorder()
      log.observe(object.object, "level")
      for key in ["ghost", "goast"] {
        kvo_will_change(object.object, key)
        kvo_did_change(object.object, key)
      }
      expectEqual(hints().count, 1)
      expectEqual(
        hints().first?.contains("A manual change of \"goast\" of CForgiving notifies no observer"),
        true)
      log.end()
      object.release()
    }
  }

  @Test("F1: a dependency for a key that a C class lacks is a hint once the class is observed")
  func dependencies() async {
    await #expect(processExitsWith: .success) {
      kvo_set_hint_handler(hear)
      let cls = extended_class("CHinted")
      for (key, path) in [("summ", "a"), ("sum", "b"), ("peerSum", "peer.sum")] {
        expectEqual(kvo_class_add_dependency(cls, key, path, nil), .KVO_OK)
      }
      expect([])
      let (object, log) = (make(cls), Recorder())
      for _ in 0..<2 { log.observe(object, "sum") }
      expect([#"CHinted declares a dependency for "summ": \#(lack("summ", "sum"))"#])
      kvo_class_add_dependency(cls, "peersum", "a", nil)
      expect([#"CHinted declares a dependency for "peersum": \#(lack("peersum", "peerSum"))"#])
      log.end()
      kvo_object_release(object)
    }
  }

  @Test(
    "F1: a dependency declared for a subclass's key, or a class that answers any key, is no hint")
  func otherClasses() async {
    await #expect(processExitsWith: .success) {
      kvo_set_hint_handler(hear)
      let savings = make(savings.self)
      kvo_class_add_dependency(account_class(), "numbr", "balance", nil)
      kvo_class_add_dependency(account_class(), "sets", "balance", nil)
      let object = make(forgiving.self)
      kvo_class_add_dependency(kvo_class_of(object.object), "ghosts", "level", nil)
      let log = Recorder()
      log.observe(object.object, "level")
      expect([])
      log.observe(savings.object, "balance")
      expect(
        hints().count == 1 && hints()[0].hasPrefix("CAccount declares a dependency for \"numbr\""))
      expect(hints())
      kvo_set_hint_handler(nil)
      let quiet = make(graph_node.self)
      kvo_class_add_dependency(graph_node_class(), "valu", "extra", nil)
      log.observe(quiet.object, "value")
      expect([])
      log.end()
      object.release()
      savings.release()
      quiet.release()
    }
  }
}

private func handText(_ key: String) -> String {
  "A manual change of \"\(key)\" of CSavings notifies no observer: "
}

private func lack(_ key: String, _ meant: String) -> String {
  #"CHinted has no key "\#(key)". Did you mean "\#(meant)"?"#
}

private let heard = Locked<[String]>([])
private let hear: @convention(c) (UnsafePointer<CChar>) -> Void = { text in
  heard.withLock { $0.append(String(cString: text)) }
}
private func hints() -> [String] { heard.withLock { $0 } }
private func expect(_ texts: [String]) {
  let notified = heard.withLock { notified in
    defer { notified = [] }
    return notified
  }
  expectEqual(notified, texts)
}
