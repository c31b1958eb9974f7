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

  static let ways: [shelf_methods] = [
    [.SHELF_COUNT, .SHELF_OBJECT, .SHELF_INDEX, .SHELF_INSERT, .SHELF_REMOVE],
    [
      .SHELF_COUNT, .SHELF_OBJECT, .SHELF_INDEX, .SHELF_INSERT_MANY, .SHELF_REMOVE_MANY,
      .SHELF_REPLACE_MANY,
    ],
    [.SHELF_GETTER, .SHELF_SETTER], .SHELF_IVAR,
  ]

  /// A shelf with the items 7, 8 and 9, and the notifications of an observer. An earlier one runs a body in its first
  /// prior call.
  private final class Shelf {
    let object: ForeignObject
    var notified: [String] = []
    private var tokens: [KeyValueObservation] = []

    init(
      _ methods: shelf_methods, isSet: Bool = false,
      _ body: @escaping (ForeignObject) throws -> Void
    ) throws {
      let created = try require(kvo_object_create(shelf_class(methods)))
      object = ForeignObject(OpaquePointer(created))
      kvo_object_release(created)
      if isSet {
        try object.mutableOrderedSetValue(forKey: "items").insert([7, 8, 9], at: RangeSet(0..<3))
      } else {
        try object.mutableArrayValue(forKey: "items").insert([7, 8, 9], at: RangeSet(0..<3))
      }
      var isDone = false
      tokens = [
        try object.observe("items", as: [Int].self, options: .prior) { object, change in
          if !change.isPrior || isDone { return }
          isDone = true
          do { try body(object) } catch { Issue.record("\(error)") }
        },
        try object.observe("items", as: [Int].self, options: [.old, .new]) { [unowned self] in
          notified.append($1.words.joined(separator: " "))
        },
      ]
    }
  }

  struct Refusal: Error {}

  static let mutations: [(by: @Sendable (MutableArrayProxy) throws -> Void, [Int])] = [
    ({ try $0.append(4) }, [8, 9, 4]),
    ({ try $0.insert([4, 5], at: RangeSet(1..<3)) }, [8, 4, 5, 9]),
    ({ expect(try $0.remove(at: 1) as? Int == 9) }, [8]), ({ try $0.removeAll() }, []),
    ({ try $0.replace(at: 0, with: 5) }, [5, 9]),
    (
      { proxy in
        try proxy.contents.apply {
          .replacement(at: RangeSet(0..<proxy.count), with: proxy.reversed())
        }
      }, [9, 8]
    ), ({ try $0.contents.mutable().set([4, 5, 6]) }, [4, 5, 6]),
    (
      { proxy in try proxy.contents.apply { proxy.count == 3 ? .removal(at: RangeSet(0..<1)) : nil }
      }, [8, 9]
    ),
  ]

  @Test(
    "D7: a mutation of a C object's array is worked out from the elements that a prior call has left",
    arguments: ways, 0..<8)
  func workedOut(_ methods: shelf_methods, _ row: Int) throws {
    let (mutate, expected) = Self.mutations[row]
    let shelf = try Shelf(methods) { try $0.mutableArrayValue(forKey: "items").remove(at: 0) }
    let proxy = try shelf.object.mutableArrayValue(forKey: "items")
    try mutate(proxy)
    expectEqual(proxy.map { $0 as? Int }, expected)
    expectEqual(shelf.notified, ["old [7, 8, 9] new \(expected)"])
  }

  @Test("D7 B9: so is one of a C object's ordered set, which gets no member twice", arguments: ways)
  func orderedSets(_ methods: shelf_methods) throws {
    let mutations: [((MutableOrderedSetProxy) throws -> Void, [Int])] = [
      ({ try $0.add(5) }, [5, 8, 9]),
      ({ try $0.insert([4, 7], at: RangeSet(0..<2)) }, [4, 7, 5, 8, 9]),
      ({ try $0.remove(9) }, [5, 8]), ({ try $0.remove(7) }, [5, 8, 9]),
    ]
    for (mutate, expected) in mutations {
      let shelf = try Shelf(methods, isSet: true) {
        let proxy = try $0.mutableOrderedSetValue(forKey: "items")
        try proxy.replace(at: 0, with: 5)
      }
      let proxy = try shelf.object.mutableOrderedSetValue(forKey: "items")
      try mutate(proxy)
      expectEqual(proxy.map { $0 as? Int }, expected)
      expectEqual(shelf.notified, ["old [7, 8, 9] new \(expected)"])
    }
  }

  @Test(
    "D7 H6: one that fails then throws its own error, and delivers what the prior call has changed",
    arguments: ways)
  func failing(_ methods: shelf_methods) throws {
    let shelf = try Shelf(methods) { try $0.mutableArrayValue(forKey: "items").remove(at: 0) }
    let proxy = try shelf.object.mutableArrayValue(forKey: "items")
    expectEqual(
      keyValueError { try proxy.replace(at: 2, with: 5) },
      .indexOutOfBounds(key: "items", className: shelf.object.className, index: 2, count: 2))
    expectEqual(shelf.notified, ["old [7, 8, 9] new [8, 9]"])
    let other = try Shelf(methods) { try $0.mutableArrayValue(forKey: "items").remove(at: 0) }
    let items = try other.object.mutableArrayValue(forKey: "items")
    #expect(throws: Refusal.self) {
      try items.contents.apply {
        if items.count < 3 { throw Refusal() }
        return .removal(at: RangeSet(0..<3))
      }
    }
    expectEqual(other.notified, ["old [7, 8, 9] new [8, 9]"])
  }

  @Test("B9 H6: members that become the same in C are an error of the change")
  func sameInC() throws {
    let shelf = try Shelf(Self.ways[0], isSet: true) { _ in }
    let proxy = try shelf.object.mutableOrderedSetValue(forKey: "items")
    let error = keyValueError { try proxy.replace(at: RangeSet(0..<2), with: [1, 1.5]) }
    let name = shelf.object.className
    expectEqual(
      error.map { "\($0)" },
      """
      The value for "items" of \(name) is not valid: "items" of \(name) is an ordered set and would \
      have an element twice.
      """)
    expectEqual(shelf.notified, [])
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
