import CFixtures
import CKVORuntime
import Expectations
import TestSupport
import Testing

/// B9, H2, H5, H6: mutable proxies of arrays and ordered sets.
@Suite(.recording) struct MutableTests {
  @Test(
    "B9 H2: accessors that return a value are called by proxies, and ranges are read in bulk",
    arguments: [[.singles, .SHELF_REPLACE], [.batches, .SHELF_REPLACE_MANY]] as [shelf_methods])
  func accessorsWithResults(_ methods: shelf_methods) {
    let object = makeShelf([.array, .SHELF_RANGE, .SHELF_RESULTS, methods], [7, 8])
    defer { object.release() }
    let proxy = Many(mutable: object.object)
    let log = Mutations(of: object.object)
    expectEqual(proxy.insert(ints(3, 4), at: 1..<2, 3..<4).status, .KVO_OK)
    expectEqual(proxy.replace(at: 0, with: .int(5)).status, .KVO_OK)
    expectEqual(proxy.remove(at: 1).status, .KVO_OK)
    expectEqual(object.items, [5, 8, 4])
    expectEqual(log.take().count, 3)
    _ = object.takeCalls()
    expectEqual(proxy.snapshot?.text, "[5, 8, 4]")
    expect(object.takeCalls().contains("range(0,3)"))
  }

  @Test("B9: one element goes through the method for one, several through the method for several")
  func choiceOfMethods() {
    let both: shelf_methods = [.singles, .batches, .SHELF_REPLACE, .SHELF_REPLACE_MANY]
    let cases: [(shelf_methods, [String])] = [
      (
        both,
        [
          "insert(9,0)", "insertMany(2)", "replace(0,5)", "replaceMany(2)", "remove(1)",
          "removeMany(2)",
        ]
      ),
      (
        [.batches, .SHELF_REPLACE_MANY],
        [
          "insertMany(1)", "insertMany(2)", "replaceMany(1)", "replaceMany(2)", "removeMany(1)",
          "removeMany(2)",
        ]
      ),
      (
        [.singles, .SHELF_REPLACE],
        [
          "insert(9,0)", "insert(3,1) insert(4,3)", "replace(0,5)", "replace(0,1) replace(2,2)",
          "remove(1)", "remove(2) remove(0)",
        ]
      ),
      (
        .singles,
        [
          "insert(9,0)", "insert(3,1) insert(4,3)", "remove(0) insert(5,0)",
          "remove(2) remove(0) insert(1,0) insert(2,2)", "remove(1)", "remove(2) remove(0)",
        ]
      ),
      (
        [.SHELF_INSERT_MANY, .SHELF_REMOVE],
        [
          "insertMany(1)", "insertMany(2)", "remove(0) insertMany(1)",
          "remove(2) remove(0) insertMany(2)", "remove(1)", "remove(2) remove(0)",
        ]
      ),
    ]
    for (methods, calls) in cases {
      let object = makeShelf([.array, methods], [7, 8])
      let proxy = Many(mutable: object.object)
      expectEqual(steps(proxy, object), calls, "\(methods)")
      expectEqual(object.items, [2, 8])
      object.release()
    }
  }

  /// The mutating calls of each step, from [7, 8] to [2, 8].
  private func steps(_ proxy: Many, _ object: Shelf) -> [String] {
    let steps: [() -> Outcome] = [
      { proxy.insert(.int(9), at: 0) }, { proxy.insert(ints(3, 4), at: 1..<2, 3..<4) },
      { proxy.replace(at: 0, with: .int(5)) },
      { proxy.replace(at: 0..<1, 2..<3, with: ints(1, 2)) },
      { proxy.remove(at: 1) }, { proxy.remove(at: 0..<1, 2..<3) },
    ]
    return steps.map { step in
      _ = object.takeCalls()
      expectEqual(step().status, .KVO_OK)
      return object.takeCalls().split(separator: " ").filter { $0 != "count" }.joined(
        separator: " ")
    }
  }

  static let everyWay: [shelf_methods] = [
    [.array, .singles], [.array, .batches], [.array, .singles, .batches, .SHELF_REPLACE],
    [.array, .singles, .SHELF_REPLACE_MANY], [.SHELF_GETTER, .SHELF_SETTER], .SHELF_IVAR,
    [.SHELF_SETTER, .SHELF_IVAR], [.SHELF_GETTER, .SHELF_SETTER, .SHELF_INSERT],
    [.SHELF_GETTER, .SHELF_IVAR, .SHELF_REMOVE_MANY, .SHELF_REPLACE],
  ]

