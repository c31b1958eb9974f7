import CFixtures
import CKVORuntime
import Expectations
import TestSupport
import Testing

/// B5, B7: reading and setting along key paths and through collections.
@Suite(.recording) struct KeyPathTests {
  @Test("B5: each component is read by its own object's class; nil on the way gives nil")
  func reading() {
    let crew = Crew()
    let ada = crew.make("Ada", age: 36)
    let bob = crew.make("Bob", age: 20)
    worker_setBoss(bob, ada)
    let paths = [
      "name": "Bob", "boss.name": "Ada", "boss.age": "36", "boss.boss": "nil",
      "boss.boss.name": "nil", "boss.boss.nothing.at.all": "nil", "self.name": "Bob",
      "boss.self.self.name": "Ada", "boss.self": "#0", "self": "#0",
    ]
    for (path, value) in paths { expectEqual(readPath(bob.object, path), value, "\(path)") }
    crew.end()
  }

  @Test("B5: key paths may contain keys of any script")
  func nonASCII() {
    let crew = Crew()
    let (ada, bob, cem) = (crew.make("Ada"), crew.make("Bob"), crew.make("Cem"))
    worker_setBoss(cem, bob)
    worker_setBoss(bob, ada)
    expectEqual(readPath(cem.object, "überboss.name"), "Ada")
    expectEqual(setPath(cem.object, "überboss.name", .string("Çağla")).status, .KVO_OK)
    expectEqual(readPath(cem.object, "boss.boss.name"), "Çağla")
    crew.end()
  }

  @Test("B5: an unknown key on the way is an error that names the class that lacks it")
  func unknownKey() {
    let crew = Crew()
    let ada = crew.make("Ada")
    let bank = make(account.self)
    defer { bank.release() }
    account_setBranch(bank, UnsafeMutableRawPointer(ada).assumingMemoryBound(to: tracked.self))
    expectEqual(readPath(bank.object, "branch.wealth"), "KVO_UNDEFINED_KEY CWorker.wealth")
    expectEqual(readPath(bank.object, "brunch.name"), "KVO_UNDEFINED_KEY CAccount.brunch")
    expectEqual(
      brief(setPath(bank.object, "branch.wealth", .int(1))), "KVO_UNDEFINED_KEY CWorker.wealth")
    expectEqual(
      brief(setPath(bank.object, "brunch.name", .int(1))), "KVO_UNDEFINED_KEY CAccount.brunch")
    account_setBranch(bank, nil)
    crew.end()
  }

  @Test(
    "B5: an empty component is an invalid key path, read, set or validated",
    arguments: ["", ".", ".name", "name.", "boss..name", "staff.@count.", "..."])
  func emptyComponent(_ path: String) {
    let crew = Crew()
    let ada = crew.make("Ada")
    let expected = "KVO_INVALID_KEY_PATH CWorker.\(path)"
    expectEqual(readPath(ada.object, path), expected)
    expectEqual(brief(setPath(ada.object, path, .int(1))), expected)
    expectEqual(validate(ada.object, path, .int(1)).brief, expected)
    crew.end()
  }

  private static func path(components: Int, operators: Int) -> String {
    let keys = Array(repeating: "boss", count: components - operators - 1)
    let nested = Array(repeating: "@unionOfObjects", count: operators)
    return (keys + nested + ["self"]).joined(separator: ".")
  }

  @Test(
    "B5: a path with too many components or operators is invalid, read, set or observed",
    arguments: [(257, 0), (34, 33), (20_000, 0), (20_000, 19_000)])
  func tooLong(_ components: Int, _ operators: Int) {
    let crew = Crew()
    let ada = crew.make("Ada")
    let path = Self.path(components: components, operators: operators)
    let outcome = attempt { error in
      var value = kvo_value()
      return kvo_value_for_key_path(ada.object, path, &value, error)
    }
    expectEqual(outcome.status, .KVO_INVALID_KEY_PATH)
    let counted = components > 256 ? "\(components) components" : "\(operators) operators"
    expect(
      outcome.message.hasPrefix("A key path of CWorker has \(counted), of which there can be "))
    expectEqual(setPath(ada.object, path, .int(1)).status, .KVO_INVALID_KEY_PATH)
    let observing = attempt { error in
      kvo_add_callback(ada.object, path, [], { _, _, _, _ in }, nil, nil, nil, error)
    }
    expectEqual(observing.status, .KVO_INVALID_KEY_PATH)
    crew.end()
  }

