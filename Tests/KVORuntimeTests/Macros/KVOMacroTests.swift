import Expectations
import KVORuntime
import ModelFixtures
import Testing

/// Q1 to Q4: `@KVO` classes, whose keys need no declarations.
@Suite(.leakFree) struct KVOMacroTests {
  private let log = Recorder()

  @Test("Q1: each stored var is observed like @Observed ones, whatever its access")
  func observed() throws {
    let boat = Boat(log.keep(Sailor("Port")))
    log.observe(boat, \.length, [.old, .new], as: "length")
    log.observe(boat, \.name, [.old, .new, .initial], as: "name")
    try log.observe(boat, "secret", [.new], as: "secret")
    try log.observe(boat, "conditional", [.new], as: "conditional")
    boat.length = 3
    boat.name = nil
    boat.conditional += 1
    try boat.setValue(7, forKey: "secret")
    expectEqual(
      log.take(),
      [
        "name new Argo", "length old 1.0 new 3.0", "name old Argo new nil", "conditional new 2",
        "secret new 7",
      ])
    expect(try boat.value(forKey: "secret") as? Int == 7)
    expect(Boat.keyValueProperty(forKey: "never") == nil)
  }

  @Test("Q1: where properties are dynamic, only those are observed, as on Apple's platforms")
  func marked() throws {
    let marked = log.keep(Marked())
    for key in ["level", "next", "names", "wrapped", "count", "title", "plain"] {
      try log.observe(marked, key, [.old, .new], as: key)
    }
    marked.level = 12
    marked.next = marked
    marked.add("a")
    marked.wrapped = 1
    marked.count = 2
    marked.plain = 3
    expectEqual(
      log.take(),
      [
        "level old 1 new 9", "title old 1 [] new 9 []", "next old nil new KVORuntimeTests.Marked",
        "names old [] new [\"a\"]", "title old 9 [] new 9 [\"a\"]", "wrapped old 0 new 1",
        "count old 0 new 2",
      ])
    marked.next = nil
    _ = log.take()

    let other = log.keep(MarkedOverride())
    for key in ["level", "more", "set"] { try log.observe(other, key, [.new], as: key) }
    other.level = 12
    other.more = 1
    expectEqual(log.take(), ["level new 9", "more new 1"])
    expectEqual(other.set, [9])
  }

  @Test("Q2: a @KVO class has @KVO subclasses in other modules")
  func otherModules() throws {
    let violin = log.keep(Violin())
    try log.observe(violin, "octave", [.old, .new], as: "octave")
    try log.observe(violin, "neighbour.strings", [.new], as: "strings")
    try violin.setValue(30, forKey: "pitch")
    try violin.setValue(10, forKey: "octave")
    let other = log.keep(Violin())
    violin.neighbour = other
    try other.setValue(5, forKey: "strings")
    expectEqual(violin.heard, [30, 550])
    expectEqual(
      log.take(),
      [
        "octave old 8 new 0", "octave old 0 new 10", "strings new 4", "strings new 5",
      ])
  }

  @Test("Q1: ignored, constant and static members are unaffected by the macro")
  func left() throws {
    let boat = Boat(log.keep(Sailor("Port")))
    try log.observe(boat, "unseen", [.new], as: "unseen")
    boat.unseen = 1
    expect(log.take().isEmpty)
    try boat.setValue(2, forKey: "unseen")
    expect(log.take() == ["unseen new 2"] && boat.unseen == 2)
    expectEqual(Boat.keyValueProperty(forKey: "built")?.isWritable, false)
    expect(try boat.value(forKey: "built") as? Int == 1900)
    expect(try boat.value(forKey: "log") == nil)
  }