  @Test(
    "H2: each mutation by a proxy notifies once, with kind, indexes and elements",
    arguments: everyWay)
  func toldOnce(_ methods: shelf_methods) {
    let object = makeShelf(methods, [7, 8])
    defer { object.release() }
    object.store(Many(ints: [7, 8]))
    let proxy = Many(mutable: object.object)
    let log = Mutations(of: object.object)
    proxy.append(.int(9))
    proxy.insert(ints(1, 2, 3), at: 0..<2, 4..<5)
    expectEqual(log.take(), ["insertion 2..<3 new [9]", "insertion 0..<2 4..<5 new [1, 2, 3]"])
    expectEqual(proxy.text, "[1, 2, 7, 8, 3, 9]")
    proxy.replace(at: 5, with: .int(6))
    proxy.replace(at: 0..<1, 2..<4, with: ints(4, 5, 5))
    expectEqual(
      log.take(),
      [
        "replacement 5..<6 old [9] new [6]", "replacement 0..<1 2..<4 old [1, 7, 8] new [4, 5, 5]",
      ])
    proxy.remove(at: 1)
    proxy.remove(at: 0..<2, 4..<5)
    expectEqual(log.take(), ["removal 1..<2 old [2]", "removal 0..<2 4..<5 old [4, 5, 6]"])
    expectEqual(proxy.text, "[5, 3]")
    proxy.add(.int(3))
    proxy.union(ints(5, 5))
    proxy.remove(.double(3))
    proxy.minus(ints(8))
    proxy.intersect(ints(5, 3))
    expectEqual(
      log.take(),
      [
        "insertion 2..<3 new [3]", "insertion 3..<5 new [5, 5]", "removal 1..<3 old [3, 3]",
      ])
    log.end()
  }

  static let adjustingWays: [shelf_methods] = [
    [.SHELF_GETTER, .SHELF_SETTER], [.SHELF_SETTER, .SHELF_IVAR],
    [.SHELF_GETTER, .SHELF_SETTER, .SHELF_INSERT],
  ]

  @Test(
    "D5 H5: a mutation whose setter stores other elements is a setting", arguments: adjustingWays,
    [false, true])
  func adjustedMutations(_ methods: shelf_methods, _ batched: Bool) {
    let object = makeShelf(methods)
    defer { object.release() }
    object.store(Many(ints: [7, 8]))
    object.pointee.most = 3
    let proxy = Many(mutable: object.object)
    let log = Mutations(of: object.object)
    let steps: [(() -> Outcome, String)] = [
      ({ proxy.append(.int(9)) }, "insertion 2..<3 new [9]"),
      ({ proxy.append(.int(1)) }, "setting old [7, 8, 9] new [8, 9, 1]"),
      (
        { proxy.insert(ints(5, 6), at: 0..<1, 2..<3) }, "setting old [8, 9, 1] new [6, 9, 1]"
      ), ({ proxy.replace(at: 0, with: .int(4)) }, "replacement 0..<1 old [6] new [4]"),
      ({ proxy.remove(at: 1) }, "removal 1..<2 old [9]"),
    ]
    for (step, line) in steps {
      if batched { coalescing(object.object) { _ = step() } } else { _ = step() }
      expectEqual(log.take(), [line])
    }
    object.pointee.reverses = true
    let reversed: [(() -> Outcome, String)] = [
      ({ proxy.insert(.int(2), at: 1) }, "setting old [4, 1] new [1, 2, 4]"),
      ({ proxy.replace(at: 0, with: .int(3)) }, "setting old [1, 2, 4] new [4, 2, 3]"),
      (
        { proxy.replace(at: 0..<1, 2..<3, with: ints(3, 4)) },
        "setting old [4, 2, 3] new [4, 2, 3]"
      ), ({ proxy.remove(at: 0..<1, 2..<3) }, "removal 0..<1 2..<3 old [4, 3]"),
      ({ proxy.insert(ints(2, 2), at: 0..<1, 2..<3) }, "insertion 0..<1 2..<3 new [2, 2]"),
      ({ proxy.replace(at: 1, with: .int(6)) }, "replacement 1..<2 old [2] new [6]"),
      ({ proxy.remove(at: 0) }, "setting old [2, 6, 2] new [2, 6]"),
    ]
    for (step, line) in reversed {
      if batched { coalescing(object.object) { _ = step() } } else { _ = step() }
      expectEqual(log.take(), [line])
    }
    log.end()
  }