  @Test("B5: a path with the maximum of components and operators is read and observed")
  func asLongAsCanBe() {
    let crew = Crew()
    let ada = crew.make("Ada")
    worker_setBoss(ada, ada)
    let path = Array(repeating: "boss", count: 255).joined(separator: ".") + ".name"
    expectEqual(readPath(ada.object, path), readPath(ada.object, "name"))
    let log = Recorder()
    log.observe(ada.object, path, .KVO_NEW)
    log.end()
    worker_setBoss(ada, nil)
    let nested = "boss." + String(repeating: "@sum.", count: 32) + "self"
    expectEqual(readPath(ada.object, nested), readPath(ada.object, "boss"))
    crew.end()
  }

  @Test("B5: a path through a value without keys is an error, whatever precedes it")
  func throughScalars() {
    let crew = Crew()
    let ada = crew.make("Ada", age: 3)
    worker_setBoss(ada, ada)
    ada.lead([ada.object])
    for path in ["age.x", "boss.name.length", "grid.cells", "staff.age.x"] {
      expectEqual(readPath(ada.object, path), "KVO_INVALID_KEY_PATH CWorker.\(path)")
      expectEqual(
        brief(setPath(ada.object, path, .int(1))), "KVO_INVALID_KEY_PATH CWorker.\(path)")
    }
    worker_setBoss(ada, nil)
    worker_setStaff(ada, nil)
    crew.end()
  }

  @Test("B5: a key path given as a key is an error that says which function to call")
  func pathAsKey() {
    let crew = Crew()
    let ada = crew.make("Ada")
    var value = kvo_value()
    let outcome = attempt { kvo_value_for_key(ada.object, "boss.name", &value, $0) }
    expectEqual(outcome.status, .KVO_UNDEFINED_KEY)
    expect(outcome.message.contains("key_path"))
    expect(set(ada.object, "boss.name", .string("x")).message.contains("key_path"))
    crew.end()
  }

  @Test("B5: setting by key path sets the last object's key, converted, and notifies once")
  func setting() {
    let crew = Crew()
    let (ada, bob) = (crew.make("Ada"), crew.make("Bob"))
    worker_setBoss(bob, ada)
    let log = Recorder()
    log.observe(ada.object, "age", [.KVO_OLD, .KVO_NEW])
    expectEqual(setPath(bob.object, "boss.age", .double(36.9)).status, .KVO_OK)
    expectEqual(setPath(bob.object, "self.boss.self.age", .int(37)).status, .KVO_OK)
    expectEqual(setPath(ada.object, "age", .bool(true)).status, .KVO_OK)
    expectEqual(
      log.take(), ["a: age old 0 new 36", "a: age old 36 new 37", "a: age old 37 new 1"])
    expectEqual(brief(setPath(bob.object, "boss.age", .nil)), "KVO_NIL_VALUE CWorker.age")
    expectEqual(
      brief(setPath(bob.object, "boss.age", .string("x"))), "KVO_TYPE_MISMATCH CWorker.age")
    expectEqual(setPath(bob.object, "boss.name", .nil).status, .KVO_OK)
    expectEqual(readPath(bob.object, "boss.name"), "nil")
    expectEqual(log.take(), [])
    crew.end()
  }

