import Expectations
import Foundation
import KVOFoundation
import KVORuntime
import ModelFixtures
import TestScopes
import TestSupport
import Testing

/// Q4, B13: methods for the elements of Foundation's collections, which `@KVO` finds by their names.
@Suite(.leakFree) struct FoundationElementsTests {
  private let log = Recorder()

  @Test("Q4 B13: a proxy of an ordered set calls the methods that insert and remove")
  func orderedSets() throws {
    let tree = Tree()
    try log.observe(tree, "subs", [.old, .new], as: "subs")
    let subs = try tree.mutableOrderedSetValue(forKey: "subs")
    try subs.add("a")
    try subs.insert("b", at: 0)
    try subs.add("a")
    try subs.remove("b")
    expectEqual(tree.calls, ["insert a 0", "insert b 0", "remove 0"])
    expectEqual(
      log.take(),
      [
        "subs insertion at 0 new [\"a\"]", "subs insertion at 0 new [\"b\"]",
        "subs removal at 0 old [\"b\"]",
      ])
    expectEqual(tree.store.map { "\($0)" }, ["a"])
    expect(try tree.value(forKey: "subs") is NSOrderedSet)
  }

  @Test("Q4 B13: so does one of an array, whether it is computed, stored or nil")
  func arrays() throws {
    let shelf = Shelved()
    for key in ["read", "held", "perhaps"] {
      try log.observe(shelf, key, .new, as: key)
      try shelf.mutableArrayValue(forKey: key).append(3)
    }
    expectEqual(shelf.calls, ["read", "held", "perhaps"])
    expectEqual(
      log.take(),
      [
        "read insertion at 2 new (\n    3\n)", "held insertion at 1 new [3]",
        "perhaps insertion at 0 new [3]",
      ])
    expectEqual(shelf.perhaps as? [Int], [3])
  }

  @Test("Q4 B13: so does one of a set")
  func sets() throws {
    let tagged = TaggedNote()
    try log.observe(tagged, "tags", [.old, .new], as: "tags")
    let tags = try tagged.mutableSetValue(forKey: "tags")
    try tags.add("x")
    try tags.add("x")
    try tags.remove("x")
    expectEqual(tagged.calls, ["add x", "add x", "remove x"])
    expectEqual(
      log.take(),
      [
        "tags insertion new {(\n    x\n)}", "tags insertion new {(\n)}",
        "tags removal old {(\n    x\n)}",
      ])
  }

  @Test("Q4 B13: so does one of a set that may be nil, or whose methods take any value")
  func optionalSets() throws {
    let tagged = Tagged()
    for key in ["maybe", "must", "anything", "objects", "sendable", "optional"] {
      try log.observe(tagged, key, [.old, .new], as: key)
      let members = try tagged.mutableSetValue(forKey: key)
      expectEqual(members.count, 0)
      try members.add(7 as NSNumber)
      expect(members.contains(7 as NSNumber))
      try members.remove(7 as NSNumber)
    }
    expectEqual(
      tagged.calls,
      [
        "add 7", "remove 7", "add [7]", "remove [7]", "add NSNumber", "remove NSNumber",
        "add NSNumber", "remove NSNumber", "add sendable", "remove sendable", "add optional",
        "remove optional",
      ])
    let changes = log.take()
    expectEqual(changes.count, 12)
    for key in ["maybe", "must", "anything", "objects", "sendable", "optional"] {
      expectEqual(changes.filter { $0.hasPrefix("\(key) insertion new") }.count, 1)
      expectEqual(changes.filter { $0.hasPrefix("\(key) removal old") }.count, 1)
    }
  }

  @Test("Q4 D5: prior calls have the removed members of a computed set, in its type")
  func priorMembers() throws {
    let tagged = TaggedNote()
    let tags = try tagged.mutableSetValue(forKey: "tags")
    try tags.formUnion(["x", "y"])
    var typed: [NSSet?] = []
    let token = tagged.observe(\.tags, options: [.old, .prior]) { typed.append($1.oldValue) }
    try log.observe(tagged, "tags", [.old, .prior], as: "tags")
    try tags.remove("x")
    expectEqual(typed, [NSSet(object: "x"), NSSet(object: "x")])
    expectEqual(
      log.take(), ["tags prior removal old {(\n    x\n)}", "tags removal old {(\n    x\n)}"])
    token.invalidate()
  }

  @Test("Q4 H4: methods that take AnyHashable get and give Swift's numbers")
  func numbers() throws {
    let bag = NumberBag()
    let items = try bag.mutableSetValue(forKey: "items")
    try items.formUnion([1, "b", 2.5])
    try log.observe(bag, "items", [.old, .prior], as: "items")
    try items.formIntersection([1, "b"])
    expectEqual(Set(items), [1, "b"])
    try items.remove(1)
    expectEqual(Set(items), ["b"])
    expectEqual(
      log.take(),
      [
        "items prior removal old {2.5}", "items removal old {2.5}", "items prior removal old {1}",
        "items removal old {1}",
      ])
    let list = try bag.mutableArrayValue(forKey: "list")
    try list.append(3)
    expect(list[0] is Int)
  }

  @Test("Q4: NSNull is nil for methods that take an optional")
  func nulls() throws {
    let notes = NullableNotes()
    let lines = try notes.mutableArrayValue(forKey: "lines")
    try lines.append("a")
    try lines.insert(NSNull(), at: 0)
    try lines.append(String?.none as Any)
    expectEqual(lines.map { $0 as? String }, [nil, "a", nil])
    expectEqual(notes.lines, [NSNull(), "a", NSNull()])
  }