  @Test("D5 H5: a setter that ignores a mutation notifies of a setting to the same elements")
  func ignoredMutation() {
    let object = makeShelf([.SHELF_GETTER, .SHELF_SETTER])
    defer { object.release() }
    object.store(Many(ints: [7, 8]))
    object.pointee.stubborn = true
    let proxy = Many(mutable: object.object)
    let log = Mutations(of: object.object, "items", [.KVO_OLD, .KVO_NEW, .KVO_PRIOR])
    proxy.remove(at: 0)
    object.store(nil)
    proxy.append(.int(9))
    expectEqual(
      log.take(),
      [
        "prior removal 0..<1 old [7]", "setting old [7, 8] new [7, 8]", "prior insertion 0..<1",
        "setting old nil new nil",
      ])
    log.end()
  }

  @Test(
    "D5 D7: the old value is from before whatever prior calls do, also if the setter adjusts it",
    arguments: [true, false])
  func changedInPriorCall(_ isSet: Bool) {
    let object = makeShelf([.SHELF_GETTER, .SHELF_SETTER])
    defer { object.release() }
    object.store(Many(ints: [7, 8, 9]))
    object.pointee.most = 3
    let proxy = Many(mutable: object.object)
    var isDone = false
    let prior = Mutations(of: object.object, "items", .KVO_PRIOR) { _ in
      guard !isDone else { return }
      isDone = true
      if isSet { proxy.set(ints(1, 2, 3)) } else { proxy.append(.int(1)) }
      proxy.append(.int(2))
    }
    let log = Mutations(of: object.object)
    if isSet { proxy.append(.int(0)) } else { proxy.remove(at: 0) }
    expectEqual(log.take(), ["setting old [7, 8, 9] new \(isSet ? "[3, 2, 0]" : "[1, 2]")"])
    log.end()
    prior.end()
  }

  @Test("D5 G1: a path is followed through the elements that the setter has stored")
  func adjustedForOthers() {
    let object = makeShelf([.SHELF_GETTER, .SHELF_SETTER])
    defer { object.release() }
    object.store(Many(ints: [7, 8]))
    object.pointee.most = 2
    let proxy = Many(mutable: object.object)
    let logs = [
      Mutations(of: object.object, "items.@count"), Mutations(of: object.object, "items.@sum.self"),
      Mutations(of: object.object, "items", .KVO_NEW), Mutations(of: object.object, "items", []),
    ]
    proxy.append(.int(9))
    expectEqual(
      logs.map { $0.take() },
      [["setting old 2 new 2"], ["setting old 15 new 17"], ["setting new [8, 9]"], ["setting"]])
    for log in logs { log.end() }
  }

  @Test("D5 H5: the old value is from before what a setter mutates itself, if both are adjusted")
  func adjustedInSetter() {
    let object = makeShelf([.SHELF_GETTER, .SHELF_SETTER])
    defer { object.release() }
    object.store(Many(ints: [7, 8, 9]))
    object.pointee.most = 3
    object.pointee.after_set = {
      $0.pointee.after_set = nil
      Many(mutable: $0.object).append(.int(1))
    }
    let log = Mutations(of: object.object)
    Many(mutable: object.object).append(.int(0))
    expectEqual(log.take(), ["setting old [7, 8, 9] new [9, 0, 1]"])
    log.end()
  }

  @Test("D5 G1: an observer of a path gets the old value of an adjusted mutation, too")
  func adjustedAtPath() {
    let object = makeShelf([.SHELF_GETTER, .SHELF_SETTER])
    defer { object.release() }
    object.store(Many(ints: [7, 8]))
    object.pointee.most = 2
    let root = make(account.self)
    defer { root.release() }
    account_setBranch(root, UnsafeMutableRawPointer(object).assumingMemoryBound(to: tracked.self))
    let log = Mutations(of: root.object, "branch.items")
    Many(mutable: object.object).append(.int(9))
    expectEqual(log.take(), ["setting old [7, 8] new [8, 9]"])
    log.end()
  }

  @Test("H5: replacing all elements is a setting, however it is done", arguments: everyWay)
  func settingAll(_ methods: shelf_methods) {
    let object = makeShelf(methods, [7, 8])
    defer { object.release() }
    object.store(Many(ints: [7, 8]))
    let proxy = Many(mutable: object.object)
    let log = Mutations(of: object.object)
    proxy.set(ints(1, 2, 3))
    expectEqual(log.take(), ["setting old [7, 8] new [1, 2, 3]"])
    proxy.set([])
    expect(log.take() == ["setting old [1, 2, 3] new []"] && proxy.count == 0)
    log.end()
  }