  @Test("B5: setting through nil does nothing, and `self` can't be set")
  func settingNowhere() {
    let crew = Crew()
    let ada = crew.make("Ada")
    expectEqual(setPath(ada.object, "boss.name", .string("x")).status, .KVO_OK)
    expectEqual(setPath(ada.object, "boss.boss.nothing", .string("x")).status, .KVO_OK)
    expectEqual(brief(setPath(ada.object, "boss.self", .nil)), "KVO_READ_ONLY CWorker.boss.self")
    expectEqual(brief(setPath(ada.object, "self", .nil)), "KVO_READ_ONLY CWorker.self")
    expectEqual(readPath(ada.object, "name"), "Ada")
    crew.end()
  }

  @Test("B5: the same text is parsed to the same path on every thread")
  func manyThreads() {
    let crew = Crew()
    let (ada, bob) = (Shared(crew.make("Ada")), crew.make("Bob"))
    worker_setBoss(ada.value, bob)
    worker_setBoss(bob, bob)
    let wrong = Count()
    onThreads(4) { _ in
      for length in 1...40 {
        let path = String(repeating: "boss.", count: length) + "name"
        if readPath(ada.value.object, path) != "Bob" { wrong.add() }
      }
    }
    expectEqual(wrong.value, 0)
    worker_setBoss(bob, nil)
    crew.end()
  }

  // MARK: Overrides

  @Test(
    "B5: an overridden valueForKey: answers on paths and for elements, and may call super")
  func overriddenReading() {
    let crew = Crew()
    let sibyl = crew.makeOracle(age: 7)
    let ada = crew.make("Ada", age: 36)
    sibyl.pointee.notified = 2.5
    let asWorker = UnsafeMutableRawPointer(sibyl).assumingMemoryBound(to: worker.self)
    worker_setBoss(ada, asWorker)
    ada.lead([sibyl.object, ada.object])
    expectEqual(readKey(sibyl.object, "fortune"), "2.5")
    expectEqual(readKey(sibyl.object, "age"), "1007")
    expectEqual(readKey(sibyl.object, "name"), "nil")
    expectEqual(readKey(sibyl.object, "nothing"), "KVO_UNDEFINED_KEY COracle.nothing")
    expectEqual(readPath(ada.object, "boss.fortune"), "2.5")
    expectEqual(readPath(ada.object, "boss.age"), "1007")
    expectEqual(readPath(ada.object, "staff.age"), "[1007, 36]")
    expectEqual(readPath(ada.object, "staff.@sum.age"), "1043")
    expectEqual(readPath(ada.object, "fortune"), "KVO_UNDEFINED_KEY CWorker.fortune")
    worker_setStaff(ada, nil)
    crew.end()
  }

  @Test("B5: an overridden setValue:forKey: gets what is set, and may call super")
  func overriddenSetting() {
    let crew = Crew()
    let sibyl = crew.makeOracle()
    let ada = crew.make("Ada")
    worker_setBoss(ada, UnsafeMutableRawPointer(sibyl).assumingMemoryBound(to: worker.self))
    expectEqual(set(sibyl.object, "fortune", .double(1)).status, .KVO_OK)
    expectEqual(sibyl.pointee.notified, 1)
    expectEqual(setPath(ada.object, "boss.fortune", .double(2)).status, .KVO_OK)
    expectEqual(sibyl.pointee.notified, 2)
    expectEqual(setPath(ada.object, "boss.age", .int(5)).status, .KVO_OK)
    expectEqual(sibyl.pointee.worker.age, 5)
    expectEqual(
      brief(setPath(ada.object, "boss.nothing", .int(5))), "KVO_UNDEFINED_KEY COracle.nothing")
    expectEqual(brief(set(sibyl.object, "doom", .int(5))), "KVO_READ_ONLY COracle.doom")
    crew.end()
  }

  @Test("D5: observers get what an overridden valueForKey: answers")
  func overriddenObserved() {
    let crew = Crew()
    let sibyl = crew.makeOracle(age: 1)
    let log = Recorder()
    log.observe(sibyl.object, "age", [.KVO_OLD, .KVO_NEW])
    set(sibyl.object, "age", .int(2))
    expectEqual(log.take(), ["a: age old 1001 new 1002"])
    crew.end()
  }

  // MARK: Collections

