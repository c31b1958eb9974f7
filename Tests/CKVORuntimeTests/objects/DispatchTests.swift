import CFixtures
import CKVORuntime
import Expectations
import Testing

/// Section A: the effects of swapping the dispatch table, and what it must not affect.
@Suite(.recording) struct DispatchTests {
  @Test("A1: an object's first observer swaps its isa, and no other object's")
  func swap() {
    let observed = make(account.self)
    let other = make(account.self)
    defer {
      observed.release()
      other.release()
    }
    let log = Recorder()

    log.observe(observed.object, "balance")

    expect(kvo_isa(observed.object) != account_class())
    expectEqual(name(of: kvo_isa(observed.object)), "KVONotifying_CAccount")
    expectEqual(kvo_isa(other.object), account_class())
    let setter = kvo_class_method(account_class(), "setBalance:")!
    expect(reached(observed.object, setter) != implementation(account_class(), setter))
    expectEqual(reached(other.object, setter), implementation(account_class(), setter))
    account_setBalance(other, 5)
    expectEqual(log.take(), [])
    account_setBalance(observed, 5)
    expectEqual(log.take(), ["a: balance"])
  }

  @Test("A1: objects of one class share the dynamic subclass, subclasses have their own")
  func sharedSubclass() {
    let first = make(account.self)
    let second = make(account.self)
    let third = make(savings.self)
    defer {
      first.release()
      second.release()
      third.release()
    }
    let log = Recorder()
    for object in [first.object, second.object, third.object] { log.observe(object, "balance") }

    expectEqual(kvo_isa(first.object), kvo_isa(second.object))
    expect(kvo_isa(third.object) != kvo_isa(first.object))
    expectEqual(name(of: kvo_isa(third.object)), "KVONotifying_CSavings")
  }

  @Test("A1: only the last removal restores the isa")
  func lastRemoval() {
    let observed = make(account.self)
    defer { observed.release() }
    let log = Recorder()
    let registrations = ["balance", "balance", "owner", "place"].map {
      log.observe(observed.object, $0)
    }

    for registration in registrations {
      expect(isSwapped(observed.object))
      registration.invalidate()
    }

    expectEqual(kvo_isa(observed.object), account_class())
    for selector in ["setBalance:", "setOwner:", "setPlace:"] {
      let method = kvo_class_method(account_class(), selector)!
      expectEqual(reached(observed.object, method), implementation(account_class(), method))
    }
    account_setBalance(observed, 3)
    expectEqual(log.take(), [])
    expectEqual(account_balance(observed), 3)
  }

  /// Every way to end a registration.
  enum Ending: CaseIterable {
    case invalidate, releaseHandle, remove, removeWithContext, removeAll, observerDies
  }

  @Test("A1: however the last registration ends, the isa is restored", arguments: Ending.allCases)
  func everyEnding(_ ending: Ending) {
    let observed = make(account.self)
    defer { observed.release() }
    let observer = make(watcher.self)
    let log = Recorder()

    switch ending {
    case .invalidate: log.observe(observed.object, "balance").invalidate()
    case .releaseHandle: log.observe(observed.object, "balance").release()
    case .removeAll:
      log.observe(observed.object, "balance")
      kvo_remove_all_observers(observed.object)
    case .remove:
      add(observer, to: observed.object, "balance")
      expectEqual(remove(observer, from: observed.object, "balance").status, .KVO_OK)
    case .removeWithContext:
      add(observer, to: observed.object, "balance", context: address(1))
      let outcome = remove(observer, from: observed.object, "balance", context: address(1))
      expectEqual(outcome.status, .KVO_OK)
    case .observerDies: add(observer, to: observed.object, "balance")
    }
    observer.release()

    expectEqual(kvo_isa(observed.object), account_class())
    expect(!kvo_is_observed(observed.object, "balance"))
  }

  @Test("A1: an object can be observed again and again")
  func again() {
    let observed = make(account.self)
    defer { observed.release() }
    let log = Recorder()
    for round in 1...20 {
      let registration = log.observe(observed.object, "balance", .KVO_NEW)
      account_setBalance(observed, Double(round))
      registration.invalidate()
      account_setBalance(observed, 0)
      expectEqual(log.take(), ["a: balance new \(Double(round))"])
      expectEqual(kvo_isa(observed.object), account_class())
    }
  }