  @Test(
    "H1: a prior insertion has no new, a prior removal and replacement have old",
    arguments: everyWay)
  func priors(_ methods: shelf_methods) {
    let object = makeShelf(methods, [7])
    defer { object.release() }
    object.store(Many(ints: [7]))
    let proxy = Many(mutable: object.object)
    var readBefore: [String] = []
    let log = Mutations(of: object.object, "items", [.KVO_OLD, .KVO_NEW, .KVO_PRIOR]) { call in
      if call.isPrior { readBefore.append(proxy.text) }
    }
    proxy.insert(ints(1, 2), at: 0..<2)
    expectEqual(log.take(), ["prior insertion 0..<2", "insertion 0..<2 new [1, 2]"])
    proxy.remove(at: 0..<2)
    _ = log.take()
    proxy.replace(at: 0, with: .int(3))
    expectEqual(
      log.take(), ["prior replacement 0..<1 old [7]", "replacement 0..<1 old [7] new [3]"])
    expectEqual(readBefore, ["[7]", "[1, 2, 7]", "[7]"])
    log.end()
  }

  @Test("B9: an incomplete pair is ignored: then the setter, then the ivar")
  func halfPairs() {
    let halves: [shelf_methods] = [
      .SHELF_INSERT, .SHELF_INSERT_MANY, .SHELF_REMOVE, .SHELF_REMOVE_MANY,
      [.SHELF_REPLACE, .SHELF_REPLACE_MANY], [.SHELF_ADD, .SHELF_DROP],
    ]
    for half in halves {
      let object = makeShelf([half, .SHELF_GETTER, .SHELF_SETTER, .SHELF_IVAR])
      object.store(Many(ints: [7]))
      Many(mutable: object.object).append(.int(8))
      expectEqual(object.value, "[7, 8]")
      expect(object.takeCalls().hasSuffix("set") && !object.takeCalls().contains("("))
      object.release()
    }
    let object = makeShelf([.SHELF_GETTER, .SHELF_IVAR])
    defer { object.release() }
    Many(mutable: object.object).append(.int(8))
    expect(object.value == "[8]" && !object.takeCalls().contains("set"))
  }

  @Test("B9: a nil collection is created at the first insertion, of the proxy's kind")
  func springing() {
    for methods in [shelf_methods.SHELF_IVAR, [.SHELF_GETTER, .SHELF_SETTER]] {
      for (kind, expected) in [
        (kvo_collection_kind.KVO_ARRAY, "[8]"), (.KVO_SET, "{8}"), (.KVO_ORDERED_SET, "<8>"),
      ] {
        let object = makeShelf(methods)
        let proxy = Many(mutable: object.object, as: kind)
        expect(proxy.count == 0 && !proxy.contains(.int(8)))
        expectEqual(proxy.snapshot?.kind, kind)
        expect(proxy.remove(.int(8)).status == .KVO_OK && object.value == "nil")
        expectEqual(proxy.add(.int(8)).status, .KVO_OK)
        expectEqual(object.value, expected)
        object.release()
      }
    }
  }

  @Test(
    "B9: a proxy stays valid when the property is replaced, and leaves the old collection alone")
  func replacedProperty() {
    let object = makeShelf([.SHELF_GETTER, .SHELF_SETTER])
    defer { object.release() }
    let first = Many(ints: [1])
    let second = Many(ints: [2])
    let proxy = Many(mutable: object.object)
    object.store(first)
    expectEqual(proxy.text, "[1]")
    object.store(second)
    expect(proxy.text == "[2]" && proxy.append(.int(3)).status == .KVO_OK)
    object.store(nil)
    expect(proxy.text == "[]" && proxy.append(.int(4)).status == .KVO_OK)
    expect(object.value == "[4]" && first.text == "[1]" && second.text == "[2]")
  }