  @Test(
    "B7: a key of a collection maps over its elements, to a collection of the same kind",
    arguments: [kvo_collection_kind.KVO_ARRAY, .KVO_SET, .KVO_ORDERED_SET])
  func mapping(_ kind: kvo_collection_kind) {
    let crew = Crew()
    let boss = crew.make("Boss")
    let staff = [crew.make("A", age: 3), crew.make(age: 1), crew.make("C", age: 3)]
    boss.lead(staff.map(\.object), as: kind)
    let expected: (ages: String, names: String) =
      switch kind {
      case .KVO_ARRAY: ("[3, 1, 3]", "[A, nil, C]")
      case .KVO_SET: ("{1, 3}", "{A, C, nil}")
      case .KVO_ORDERED_SET: ("<3, 1>", "<A, nil, C>")
      }
    expectEqual(readPath(boss.object, "staff.age"), expected.ages)
    expectEqual(readPath(boss.object, "staff.name"), expected.names)
    expectEqual(readKey(CObject(boss.pointee.staff), "age"), expected.ages)
    expectEqual(readPath(CObject(boss.pointee.staff), "self.age"), expected.ages)
    expectEqual(readPath(boss.object, "staff.wealth"), "KVO_UNDEFINED_KEY CWorker.wealth")
    crew.end()
  }

  @Test("B7: mapping goes on through collections of collections, and nil stays nil")
  func nestedMapping() {
    let crew = Crew()
    let top = crew.make("Top")
    let leads = [crew.make("L"), crew.make("M"), crew.make("N")]
    let hands = [crew.make("x", age: 1), crew.make("y", age: 2), crew.make("z", age: 3)]
    top.lead(leads.map(\.object))
    leads[0].lead([hands[0].object, hands[1].object])
    leads[1].lead([hands[2].object], as: .KVO_SET)
    expectEqual(readPath(top.object, "staff.staff.name"), "[[x, y], {z}, nil]")
    expectEqual(readPath(top.object, "staff.staff.@count"), "3")
    expectEqual(readPath(top.object, "staff.boss.name"), "[nil, nil, nil]")
    crew.end()
  }

  @Test("B7: a key of a collection is set in each element, also by key path")
  func settingElements() {
    let crew = Crew()
    let boss = crew.make("Boss")
    let staff = (0..<3).map { _ in crew.make() }
    boss.lead(staff.map(\.object))
    expectEqual(setPath(boss.object, "staff.age", .int(9)).status, .KVO_OK)
    expectEqual(staff.map(\.pointee.age), [9, 9, 9])
    expectEqual(set(CObject(boss.pointee.staff), "wage", .double(1.5)).status, .KVO_OK)
    expectEqual(staff.map(\.pointee.wage), [1.5, 1.5, 1.5])
    expectEqual(setPath(boss.object, "staff.boss.name", .string("x")).status, .KVO_OK)
    expectEqual(
      brief(setPath(boss.object, "staff.none", .int(1))), "KVO_UNDEFINED_KEY CWorker.none")
    expectEqual(
      brief(setPath(boss.object, "staff.@sum.age", .int(1))),
      "KVO_INVALID_OPERATOR CWorker.staff.@sum.age")
    crew.end()
  }

  @Test("B7: any value answers key paths: collections, objects, nil, and values without keys")
  func fromValues() {
    let crew = Crew()
    let ada = crew.make("Ada", age: 36)
    func read(_ value: kvo_value, _ path: String) -> String {
      var value = value
      defer { kvo_value_destroy(&value) }
      return outcomeText { kvo_value_value_for_key_path(&value, path, $0, $1) }
    }
    expectEqual(read(kvo_value_object(ada.object), "name"), "Ada")
    expectEqual(read(kvo_value_object(ada.object), "self.age"), "36")
    expectEqual(read(kvo_value_object(ada.object), "none"), "KVO_UNDEFINED_KEY CWorker.none")
    expectEqual(read(kvo_value_int(3), "self"), "3")
    expectEqual(read(kvo_value_int(3), "x"), "KVO_INVALID_KEY_PATH a value.x")
    expectEqual(read(kvo_value_string("s"), "@count"), "KVO_INVALID_OPERATOR a value.@count")
    expectEqual(read(kvo_value(), "any.thing"), "nil")
    expectEqual(read(kvo_value_int(3), "a..b"), "KVO_INVALID_KEY_PATH .a..b")
    withCollection(.KVO_ARRAY, [.int(4), .int(84), .int(2)]) { collection in
      expectEqual(read(kvo_value_object(CObject(collection)), "@max.self"), "84")
    }
    crew.end()
  }

