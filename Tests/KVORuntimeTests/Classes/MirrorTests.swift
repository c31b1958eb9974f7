import Expectations
import KVORuntime
import ModelFixtures
import Testing

/// B2: the root class's own properties are not keys, and no mirror shows them.
@Suite(.leakFree) struct MirrorTests {
  @Test("B2: no property of the root class is a key, to read, to set or to observe")
  func noKey() throws {
    let root = Mirror(reflecting: Plain()).superclassMirror?.superclassMirror
    expect(root?.subjectType == KVOObject.self && root?.children.isEmpty == true)
    expect(root?.superclassMirror == nil)
    for key in ["headerStorage", "_headerStorage", "isHeaderStorage", "header", "isa"] {
      let object = Plain()
      let log = Recorder()
      log.observe(object, \.name)
      #expect(throws: KeyValueError.self) { try object.value(forKey: key) }
      #expect(throws: KeyValueError.self) { try object.value(forKeyPath: "self." + key) }
      #expect(throws: KeyValueError.self) { try object.setValue(Plain(), forKey: key) }
      #expect(throws: KeyValueError.self) { try object.setValue(nil, forKeyPath: "self." + key) }
      #expect(throws: KeyValueError.self) { try object.observe(keyPath: key) { _, _ in } }
      #expect(throws: KeyValueError.self) { try object.dictionaryWithValues(forKeys: [key]) }
      #expect(throws: KeyValueError.self) { try object.mutableArrayValue(forKey: key) }
      object.name = "notified"
      expectEqual(log.take(), ["a"])
    }
    #expect(throws: KeyValueError.self) { try KVOObject().value(forKey: "headerStorage") }
  }

  @Test(
    "B2: copying all that a mirror shows copies keys, and leaves both objects intact")
  func copying() throws {
    let log = Recorder()
    let (original, copy) = (Made(), Made())
    original.name = "Ada"
    original.extra = 7
    original.plain = [1]
    log.observe(original, \.name, .new, as: "original")
    log.observe(copy, \.name, .new, as: "copy")
    let children = all(Mirror(reflecting: original)).filter { $0.label != "life" }
    expectEqual(children.map(\.label), ["extra", "kept", "near", "name", "plain"])
    for child in children { try copy.setValue(child.value, forKey: child.label!) }
    expect(copy.name == "Ada" && copy.extra == 7 && copy.plain == [1])
    original.name = "Grace"
    copy.name = "Edith"
    expectEqual(log.take(), ["copy new Ada", "original new Grace", "copy new Edith"])
    expect(!original.observationInfo.registrations.isEmpty)
  }

  @Test("B2: copying a property wrapper whole, under either name, is an error and stores nothing")
  func wrappers() throws {
    let object = Plain()
    let log = Recorder()
    log.observe(object, \.name)
    for key in ["name", "_name"] {
      #expect(throws: KeyValueError.self) {
        try object.setValue(Observed(wrappedValue: "x"), forKey: key)
      }
      #expect(throws: KeyValueError.self) {
        try object.setValue(Observed(wrappedValue: 1), forKey: key)
      }
    }
    expect(object.name == "" && log.take() == [])
  }

  @Test("B2: a mirror shows classes, properties and their real types")
  func shapes() throws {
    let object = Made()
    object.near = object
    let mirror = Mirror(reflecting: object)
    expect(mirror.subjectType == Made.self && mirror.displayStyle == .class)
    expect(mirror.superclassMirror?.subjectType == Plain.self)
    expect(mirror.superclassMirror?.superclassMirror?.subjectType == Tracked.self)
    expect(mirror.descendant("near") as? Made === object)
    expect(mirror.descendant("extra") as? Int == 0)
    expect(mirror.superclassMirror?.descendant("name") as? String == "")
    expect(Mirror(reflecting: KVOObject()).children.isEmpty)
    let box = Mirror(reflecting: Box(["a"]))
    expect(box.subjectType == Box<[String]>.self && box.descendant("value", 0) as? String == "a")
    var text = ""
    dump(object as KVOObject, to: &text)
    expect(text.contains("- extra: 0") && text.contains("- name: \"\""))
    expect(!text.contains("header") && !text.contains("Observed"))
  }

  @Test("B2: a class may have a mirror of its own")
  func own() {
    let mirror = Mirror(reflecting: Reflecting())
    expectEqual(mirror.children.map(\.label), ["own"])
    expect(mirror.superclassMirror?.descendant("name") != nil)
    let inherited = Mirror(reflecting: ReflectingMore())
    expectEqual(inherited.children.map(\.label), ["own"])
    expect(inherited.superclassMirror?.subjectType == Plain.self)
  }

  @Test("B2: the root's properties in Swift's own mirrors can't be copied either")
  func withoutOurs() throws {
    let (original, copy) = (Generated(), Generated())
    let log = Recorder()
    log.observe(copy, \.name)
    for child in all(Mirror(reflecting: original)) {
      try? copy.setValue(child.value, forKey: child.label!)
    }
    copy.name = "x"
    expectEqual(log.take(), ["a"])
  }
}

private func all(_ mirror: Mirror) -> [Mirror.Child] {
  sequence(first: mirror, next: \.superclassMirror).flatMap { Array($0.children) }
}

private class Plain: Tracked {
  @Observed var name = ""
  var plain: [Int] = []
}

private class Made: Plain {
  @Observed var extra = 0
  var kept: String? = "kept"
  weak var near: Made?
}

private class Reflecting: Plain {
  override var customMirror: Mirror {
    Mirror(self, children: ["own": 1], ancestorRepresentation: .customized { super.customMirror })
  }
}

private class ReflectingMore: Reflecting {
  var more = 1
}

private class Generated: Plain {
  override var customMirror: Mirror { Mirror(self, children: [:]) }
}