  @Test("Q1: properties have the layout that @Observed gives them")
  func room() {
    let (handmade, macromade) = (Handmade(), Macromade())
    let here = withUnsafeMutablePointer(to: &handmade.b) {
      UnsafeMutableRawPointer($0) - Unmanaged.passUnretained(handmade).toOpaque()
    }
    let there = withUnsafeMutablePointer(to: &macromade.b) {
      UnsafeMutableRawPointer($0) - Unmanaged.passUnretained(macromade).toOpaque()
    }
    expect(here == there && here > 0)
  }

  @Test("Q2: key-value coding calls setters, with didSet, without any declaration")
  func setters() throws {
    let boat = Boat(log.keep(Sailor("Port")))
    log.observe(boat, \.length, [.new])
    try boat.setValue(-5, forKey: "length")
    expectEqual(boat.length, 0)
    expectEqual(log.take(), ["a new 0.0"])
    try boat.setValue(8, forKey: "area")
    expectEqual(boat.length, 4)
    try boat.setValuesForKeys(["length": -1, "name": nil])
    expect(boat.length == 0 && boat.name == nil)
  }

  @Test(
    "Q2: key-value coding calls overridden getters and setters, with and without the macro"
  )
  func overrides() throws {
    let ship = Ship(log.keep(Sailor("Port")))
    try ship.setValue(-5, forKey: "length")
    expectEqual(ship.set, [0])  // the value that its superclass has limited
    try ship.setValue(9, forKey: "area")
    expectEqual(ship.length, 4)
    expect(try ship.value(forKey: "area") as? Double == 9)
    log.observe(ship as Boat, \.area, [.new], as: "area")
    try log.observe(ship, "masts", [.new], as: "masts")
    ship.length = 5
    ship.masts = 1
    expectEqual(log.take(), ["area new 11.0", "masts new 1"])
    let raft = Raft(log.keep(Sailor("Port")))
    expect(try raft.value(forKey: "name") as? String == "raft Argo")
    try log.observe(raft, "name", [.old, .new], as: "name")
    try raft.setValue("Tiki", forKey: "name")
    expectEqual(log.take(), ["name old raft Argo new raft Tiki"])
  }

  @Test("Q2: classes nested in their superclass have their keys")
  func clusters() throws {
    let red = Figure.Square.Red()
    try red.setValuesForKeys(["sides": 4, "length": -3, "shade": 1])
    expectEqual([red.sides, red.length, Int(red.shade)], [4, 0, 1])
    try log.observe(red, "length", [.new], as: "length")
    red.length = 7
    expectEqual(log.take(), ["length new 7"])
    expectEqual(try Figure.Round.Circle().value(forKey: "radius") as? Int, 2)
  }

  @Test("Q2: a property with another wrapper is read and set by key as by name")
  func wrapped() throws {
    let object = Wrapping()
    expectEqual(try object.value(forKey: "level") as? Int, 3)
    try object.setValue(50, forKey: "level")
    expectEqual(object.level, 10)
    expectEqual(try object.value(forKey: "fixed") as? Int, 4)
    expectEqual(
      keyValueError { try object.setValue(5, forKey: "fixed") },
      .readOnly(key: "fixed", className: "Wrapping"))
  }

  @Test("Q2: computed properties have keys and notify under them, without any declaration")
  func computed() throws {
    let boat = Boat(log.keep(Sailor("Port")))
    expect(try boat.value(forKey: "area") as? Double == 2)
    try log.observe(boat, "area", [.old, .new], as: "area")
    boat.length = 2
    expectEqual(log.take(), ["area old 2.0 new 4.0"])
    let watcher = log.watcher()
    try boat.addObserver(watcher, forKeyPath: "captainName", options: [.new])
    boat.captain = log.keep(Sailor("Ada"))
    expectEqual(log.take(), ["area old 2.0 new 4.0", "w: captainName new Ada"].suffix(1))
    try boat.removeObserver(watcher, forKeyPath: "captainName")
  }