  @Test("B7: a property holds a collection of C like any object")
  func collectionProperty() {
    let crew = Crew()
    let boss = crew.make("Boss")
    withCollection(.KVO_ARRAY, [.int(1), .string("b"), .nil]) { collection in
      var value = kvo_value_object(CObject(collection))
      expectEqual(kvo_set_value_for_key_path(boss.object, "staff", &value, nil), .KVO_OK)
      kvo_value_destroy(&value)
    }
    expectEqual(readPath(boss.object, "staff"), "[1, b, nil]")
    crew.end()
  }
}

/// Whole values: the reader owns what it reads, and storage owns what it is given.
@Suite(.recording) struct OwnershipTests {
  @Test("B2: a struct of 72 bytes is read and set whole")
  func largeStruct() {
    let crew = Crew()
    let ada = crew.make()
    var cells = grid(cells: (1, 2, 3, 4, 5, 6, 7, 8, 9))
    worker_setGrid(ada, cells)
    var value = kvo_value()
    expectEqual(kvo_value_for_key(ada.object, "grid", &value, nil), .KVO_OK)
    cells.cells.8 = 90
    worker_setGrid(ada, cells)
    expectEqual(kvo_value_bytes(&value)?.load(as: grid.self).cells.8, 9)
    expectEqual(kvo_set_value_for_key(ada.object, "grid", &value, nil), .KVO_OK)
    expectEqual(worker_grid(ada).cells.8, 9)
    kvo_value_destroy(&value)
    crew.end()
  }

  @Test("B2: a struct that a getter lends is copied for the reader, with its strings")
  func structOfStrings() {
    let crew = Crew()
    let ada = crew.make()
    var text = Array("pin".utf8CString)
    var value = kvo_value()
    text.withUnsafeMutableBufferPointer { text in
      ada.pointee.pin = badge(text: UnsafePointer(text.baseAddress), number: 4)
      expectEqual(kvo_value_for_key(ada.object, "pin", &value, nil), .KVO_OK)
      text[0] = CChar(UInt8(ascii: "X"))
    }
    let read = kvo_value_bytes(&value)!.load(as: badge.self)
    expect(String(cString: read.text) == "pin" && read.number == 4)
    kvo_value_destroy(&value)
    crew.end()
  }

  @Test("B2: a string or struct set into an ivar by key is copied, and the old one freed")
  func ivarOwns() {
    let crew = Crew()
    let ada = crew.make()
    let log = Recorder()
    log.observe(ada.object, "label", [.KVO_OLD, .KVO_NEW])
    for label in ["one", "two"] { set(ada.object, "label", .string(label)) }
    expectEqual(readKey(ada.object, "label"), "two")
    set(ada.object, "label", .nil)
    expect(ada.pointee.label == nil)
    expectEqual(
      log.take(),
      [
        "a: label old nil new one", "a: label old one new two", "a: label old two new nil",
      ])
    for number: Int32 in [1, 2] {
      "number \(number)".withCString { text in
        var stored = badge(text: text, number: number)
        var value = kvo_value()
        kvo_value_init(&value, kvo_type_for_encoding("{badge=*i}", nil)!, &stored)
        expectEqual(kvo_set_value_for_key(ada.object, "badge", &value, nil), .KVO_OK)
        kvo_value_destroy(&value)
      }
      expectEqual(String(cString: ada.pointee.badge.text), "number \(number)")
      expectEqual(ada.pointee.badge.number, number)
    }
    crew.end()
  }
}
