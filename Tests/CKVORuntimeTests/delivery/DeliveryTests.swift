import CFixtures
import CKVORuntime
import Expectations
import TestSupport
import Testing

/// D1 to D5 and D11: which observers are called, when, in which order, and what a change carries.
@Suite(.recording) struct DeliveryTests {
  @Test("D1: observers are called on the thread that made the change, before the setter returns")
  func synchronous() {
    let object = make(gauge.self)
    defer { object.release() }
    let log = Recorder()
    var threads: [UInt64] = []
    log.observe(object.object, "first", .KVO_PRIOR) { _ in threads.append(fixture_thread()) }

    gauge_setFirst(object, 1)
    expectEqual(threads, [fixture_thread(), fixture_thread()])

    threads = []
    let shared = Shared(object)
    let other = Shared(UnsafeMutablePointer<UInt64>.allocate(capacity: 1))
    defer { other.value.deallocate() }
    onThreads(1) { _ in
      other.value.pointee = fixture_thread()
      gauge_setFirst(shared.value, 2)
    }
    expectEqual(threads, [other.value.pointee, other.value.pointee])
    expect(other.value.pointee != fixture_thread())
  }

  @Test(
    "D2: observers are called in the order of registration, callbacks and objects alike",
    arguments: [1, 2, 3, 8, 40])
  func order(_ count: Int) {
    let object = make(account.self)
    let watchers = (0..<count).map { _ in make(watcher.self) }
    defer {
      object.release()
      releaseAll(watchers)
    }
    let log = Recorder()
    for (index, watcher) in watchers.enumerated() {
      log.observe(object.object, "balance", .KVO_PRIOR, as: "c\(index)")
      log.listen(to: watcher, as: "w\(index)")
      add(watcher, to: object.object, "balance", .KVO_PRIOR)
    }
    account_setBalance(object, 1)
    let names = (0..<count).flatMap { ["c\($0)", "w\($0)"] }
    expectEqual(log.take(), names.map { "\($0): prior balance" } + names.map { "\($0): balance" })
  }

  @Test("D2: a removal keeps the order of the others; what is added again comes last")
  func orderAfterRemoval() {
    let object = make(account.self)
    defer { object.release() }
    let log = Recorder()
    let tokens = (0..<5).map { log.observe(object.object, "balance", as: "\($0)") }
    for index in [2, 0] { tokens[index].invalidate() }
    log.observe(object.object, "balance", as: "again")
    account_setBalance(object, 1)
    expectEqual(log.take(), ["1", "3", "4", "again"].map { "\($0): balance" })
    for index in [1, 3, 4] { tokens[index].invalidate() }
    log.observe(object.object, "balance", as: "last")
    account_setBalance(object, 1)
    expectEqual(log.take(), ["again: balance", "last: balance"])
  }

  // MARK: Equal values

  @Test("D3: setting the same value notifies, nil over nil too")
  func sameValue() {
    let object = make(account.self)
    defer { object.release() }
    let log = Recorder()
    for key in ["balance", "frozen", "owner", "branch", "place"] {
      log.observe(object.object, key, [.KVO_OLD, .KVO_NEW])
    }
    setEverything(object)
    expectEqual(
      log.take(),
      [
        "a: balance old 0.0 new 0.0", "a: frozen old false new false", "a: owner old nil new nil",
        "a: branch old nil new nil", "a: place old (0.0, 0.0) new (0.0, 0.0)",
      ])
  }

  @Test("D3: distinct drops changes whose values are equal, by each type's own measure")
  func distinct() {
    let object = make(account.self)
    let branch = make(tracked.self)
    defer {
      object.release()
      branch.release()
    }
    let log = Recorder()
    for key in ["balance", "frozen", "owner", "branch", "place"] {
      log.observe(object.object, key, [.KVO_NEW, .KVO_DISTINCT])
    }
    setEverything(object)
    expectEqual(log.take(), [])
    for owner in ["Ada", "Ada", "Grace"] { account_setOwner(object, owner) }
    for balance in [1.0, 1, 2] { account_setBalance(object, balance) }
    for _ in 0..<2 { account_setBranch(object, branch) }
    for longitude in [0.0, 5, 5] {
      account_setPlace(object, location(latitude: 0, longitude: longitude))
    }
    expectEqual(
      log.take(),
      [
        "a: owner new Ada", "a: owner new Grace", "a: balance new 1.0", "a: balance new 2.0",
        "a: branch new #0", "a: place new (0.0, 5.0)",
      ])
  }

  @Test("D3: one observer's distinct does not filter another's changes")
  func distinctIsItsOwn() {
    let object = make(account.self)
    defer { object.release() }
    let log = Recorder()
    log.observe(object.object, "balance", .KVO_DISTINCT, as: "distinct")
    log.observe(object.object, "balance", as: "all")
    account_setBalance(object, 0)
    account_setBalance(object, 1)
    expectEqual(log.take(), ["all: balance", "distinct: balance", "all: balance"])
  }