  @Test("Q2: the typed customisation is asked for registrations by string, before any typed call")
  func customised() throws {
    let object = Customised()
    try log.observe(object, "quiet", [.new], as: "quiet")
    try log.observe(object, "size", [.new], as: "size")
    object.quiet = 1
    object.width = 2
    expectEqual(log.take(), ["size new 2"])
    object.withChange(of: \.quiet) { object.quiet = 2 }
    expectEqual(log.take(), ["quiet new 2"])
  }

  @Test("Q2: a registerKeys declaration of a key wins")
  func byHand() throws {
    let object = Customised()
    expect(try object.value(forKey: "renamed") as? Int == 50)
    expect(keyValueError { try object.setValue(1, forKey: "renamed") } != nil)
  }

  @Test("Q2: and still wins after subclasses with other keys are used, with the macro or not")
  func byHandOfSuperclass() throws {
    let object = DeclaredHere()
    expect(try object.value(forKey: "count") as? Int == 10)
    for subclass in [DeclaredByMacro(), DeclaredByHand()] {
      expect(try subclass.value(forKey: "count") as? Int == 10)
      expect(try object.value(forKey: "count") as? Int == 10)
    }
  }

  @Test("Q2: so does one of another kind, or with other dependencies, or under another key")
  func byHandOtherwise() throws {
    let object = DeclaredOtherwise()
    expect(try object.value(forKeyPath: "items.@count") as? Int == 3)
    expect(try object.value(forKeyPath: "items.@sum.self") as? Int == 3)
    try object.setValue(["x", "y"], forKey: "songs")
    try object.mutableArrayValue(forKey: "songs").insert("z", at: 0)
    expect(object.songs == Array(repeating: "by hand", count: 3) && object.inserted == 0)
    try log.observe(object, "sum", [.new], as: "sum")
    object.a = 1
    object.b = 2
    expectEqual(log.take(), ["sum new 3"])
    expectEqual(DeclaredOtherwise.key(of: \.size), "extent")
    log.observe(object, \.size, [.new], as: "size")
    object.withChange(forKey: "extent") {}
    expectEqual(log.take(), ["size new 1"])
  }

  @Test("Q2 B4: so does one added late, for observed objects")
  func byHandLate() throws {
    let object = DeclaredLate()
    try log.observe(object, "sum", [.new], as: "sum")
    object.a = 1
    expectEqual(log.take(), ["sum new 2"])
    DeclaredLate.declareKeys { $0.accessors("sum", get: { _ in 5 }) }
    object.a = 2
    expect(try object.value(forKey: "sum") as? Int == 5)
    expectEqual(log.take(), [])
    let tracked = DeclaredLate()
    try log.observe(tracked, "twice", [.new], as: "twice")
    tracked.a = 1
    expectEqual(log.take(), ["twice new 2"])
    DeclaredLate.declareKeys { $0.accessors("twice", get: { _ in 5 }) }
    tracked.a = 2
    expectEqual(log.take(), [])
  }

  @Test("Q2: a subclass without the macro does not revive replaced declarations")
  func byHandInherited() throws {
    let object = DeclaredBelow()
    try log.observe(object, "sum", [.new], as: "sum")
    object.a = 1
    object.b = 2
    expectEqual(log.take(), ["sum new 3"])
  }

  @Test("Q2 Q4: members that are deprecated or limited to versions of a platform are like others")
  func available() throws {
    for aged in [Aged(), AgedBelow()] {
      try log.observe(aged, "sum", [.new], as: "sum")
      try log.observe(aged, "older", [.new], as: "older")
      try aged.setValue(3, forKey: "older")
      try aged.setValue(2, forKey: "old")
      expectEqual(log.take(), ["sum new \(aged is AgedBelow ? 6 : 5)"])
      var value: Any? = -1
      try aged.validateValue(&value, forKey: "old")
      expectEqual(value as? Int, 0)
    }
    expectEqual(Aged.keyPathsForValuesAffectingValue(forKey: "sum"), ["old", "older"])
  }

