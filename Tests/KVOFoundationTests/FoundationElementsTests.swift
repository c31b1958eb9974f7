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
    expectEqual(tagged.calls, ["add x", "remove x"])
    expectEqual(
      log.take(), ["tags insertion new {(\n    x\n)}", "tags removal old {(\n    x\n)}"])
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