  @Test("Q4: an element that the methods can't take stops the program when it is read")
  func wrongElement() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let shelf = Shelved()
      shelf.store.add(Date.distantPast)
      _ = try shelf.mutableArrayValue(forKey: "read").map { $0 }
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    expect(
      text.contains(
        "\"read\" of Shelved takes Int, not Date. The methods for its elements take no others."),
      "\(text)")
  }
}

@KVO private final class Tree: KVOObject {
  @KVOIgnored var store = NSMutableOrderedSet()
  @KVOIgnored var calls: [String] = []
  var subs: NSOrderedSet { store }

  func insertObject(_ sub: String, inSubsAtIndex index: Int) {
    calls.append("insert \(sub) \(index)")
    store.insert(sub, at: index)
  }
  func removeObjectFromSubs(at index: Int) {
    calls.append("remove \(index)")
    store.removeObject(at: index)
  }
}

@KVO private final class Shelved: KVOObject {
  @KVOIgnored var calls: [String] = []
  @KVOIgnored var store: NSMutableArray = [1, 2]
  var read: NSArray { store }
  @KVOIgnored var held = NSMutableArray(array: [7])
  @KVOIgnored var perhaps: NSArray?

  func insertObject(_ number: Int, inReadAt index: Int) {
    calls.append("read")
    store.insert(number, at: index)
  }
  func removeObject(fromReadAt index: Int) { store.removeObject(at: index) }
  func insertHeld(_ numbers: [Int], at indexes: IndexSet) {
    calls.append("held")
    for (number, index) in zip(numbers, indexes) { held.insert(number, at: index) }
  }
  func removeHeld(at indexes: IndexSet) { held.removeObjects(at: indexes) }
  func insertObject(_ number: Int, inPerhapsAt index: Int) {
    calls.append("perhaps")
    let numbers = NSMutableArray(array: perhaps as? [Any] ?? [])
    numbers.insert(number, at: index)
    perhaps = numbers
  }
  func removeObject(fromPerhapsAt index: Int) { perhaps = nil }
}

@KVO private final class Tagged: KVOObject {
  @KVOIgnored var calls: [String] = []
  @KVOIgnored var maybe: NSSet?
  @KVOIgnored var must: NSMutableSet!
  @KVOIgnored var anything = NSMutableSet()
  @KVOIgnored var objects: NSMutableSet? = NSMutableSet()
  @KVOIgnored var sendable = NSMutableSet()
  @KVOIgnored var others = NSMutableSet()

  func addMaybeObject(_ number: Int) {
    calls.append("add \(number)")
    maybe = NSSet(object: number)
  }
  func removeMaybeObject(_ number: Int) {
    calls.append("remove \(number)")
    maybe = nil
  }
  func addMust(_ numbers: Set<Int>) {
    calls.append("add \(numbers)")
    must = NSMutableSet(array: Array(numbers))
  }
  func removeMust(_ numbers: Set<Int>) {
    calls.append("remove \(numbers)")
    must = nil
  }
  func addAnythingObject(_ value: Any) {
    calls.append("add \(type(of: value))")
    anything.add(value)
  }
  func removeAnythingObject(_ value: Any) {
    calls.append("remove \(type(of: value))")
    anything.remove(value)
  }
  func addObjectsObject(_ object: AnyObject) {
    calls.append("add \(type(of: object))")
    objects?.add(object)
  }
  func removeObjectsObject(_ object: AnyObject) {
    calls.append("remove \(type(of: object))")
    objects?.remove(object)
  }
  func addSendableObject(_ value: (Any & Sendable)) {
    calls.append("add sendable")
    sendable.add(value)
  }
  func removeSendableObject(_ value: (Any & Sendable)) {
    calls.append("remove sendable")
    sendable.remove(value)
  }
  func countOfOptional() -> Int { others.count }
  func memberOfOptional(_ value: Any?) -> Any? { value.flatMap { others.member($0) } }
  func enumeratorOfOptional() -> NSEnumerator { others.objectEnumerator() }
  func addOptionalObject(_ value: Any?) {
    calls.append("add optional")
    others.add(value!)
  }
  func removeOptionalObject(_ value: Any?) {
    calls.append("remove optional")
    others.remove(value!)
  }
}

@KVO private final class TaggedNote: KVOObject {
  @KVOIgnored var store = NSMutableSet()
  @KVOIgnored var calls: [String] = []
  var tags: NSSet { store }

  func addTagsObject(_ tag: String) {
    calls.append("add \(tag)")
    store.add(tag)
  }
  func removeTagsObject(_ tag: String) {
    calls.append("remove \(tag)")
    store.remove(tag)
  }
}

@KVO private final class NumberBag: KVOObject {
  @KVOIgnored var items = NSMutableSet()
  @KVOIgnored var list = NSMutableArray()

  func addItemsObject(_ item: AnyHashable) { items.add(item.base) }
  func removeItemsObject(_ item: AnyHashable) { items.remove(item.base) }
  func insertObject(_ item: AnyHashable, inListAt index: Int) { list.insert(item.base, at: index) }
  func removeObject(fromListAt index: Int) { list.removeObject(at: index) }
}

@KVO private final class NullableNotes: KVOObject {
  @KVOIgnored var lines = NSMutableArray()

  func insertObject(_ line: String?, inLinesAt index: Int) {
    lines.insert(line ?? NSNull(), at: index)
  }
  func removeObject(fromLinesAt index: Int) { lines.removeObject(at: index) }
}