  // MARK: Content of a change

  @Test("D4: each observer gets what it asked for and nothing more, whatever the others ask")
  func optionsDoNotLeak() {
    let object = make(account.self)
    defer { object.release() }
    account_setBalance(object, 1)
    let log = Recorder()
    let combinations = (0..<16).map { kvo_options(rawValue: $0) }
    for (number, options) in combinations.enumerated() {
      log.observe(object.object, "balance", options, as: "\(number)")
    }
    let initials = combinations.enumerated().filter { $1.contains(.KVO_INITIAL) }
    expectEqual(log.take(), initials.map { line($0, $1, new: "1.0") })

    account_setBalance(object, 2)

    let priors = combinations.enumerated().filter { $1.contains(.KVO_PRIOR) }
      .map { line($0, $1, prior: true, old: "1.0") }
    let finals = combinations.enumerated().map { line($0, $1, old: "1.0", new: "2.0") }
    expectEqual(log.take(), priors + finals)
  }

  @Test("D4: kind is always there; prior is in prior calls only")
  func kindAndPrior() {
    let object = make(account.self)
    defer { object.release() }
    let log = Recorder()
    var calls: [(kvo_change_kind, Bool, Bool, Bool)] = []
    log.observe(object.object, "balance", [.KVO_PRIOR, .KVO_INITIAL, .KVO_OLD, .KVO_NEW]) { call in
      calls.append(
        (
          kvo_change_get_kind(call.change), kvo_change_is_prior(call.change), call.old != nil,
          call.new != nil
        ))
    }
    account_setBalance(object, 1)
    expectEqual(calls.map(\.0), [.KVO_SETTING, .KVO_SETTING, .KVO_SETTING])
    expectEqual(calls.map(\.1), [false, true, false])
    expectEqual(calls.map(\.2), [false, true, true])
    expectEqual(calls.map(\.3), [true, false, true])
  }

  @Test("D4: a change carries values of the property's own type, nil as nil")
  func typedValues() {
    let object = make(scalars.self)
    defer { object.release() }
    let log = Recorder()
    for key in scalarKeys { log.observe(object.object, key, [.KVO_OLD, .KVO_NEW]) }
    log.observe(object.object, "text", [.KVO_OLD, .KVO_NEW])
    for key in scalarKeys {
      set(object.object, key, .int(1))
      let (old, new) =
        switch key {
        case "flag": ("false", "true")
        case "single", "real", "extended": ("0.0", "1.0")
        default: ("0", "1")
        }
      expectEqual(log.take(), ["a: \(key) old \(old) new \(new)"])
    }
    scalars_setText(object, "x")
    scalars_setText(object, nil)
    expectEqual(log.take(), ["a: text old nil new x", "a: text old x new nil"])
  }

  // MARK: Old and new

  @Test("D5: new is what the getter answers afterwards: a clamping setter delivers what it stored")
  func clampingSetter() {
    let object = make(quirk.self)
    defer { object.release() }
    let log = Recorder()
    log.observe(object.object, "level", [.KVO_OLD, .KVO_NEW])
    for level in [50, 250, -3.5] { quirk_setLevel(object, level) }
    expectEqual(
      log.take(),
      [
        "a: level old 0.0 new 50.0", "a: level old 50.0 new 100.0", "a: level old 100.0 new 0.0",
      ])
  }

  @Test("D5: an ignoring setter delivers the unchanged value")
  func ignoringSetter() {
    let object = make(quirk.self)
    defer { object.release() }
    object.pointee.fixed = 3
    let log = Recorder()
    log.observe(object.object, "fixed", [.KVO_OLD, .KVO_NEW])
    quirk_setFixed(object, 9)
    expectEqual(log.take(), ["a: fixed old 3 new 3"])
  }

  @Test("D5: old and new are read from the object that changed")
  func eachForItsObject() {
    let objects = (0..<3).map { _ in make(account.self) }
    defer { releaseAll(objects) }
    let log = Recorder()
    for (index, object) in objects.enumerated() {
      account_setBalance(object, Double(index * 10))
      log.observe(object.object, "balance", [.KVO_OLD, .KVO_NEW], as: "\(index)")
    }
    for (index, object) in objects.enumerated() { account_setBalance(object, Double(index + 1)) }
    expectEqual(
      log.take(),
      [
        "0: balance old 0.0 new 1.0", "1: balance old 10.0 new 2.0", "2: balance old 20.0 new 3.0",
      ])
  }

  @Test("D5: in every prior call all reads give the old value, in final calls the new one")
  func readsInCalls() {
    let object = make(account.self)
    defer { object.release() }
    account_setOwner(object, "Ada")
    let log = Recorder()
    for name in ["a", "b"] {
      log.observe(object.object, "owner", .KVO_PRIOR, as: name) { call in
        log.note("\(read(call.object, "owner")) \(String(cString: account_owner(object)))")
      }
    }
    account_setOwner(object, "Grace")
    expectEqual(
      log.take(),
      [
        "a: prior owner", "Ada Ada", "b: prior owner", "Ada Ada",
        "a: owner", "Grace Grace", "b: owner", "Grace Grace",
      ])
  }