  @Test("B9: setting a key to a proxy stores its elements")
  func setToProxy() {
    for methods in [shelf_methods.SHELF_IVAR, [.SHELF_GETTER, .SHELF_SETTER]] {
      let (object, other) = (makeShelf(methods), makeShelf(methods))
      other.store(Many(ints: [1, 2]))
      let (proxy, lender) = (Many(mutable: object.object), Many(mutable: other.object))
      for (source, expected) in [(lender, "[1, 2]"), (proxy, "[1, 2]")] {
        var value = kvo_value_object(source.object)
        expectEqual(kvo_set_value_for_key(object.object, "items", &value, nil), .KVO_OK)
        kvo_value_destroy(&value)
        expect(proxy.text == expected && object.value == expected && proxy.count == 2)
      }
      var value = kvo_value_object(proxy.object)
      let set = "items".withCString { key in
        var keys: [UnsafePointer<CChar>] = [key]
        return kvo_set_values_for_keys(object.object, &keys, 1, &value, nil)
      }
      kvo_value_destroy(&value)
      expect(set == .KVO_OK && proxy.text == "[1, 2]")
      expectEqual(proxy.append(.int(3)).status, .KVO_OK)
      expect(object.value == "[1, 2, 3]" && lender.text == "[1, 2]")
      object.release()
      other.release()
    }
  }

  @Test("B9: a key in which a setter has stored its own proxy has no elements")
  func holdingItsProxy() {
    let object = makeShelf([.SHELF_GETTER, .SHELF_SETTER])
    let proxy = Many(mutable: object.object)
    object.store(proxy)
    expectEqual(proxy.count, 0)
    expect(!proxy.contains(.int(1)) && proxy.snapshot == nil)
    let outcome = proxy.append(.int(1))
    expectEqual(outcome.status, .KVO_INVALID_ARGUMENT)
    expect(outcome.message.contains("holds its own mutable proxy"), outcome.message)
    object.store(Many(ints: [7]))
    expect(proxy.append(.int(8)).status == .KVO_OK && proxy.text == "[7, 8]")
    object.release()
  }

  @Test("B9: an accessor that ignores a change is believed")
  func stubborn() {
    for methods in Self.everyWay where methods.contains(.array) {
      let object = makeShelf(methods, [7])
      object.store(Many(ints: [7]))
      object.pointee.stubborn = true
      let proxy = Many(mutable: object.object)
      let log = Mutations(of: object.object)
      let outcomes = [
        proxy.append(.int(8)), proxy.replace(at: 0, with: .int(8)), proxy.remove(at: 0),
      ]
      expect(outcomes.allSatisfy { $0.status == .KVO_OK } && proxy.text == "[7]")
      expectEqual(
        log.take(),
        [
          "insertion 1..<2 new []", "replacement 0..<1 old [7] new [7]", "removal 0..<1 old [7]",
        ])
      log.end()
      object.release()
    }
  }

  @Test("B9: a proxy retains its object, and may be dropped in a callback of its own change")
  func lifetime() {
    let object = makeShelf(.mutableArray)
    var proxy: Many? = Many(mutable: object.object)
    let log = Mutations(of: object.object, "items", [.KVO_NEW, .KVO_PRIOR]) { _ in
      guard proxy != nil else { return }
      proxy = nil
      object.release()
    }
    let borrowed = proxy!.collection
    var value = kvo_value_int(1)
    expectEqual(kvo_collection_append(borrowed, &value, nil), .KVO_OK)
    expectEqual(log.take().first, "prior insertion 0..<1")
    log.end()
  }

  @Test("D7: a callback may mutate the proxy whose change it is notified of")
  func reentrancy() {
    for methods in [shelf_methods.mutableArray, [.SHELF_GETTER, .SHELF_SETTER]] {
      let object = makeShelf(methods)
      let proxy = Many(mutable: object.object)
      let log = Mutations(of: object.object, "items", .KVO_NEW) { _ in
        if proxy.count < 3 { proxy.insert(.int(Int64(proxy.count)), at: 0) }
      }
      proxy.append(.int(0))
      expect(proxy.text == "[2, 1, 0]" && log.take().count == 3)
      log.end()
      object.release()
    }
  }

  @Test("E1: a key without automatic notification is changed silently")
  func manualKey() {
    for methods in Self.everyWay {
      let object = make(manualClass(methods))
      let shelf = UnsafeMutableRawPointer(object).assumingMemoryBound(to: shelf.self)
      let proxy = Many(mutable: object)
      let log = Mutations(of: object)
      proxy.append(.int(1))
      proxy.insert(ints(2, 3), at: 0..<2)
      proxy.replace(at: 0, with: .int(4))
      proxy.set(ints(5))
      expect(proxy.text == "[5]" && log.take() == [])
      log.end()
      shelf.release()
    }
  }

