import CFixtures
import CKVORuntime
import Expectations
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

/// B9: mutable proxies for the keys of C objects.
@Suite(.leakFree) struct ForeignCollectionTests {
  @Test("B9: a C object's ordered keys, by its own methods")
  func foreign() throws {
    let methods: shelf_methods = [
      .SHELF_COUNT, .SHELF_OBJECT, .SHELF_INSERT, .SHELF_REMOVE, .SHELF_REPLACE,
    ]
    let created = try require(kvo_object_create(shelf_class(methods)))
    let object = ForeignObject(OpaquePointer(created))
    kvo_object_release(created)
    var notified: [String] = []
    let token = try object.observe("items", as: [Int].self, options: [.old, .new]) { _, change in
      notified.append(change.words.joined(separator: " "))
    }
    let items = try object.mutableArrayValue(forKey: "items")
    try items.append(5)
    try items.insert([6, 7], at: RangeSet(0..<2))
    try items.replace(at: 1, with: 8)
    expect(try items.remove(at: 0) as? Int == 6)
    expectEqual(items.map { $0 as? Int }, [8, 5])
    expect(try (object.value(forKey: "items") as? ArrayProxy)?.last as? Int == 5)
    expectEqual(
      notified,
      [
        "insertion at 0 new [5]", "insertion at 0...1 new [6, 7]",
        "replacement at 1 old [7] new [8]", "removal at 0 old [6]",
      ])
    expectEqual(
      keyValueError { try items.insert(1, at: 9) },
      .indexOutOfBounds(key: "items", className: object.className, index: 9, count: 2))
    expect(keyValueError { try items.append("x") } != nil)
    expect(keyValueError { try items.append([1: 2]) } != nil)
    expectEqual(items.count, 2)
    token.invalidate()
  }

  @Test("B9: a C object's sets")
  func foreignSets() throws {
    let methods: shelf_methods = [
      .SHELF_COUNT, .SHELF_ENUMERATOR, .SHELF_MEMBER, .SHELF_ADD, .SHELF_DROP,
    ]
    let created = try require(kvo_object_create(shelf_class(methods)))
    let object = ForeignObject(OpaquePointer(created))
    kvo_object_release(created)
    let items = try object.mutableSetValue(forKey: "items")
    try items.add(5)
    try items.formUnion([5, 6, 7])
    try items.subtract([6])
    expectEqual(Set(items), [5, 7])
    expect(items.contains(7))
    expect(!items.contains(6))
    try items.formIntersection([7])
    try items.set([1, 2])
    try items.remove(2)
    expectEqual(try (object.value(forKey: "items") as? SetProxy).map { Set($0) }, [1])
  }

  @Test(
    "K1: a C object's collection by methods is yielded whole after each change of its elements"
  )
  func sequence() async throws {
    let methods: shelf_methods = [.SHELF_COUNT, .SHELF_OBJECT, .SHELF_INSERT, .SHELF_REMOVE]
    let created = try require(kvo_object_create(shelf_class(methods)))
    let object = ForeignObject(OpaquePointer(created))
    kvo_object_release(created)
    var values = try object.values(of: "items", as: [Int].self).makeAsyncIterator()
    expectEqual(await values.next(), [])
    let items = try object.mutableArrayValue(forKey: "items")
    try items.append(5)
    // Buffered values can still be read, and no reader waits for values that never come.
    kvo_remove_all_observers(created)
    expectEqual(await values.next(), [5])
    expect(await values.next() == nil)
  }
}