  @Test("A2: kvo_class_of never shows the dynamic subclass, kvo_isa does")
  func classOf() {
    let observed = make(savings.self)
    defer { observed.release() }
    let log = Recorder()
    var inside: [CClass] = []
    expectEqual(kvo_class_of(observed.object), savings_class())

    log.observe(observed.object, "balance", .KVO_PRIOR) { inside.append(kvo_class_of($0.object)) }
    setSavingsBalance(observed, 1)

    expectEqual(kvo_class_of(observed.object), savings_class())
    expectEqual(inside, [savings_class(), savings_class()])
    expect(isSwapped(observed.object))
    expectEqual(kvo_class_superclass(kvo_class_of(observed.object)), account_class())
    expect(kvo_class_is_subclass_of(kvo_isa(observed.object)!, savings_class()))
  }

  @Test("A2: an observed object is described by its class")
  func describedByClass() {
    let observed = make(account.self)
    defer { observed.release() }
    let log = Recorder()
    log.observe(observed.object, "balance")
    var buffer = [CChar](repeating: 0, count: 128)
    let length = kvo_object_describe(observed.object, &buffer, buffer.count)
    let text = String(decoding: buffer.prefix(length).map { UInt8($0) }, as: UTF8.self)
    expect(text.hasPrefix("<CAccount: 0x"))
  }

  @Test("A4: an overridden setter that calls its superclass's notifies once")
  func overriddenSetter() {
    let observed = make(savings.self)
    defer { observed.release() }
    let log = Recorder()
    log.observe(observed.object, "balance", [.KVO_OLD, .KVO_NEW, .KVO_PRIOR])

    setSavingsBalance(observed, 7.5)

    expectEqual(log.take(), ["a: prior balance old 0.0", "a: balance old 0.0 new 7.0"])
    expectEqual(observed.pointee.sets, 1)
  }

  @Test("A4: a method replaced after observation began runs, and still notifies once")
  func replacedMethod() throws {
    let cls = try require(makeClass("CReplaced", superclass: account_class()))
    let observed = UnsafeMutableRawPointer(make(cls)).assumingMemoryBound(to: account.self)
    defer { observed.release() }
    let log = Recorder()
    log.observe(observed.object, "balance", [.KVO_OLD, .KVO_NEW])
    account_setBalance(observed, 1)

    var previous: kvo_imp?
    let outcome = attempt { kvo_class_replace_method(cls, "setBalance:", doubling, &previous, $0) }
    expectEqual(outcome.status, .KVO_OK)
    account_setBalance(observed, 2)

    expect(previous != nil)
    expectEqual(account_balance(observed), 4)
    expectEqual(log.take(), ["a: balance old 0.0 new 1.0", "a: balance old 1.0 new 4.0"])
  }

  @Test("A4: so it does where the class has changed since, and the key was looked up again")
  func replacedAfterOtherChanges() throws {
    let cls = try require(makeClass("CReplacedLater", superclass: account_class()))
    let observed = UnsafeMutableRawPointer(make(cls)).assumingMemoryBound(to: account.self)
    defer { observed.release() }
    let log = Recorder()
    log.observe(observed.object, "balance", [.KVO_OLD, .KVO_NEW])
    kvo_class_replace_method(cls, "setInterestRate:", doubling, nil, nil)
    expectEqual(read(observed.object, "balance"), "0.0")

    kvo_class_replace_method(cls, "setBalance:", doubling, nil, nil)
    account_setBalance(observed, 2)

    expectEqual(log.take(), ["a: balance old 0.0 new 4.0"])
  }

  @Test("A4: replacing a method affects the class's own objects and not the superclass's")
  func replacedInSubclassAlone() throws {
    let cls = try require(makeClass("CReplacedAlone", superclass: account_class()))
    let inside = UnsafeMutableRawPointer(make(cls)).assumingMemoryBound(to: account.self)
    let outside = make(account.self)
    defer {
      inside.release()
      outside.release()
    }

    kvo_class_replace_method(cls, "setBalance:", doubling, nil, nil)
    account_setBalance(inside, 3)
    account_setBalance(outside, 3)

    expectEqual(account_balance(inside), 6)
    expectEqual(account_balance(outside), 3)
  }