  @Test(
    "D5: the change owns the old string, even if the setter frees its own",
    arguments: [true, false])
  func oldStringIsOwned(_ scribbling: Bool) {
    let object = make(quirk.self)
    let plainer = make(account.self)
    defer {
      object.release()
      plainer.release()
    }
    let log = Recorder()
    let (target, key) = scribbling ? (object.object, "label") : (plainer.object, "owner")
    set(target, key, .string("a string that is far too long to be kept inline"))
    for name in ["a", "b"] { log.observe(target, key, [.KVO_OLD, .KVO_PRIOR], as: name) }

    if scribbling { quirk_setLabel(object, "x") } else { account_setOwner(plainer, "x") }

    let notified = "\(key) old a string that is far too long to be kept inline"
    expectEqual(
      log.take(),
      ["a: prior \(notified)", "b: prior \(notified)", "a: \(notified)", "b: \(notified)"])
  }

  @Test("D5: the old object lives until the last observer has returned")
  func oldObjectLives() {
    let object = make(account.self)
    let deaths = Deaths()
    defer { object.release() }
    let branch = deaths.make(mark: 7)
    account_setBranch(object, branch)
    branch.release()
    let log = Recorder()
    for name in ["a", "b"] {
      log.observe(object.object, "branch", .KVO_OLD, as: name) { _ in
        log.note("\(deaths.count) dead")
      }
    }
    account_setBranch(object, nil)
    expectEqual(log.take(), ["a: branch old #7", "0 dead", "b: branch old #7", "0 dead"])
    expectEqual(deaths.count, 1)
  }

  @Test("D5: an object that no observer has old values of dies as without observers")
  func unaskedOldDies() {
    let object = make(account.self)
    let deaths = Deaths()
    defer { object.release() }
    let branch = deaths.make()
    account_setBranch(object, branch)
    branch.release()
    let log = Recorder()
    log.observe(object.object, "branch") { _ in log.note("\(deaths.count) dead") }
    account_setBranch(object, nil)
    expectEqual(log.take(), ["a: branch", "1 dead"])
  }

  @Test("A3: a setter that returns a value keeps returning it, and notifies")
  func returningSetter() {
    let object = make(quirk.self)
    defer { object.release() }
    expectEqual(quirk_setTally(object, 5), 0)
    let log = Recorder()
    log.observe(object.object, "tally", [.KVO_OLD, .KVO_NEW])
    expectEqual(quirk_setTally(object, -8), 5)
    expectEqual(quirk_setTally(object, .max), -8)
    expectEqual(log.take(), ["a: tally old 5 new -8", "a: tally old -8 new \(Int32.max)"])
  }

  // MARK: One hierarchy, two contexts

  @Test("D11: superclass and subclass observe the same key without clashing")
  func superclassAndSubclass() {
    let object = make(account.self)
    let observer = make(sub_watcher.self)
    defer {
      object.release()
      observer.release()
    }
    let asWatcher = UnsafeMutableRawPointer(observer).assumingMemoryBound(to: watcher.self)
    let log = Recorder()
    log.listen(to: asWatcher, as: "w")
    let base = base_watcher_context()
    let sub = sub_watcher_context()
    add(asWatcher, to: object.object, "balance", .KVO_NEW, context: base)
    add(asWatcher, to: object.object, "balance", .KVO_OLD, context: sub)
    func number(_ context: UnsafeMutableRawPointer?) -> UInt { UInt(bitPattern: context) }

    account_setBalance(object, 2)
    expectEqual(
      log.take(),
      [
        "w/CBaseWatcher[\(number(base))]: balance new 2.0",
        "w/CSubWatcher[\(number(sub))]: balance old 0.0",
      ])

    expectEqual(remove(asWatcher, from: object.object, "balance", context: base).status, .KVO_OK)
    account_setBalance(object, 3)
    expectEqual(log.take(), ["w/CSubWatcher[\(number(sub))]: balance old 2.0"])
  }
}

/// Sets each property to its value in a new account.
private func setEverything(_ object: UnsafeMutablePointer<account>) {
  account_setBalance(object, 0)
  account_setFrozen(object, false)
  account_setOwner(object, nil)
  account_setBranch(object, nil)
  account_setPlace(object, location(latitude: 0, longitude: 0))
}

/// The line of an observer of `balance` whose name is its options.
private func line(
  _ number: Int, _ options: kvo_options, prior: Bool = false, old: String? = nil, new: String? = nil
) -> String {
  var words = ["\(number):"]
  if prior { words.append("prior") }
  words.append("balance")
  if let old, options.contains(.KVO_OLD) { words += ["old", old] }
  if let new, options.contains(.KVO_NEW) { words += ["new", new] }
  return words.joined(separator: " ")
}