  @Test("H2: a method called directly notifies once, as by a proxy")
  func calledDirectly() {
    let object = makeShelf([.mutableArray, .SHELF_ADD_MANY], [7])
    defer { object.release() }
    let log = Mutations(of: object.object)
    shelf_insert(object, 8, 1)
    expectEqual(log.take(), ["insertion 1..<2 new [8]"])
    log.end()
  }

  @Test("B9: structs go only through the methods for several elements")
  func structs() {
    let object = make(to_many_object.self)
    defer { object.release() }
    let proxy = Many(mutable: object.object, "colours")
    var colour = rgb(red: 1, green: 2, blue: 3)
    var value = kvo_value()
    kvo_value_init(&value, kvo_type_for_encoding("{rgb=CCC}", nil)!, &colour)
    defer { kvo_value_destroy(&value) }
    expectEqual(proxy.lend { kvo_collection_append($0, &value, nil) }, .KVO_OK)
    expectEqual(proxy.lend { kvo_collection_insert($0, 0, &value, nil) }, .KVO_OK)
    expectEqual(brief(proxy.append(.int(1))), "KVO_TYPE_MISMATCH CCrate.colours")
    expect(proxy.text == "[[1, 2, 3], [1, 2, 3]]" && proxy.remove(at: 0).status == .KVO_OK)
    expectEqual(object.pointee.colour_count, 1)
  }

  @Test("B9: a binding's collection is replaced by one that the binding makes")
  func bindingCollection() {
    withNumbers([4, 84]) { object in
      let proxy = Many(mutable: object, "numbers")
      expect(proxy.text == "[4, 84]" && proxy.index(of: .int(84)) == 1)
      expect(proxy.append(.int(2)).status == .KVO_OK && proxy.remove(at: 0).status == .KVO_OK)
      expect(proxy.text == "[84, 2]" && proxy.last == "2")
      expect(brief(Many(mutable: object, "title").append(.int(1))).hasSuffix("CGuest.title"))
    }
  }

  @Test("B9: a proxy by key path is that of the last object")
  func keyPaths() {
    let object = make(to_many_object.self)
    let other = make(to_many_object.self)
    object.pointee.line = other.object
    kvo_object_retain(other.object)
    var made: OpaquePointer?
    for (path, expected) in [("line.numbers", "[1]"), ("numbers", "[1, 1]")] {
      expectEqual(kvo_mutable_array_key_path(object.object, path, &made, nil), .KVO_OK)
      Many(taking: made!).union(ints(1))
      expectEqual(readKey(other.object, "numbers"), "[1]")
      expectEqual(
        readKey(object.object, "numbers"), (path == "numbers" ? "[1]" : "nil"), "\(expected)")
    }
    expectEqual(kvo_mutable_set_key_path(object.object, "line.crowd", &made, nil), .KVO_OK)
    Many(taking: made!).add(.int(2))
    expectEqual(readKey(other.object, "crowd"), "{2}")
    expectEqual(kvo_mutable_ordered_set_key_path(object.object, "line.line", &made, nil), .KVO_OK)
    Many(taking: made!).add(.int(3))
    expectEqual(readKey(other.object, "line"), "<3>")
    for (path, status) in [
      ("crowd.numbers", "KVO_INVALID_KEY_PATH CCrate.crowd.numbers"),
      ("line.line.numbers", "KVO_INVALID_KEY_PATH CCrate.line.line.numbers"),
      ("line.nothing", "KVO_UNDEFINED_KEY CCrate.nothing"),
      ("nothing.numbers", "KVO_UNDEFINED_KEY CCrate.nothing"),
    ] {
      expectEqual(
        brief(attempt { kvo_mutable_array_key_path(object.object, path, &made, $0) }), status)
      expect(made == nil)
    }
    for dead in [object, other] { dead.release() }
  }
}

func className(_ object: Shelf) -> String { name(of: kvo_class_of(object.object)) }

/// A subclass of a shelf class. Its key notifies only manually.
private func manualClass(_ methods: shelf_methods) -> CClass {
  let superclass = shelf_class(methods)
  let title = name(of: superclass) + "ByHand"
  if let known = kvo_class_named(title) { return known }
  let made = kvo_class_create(title, superclass, MemoryLayout<shelf>.size, nil)!
  let never: @convention(c) (OpaquePointer?) -> Bool = { _ in false }
  let hook = unsafeBitCast(never, to: kvo_imp.self)
  kvo_class_add_class_method(made, "automaticallyNotifiesObserversOfItems", hook, nil)
  kvo_class_register(made, nil)
  return made
}