  @Test("A4: an override added while objects are observed runs, and can call super")
  func addedOverride() throws {
    let cls = try require(makeClass("COverridden", superclass: account_class()))
    let observed = UnsafeMutableRawPointer(make(cls)).assumingMemoryBound(to: account.self)
    defer { observed.release() }
    let log = Recorder()
    log.observe(observed.object, "balance", .KVO_NEW)

    let outcome = attempt {
      kvo_class_add_method(
        cls, "setBalance:", doublingForSuper,
        signature(.KVO_FORM_SETTER, layout("d", size: 8, alignment: 8)), nil, $0)
    }
    expectEqual(outcome.status, .KVO_OK)
    account_setBalance(observed, 5)

    expectEqual(log.take(), ["a: balance new 10.0"])
  }

  @Test("A4: a method replaced in the superclass reaches observed objects of subclasses")
  func replacedInSuperclass() throws {
    let base = try require(makeClass("CReplacedBase", superclass: account_class()))
    let leaf = try require(makeClass("CReplacedLeaf", superclass: base))
    let observed = UnsafeMutableRawPointer(make(leaf)).assumingMemoryBound(to: account.self)
    defer { observed.release() }
    let log = Recorder()
    log.observe(observed.object, "balance", .KVO_NEW)

    kvo_class_replace_method(base, "setBalance:", doubling, nil, nil)
    account_setBalance(observed, 8)

    expectEqual(log.take(), ["a: balance new 16.0"])
  }

  enum Stranger: String, CaseIterable, Codable { case sibling, observedSibling, superclass, later }

  @Test(
    "A7: calling a method by the handle of an unrelated class stops the program",
    arguments: Stranger.allCases)
  func handleOfStranger(_ stranger: Stranger) async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [stranger] in
      let base = makeClass("CStrangersBase", superclass: account_class())!
      let early = makeClass("CStrangersEarly", superclass: base)!
      let owner = makeClass("CStrangersOwner", superclass: base)!
      var method: OpaquePointer?
      let own: @convention(c) (CObject, OpaquePointer) -> Void = { _, _ in print("stranger") }
      for number in 0..<8 {
        let status = kvo_class_add_method(
          owner, "own\(number)", unsafeBitCast(own, to: kvo_imp.self),
          signature(.KVO_FORM_ENCODED, layout("v@:")), &method, nil)
        precondition(status == .KVO_OK)
      }
      let late = makeClass("CStrangersLate", superclass: base)!
      let cls =
        switch stranger {
        case .sibling, .observedSibling: early
        case .superclass: base
        case .later: late
        }
      let object = make(cls)
      let log = Recorder()
      if stranger == .observedSibling { log.observe(object, "balance") }
      unsafeBitCast(
        kvo_method_lookup(object, method!),
        to: (@convention(c) (CObject, OpaquePointer) -> Void).self
      )(object, method!)
    }
    let errors = String(decoding: try require(result).standardErrorContent, as: UTF8.self)
    expect(errors.contains("KVO: A method was called on an object whose class does not have it"))
  }

  @Test("A5: keys that share a setter stay two keys, each with its own observers and value")
  func sharedSetter() {
    let object = make(spelled.self)
    defer { object.release() }
    let log = Recorder()
    let lower = log.observe(object.object, "name", [.KVO_OLD, .KVO_NEW], as: "lower")
    spelled_setName(object, 1)
    expectEqual(log.take(), ["lower: name old 0 new 1"])

    log.observe(object.object, "Name", [.KVO_OLD, .KVO_NEW], as: "upper")
    spelled_setName(object, 2)
    expectEqual(
      Set(log.take()), ["lower: name old 1 new 2", "upper: Name old 10 new 20"])

    lower.invalidate()
    spelled_setName(object, 3)
    expectEqual(log.take(), ["upper: Name old 20 new 30"])
    expect(kvo_is_observed(object.object, "Name"))
    expect(!kvo_is_observed(object.object, "name"))
  }

  @Test("A5: setting by either key notifies the observers of both, once each")
  func sharedSetterByKey() {
    let object = make(spelled.self)
    defer { object.release() }
    let log = Recorder()
    log.observe(object.object, "name", .KVO_NEW, as: "lower")
    log.observe(object.object, "Name", .KVO_NEW, as: "upper")
    for key in ["name", "Name"] {
      expectEqual(set(object.object, key, .int(4)).status, .KVO_OK)
      expectEqual(log.take().sorted(), ["lower: name new 4", "upper: Name new 40"])
    }
  }

  @Test("A6: observing changes neither layout nor reads nor other properties")
  func nothingElseChanges() {
    let object = make(account.self)
    let branch = make(tracked.self)
    defer {
      object.release()
      branch.release()
    }
    account_setBalance(object, 1.5)
    account_setFrozen(object, true)
    account_setOwner(object, "Ada")
    account_setBranch(object, branch)
    account_setPlace(object, location(latitude: 3, longitude: 4))
    let before = fields(object)
    let log = Recorder()

    for key in ["balance", "interestRate", "frozen", "number", "owner", "branch", "place"] {
      expectEqual(log.observe(object.object, key, [.KVO_OLD, .KVO_NEW]).outcome.status, .KVO_OK)
      expectEqual(fields(object), before)
    }
    expectEqual(account_balance(object), 1.5)
    expect(account_frozen(object))
    expectEqual(String(cString: account_owner(object)), "Ada")
    expectEqual(account_branch(object), branch)
    expectEqual(account_place(object).longitude, 4)

    kvo_remove_all_observers(object.object)
    expectEqual(fields(object), before)
  }

  @Test("A6: setting one observed property leaves the others' values as they are")
  func othersKeepTheirValues() {
    let object = make(account.self)
    defer { object.release() }
    let log = Recorder()
    for key in ["balance", "interestRate", "place"] { log.observe(object.object, key, .KVO_NEW) }
    account_setPlace(object, location(latitude: 1, longitude: 2))
    account_setBalance(object, 3)
    account_setInterestRate(object, 4)
    expectEqual(
      log.take(), ["a: place new (1.0, 2.0)", "a: balance new 3.0", "a: interestRate new 4.0"])
    expectEqual(
      ["place", "balance", "interestRate"].map { read(object.object, $0) },
      ["(1.0, 2.0)", "3.0", "4.0"])
  }
}