  @Test("Q2: an inherited registerKeys does not replace the declarations of a subclass's macro")
  func byHandAbove() throws {
    for offer in [TaxedOffer(), FinalOffer()] {
      try log.observe(offer, "total", [.new], as: "total")
      log.observe(offer, \.tax, [.new], as: "tax")
      offer.tax = 2
      expectEqual(log.take().sorted(), ["tax new 2", "total new 3"])
    }
  }

  @Test("Q2: plain links of one type each notify of their own changes")
  func links() throws {
    let pair = Pair()
    let (ada, bob) = (log.keep(Sailor("Ada")), log.keep(Sailor("Bob")))
    log.observe(pair, \.left?.name, [.new], as: "left")
    try log.observe(pair, "right.name", [.new], as: "right")
    pair.left = ada
    pair.right = bob
    ada.name = "Eve"
    bob.name = "Rob"
    expectEqual(log.take(), ["left new Ada", "right new Bob", "left new Eve", "right new Rob"])
  }

  @Test("Q2: key(of:) names computed, overridable, private, generic and oddly named properties")
  func names() {
    expect(Boat.key(of: \.area) == "area" && Boat.key(of: \.captain?.name) == "captain.name")
    expect(Ship.key(of: \.masts) == "masts" && Ship.key(of: \.length) == "length")
    expect(Crate<Int>.key(of: \.isFull) == "isFull" && Outer.Inner.key(of: \.value) == "value")
    expect(OddlyNamed.key(of: \.class) == "class" && OddlyNamed.key(of: \.get) == "get")
    expectEqual(OddlyNamed.keyValueProperties.map(\.key), ["class", "get", "weak"])
  }

  @Test("Q2: generic and nested classes, and those in functions, behave as others")
  func places() throws {
    @KVO final class Local: KVOObject {
      var value = 1
      fileprivate var hidden = 2
    }
    let (local, inner, crate) = (Local(), Outer.Inner(), Crate("a", nothing: ""))
    log.observe(local, \.value, [.new], as: "local")
    log.observe(inner, \.value, [.new], as: "inner")
    log.observe(crate, \.isFull, [.new], as: "crate")
    try local.setValue(3, forKey: "value")
    inner.value = 4
    crate.content = ""
    expectEqual(log.take(), ["local new 3", "inner new 4", "crate new false"])
    expect(try local.value(forKey: "hidden") as? Int == 2)
  }

  @Test("Q2: members after one that ends in `>` or a mark are read like others")
  func endings() throws {
    let tune = Tune()
    for key in ["volume", "percent", "loudness"] { try log.observe(tune, key, [.new], as: key) }
    try tune.setValue(7.0, forKey: "volume")
    expectEqual(tune.volume, 1)
    expectEqual(Set(log.take()), ["volume new 1.0", "percent new 100", "loudness new 11"])
  }

  @Test("Q2: a member with a condition around its attributes is read like others")
  func conditionalAttributes() throws {
    let tune = Tune()
    try log.observe(tune, "speed", [.new], as: "speed")
    tune.speed = 2
    expectEqual(log.take(), ["speed new 2"])
  }

  @Test("Q1 Q3: a class with a type of the wrapper's name is observed like others")
  func shadowing() throws {
    let object = Shadowing()
    try log.observe(object, "value", [.new], as: "value")
    try log.observe(object, "owner.name", [.new], as: "owner")
    object.value = 2
    object.owner = log.keep(Sailor("Ada"))
    expectEqual(log.take(), ["value new 2", "owner new Ada"])
  }

  @Test("Q5: a setter bracketed as the warning says notifies once, by assignment and by key")
  func bracketed() throws {
    let facade = Facade()
    log.observe(facade, \.index, [.old, .new])
    facade.index = 1
    try facade.setValue(2, forKey: "index")
    expectEqual(log.take(), ["a old 0 new 1", "a old 1 new 2"])
  }
}