/// The function that a call reaches now, and the class's own. They are equal if nothing is interposed.
private func reached(_ object: CObject, _ method: OpaquePointer) -> UnsafeRawPointer {
  unsafeBitCast(kvo_method_lookup(object, method), to: UnsafeRawPointer.self)
}

private func implementation(_ cls: CClass, _ method: OpaquePointer) -> UnsafeRawPointer {
  unsafeBitCast(kvo_class_imp(cls, method), to: UnsafeRawPointer.self)
}

/// The bytes of an account after its header.
private func fields(_ object: UnsafeMutablePointer<account>) -> [UInt8] {
  Array(
    UnsafeRawBufferPointer(start: object, count: MemoryLayout<account>.size)
      .dropFirst(MemoryLayout<kvo_object>.size))
}

private func setSavingsBalance(_ object: UnsafeMutablePointer<savings>, _ value: Double) {
  account_setBalance(UnsafeMutableRawPointer(object).assumingMemoryBound(to: account.self), value)
}

/// A class with nothing of its own.
private func makeClass(_ name: String, superclass: CClass) -> CClass? {
  guard let cls = kvo_class_create(name, superclass, MemoryLayout<account>.size, nil),
    kvo_class_register(cls, nil) == .KVO_OK
  else { return nil }
  return cls
}

private typealias DoubleSetter = @convention(c) (CObject, OpaquePointer, Double) -> Void

/// Stores twice its argument.
private let doubling = unsafeBitCast(
  { object, _, value in
    UnsafeMutableRawPointer(object).assumingMemoryBound(to: account.self).pointee.balance =
      value * 2
  } as DoubleSetter, to: kvo_imp.self)

/// Calls the account's own setter with twice the argument.
private let doublingForSuper = unsafeBitCast(
  { object, method, value in
    let superSetter = unsafeBitCast(kvo_class_imp(account_class(), method), to: DoubleSetter.self)
    superSetter(object, method, value * 2)
  } as DoubleSetter, to: kvo_imp.self)
