import Expectations
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

/// C3, D2, D3, D4: the content of a handler's change, by its options.
@Suite(.leakFree) struct ObserveTests {
  @Test(
    "D4: an observer gets what it asked for and nothing more",
    arguments: KeyValueObservingOptions.combinations)
  func options(_ options: KeyValueObservingOptions) throws {
    let account = Account()
    let log = Recorder()
    account.balance = 1
    log.observe(account, \.balance, options, as: "typed")
    try log.observe(account, "balance", options, as: "string")
    try account.addObserver(log.watcher(), forKeyPath: "balance", options: options)
    account.balance = 2

    let names = ["typed", "string", "w: balance"]
    let old = options.contains(.old) ? " old 1.0" : ""
    var expected: [String] = []
    if options.contains(.initial) {
      expected += names.map { $0 + (options.contains(.new) ? " new 1.0" : "") }
    }
    if options.contains(.prior) { expected += names.map { $0 + " prior" + old } }
    expected += names.map { $0 + old + (options.contains(.new) ? " new 2.0" : "") }
    expectEqual(log.take(), expected)
  }

  @Test("D4: one observer's options never leak into another's")
  func noLeaks() throws {
    let account = Account()
    let log = Recorder()
    account.balance = 1
    for options in KeyValueObservingOptions.combinations {
      log.observe(account, \.balance, options, as: "\(options.rawValue)")
    }
    _ = log.take()
    account.balance = 2
    let priors = KeyValueObservingOptions.combinations.filter { $0.contains(.prior) }.map {
      "\($0.rawValue) prior" + ($0.contains(.old) ? " old 1.0" : "")
    }
    let finals = KeyValueObservingOptions.combinations.map {
      "\($0.rawValue)" + ($0.contains(.old) ? " old 1.0" : "")
        + ($0.contains(.new) ? " new 2.0" : "")
    }
    expectEqual(log.take(), priors + finals)
  }

  @Test(
    "D4: change dictionaries always hold the kind, and the rest where it was asked for",
    arguments: KeyValueObservingOptions.combinations)
  func dictionary(_ options: KeyValueObservingOptions) throws {
    let person = Person()
    let log = Recorder()
    var keys: [Set<String>] = []
    let watcher = log.watcher { keys.append(Set($0.change!.keys.map(\.rawValue))) }
    try person.addObserver(watcher, forKeyPath: "lastName", options: options)
    person.lastName = nil
    let old: Set<String> = options.contains(.old) ? ["old"] : []
    let new: Set<String> = options.contains(.new) ? ["new"] : []
    var expected: [Set<String>] = []
    if options.contains(.initial) { expected.append(new.union(["kind"])) }
    if options.contains(.prior) { expected.append(old.union(["kind", "notificationIsPrior"])) }
    expected.append(old.union(new).union(["kind"]))
    expectEqual(keys, expected)
  }

  @Test(
    "D4: a nil value is present: a nil inside the change, an empty optional in the dictionary"
  )
  func nilIsPresent() throws {
    let person = Person()
    let log = Recorder()
    person.lastName = nil
    var changes: [KeyValueObservedChange<String?>] = []
    var dictionaries: [[KeyValueChangeKey: Any]] = []
    let token = person.observe(\.lastName, options: [.initial, .old, .new]) { changes.append($1) }
    try person.addObserver(
      log.watcher { dictionaries.append($0.change!) }, forKeyPath: "lastName",
      options: [.initial, .old, .new])
    person.lastName = nil
    token.invalidate()

    expectEqual(changes.map { $0.newValue == .some(nil) }, [true, true])
    expectEqual(changes.map { $0.oldValue == .some(nil) }, [false, true])
    expect(dictionaries.allSatisfy { isEmptyOptional($0[.newKey]) })
    expectEqual(dictionaries.map { $0[.oldKey] == nil }, [true, false])
    expect(isEmptyOptional(dictionaries[1][.oldKey]))
  }

  @Test("D4: values in dictionaries are the property's own, without an optional around them")
  func dictionaryValues() throws {
    let person = Person()
    let log = Recorder()
    var seen: [KeyValueChangeKey: Any] = [:]
    try person.addObserver(
      log.watcher { seen = $0.change! }, forKeyPath: "lastName", options: [.old, .new])
    person.lastName = "King"
    expect(type(of: seen[.oldKey]!) == String.self)
    expect(seen[.oldKey] as? String == "Lovelace" && seen[.newKey] as? String == "King")
    expect(seen[.kindKey] as? KeyValueChange == .setting)
    expect(seen[.indexesKey] == nil)
  }

  @Test("D4: the names of Apple's platforms are names of the same types")
  func foundationNames() throws {
    let account = Account()
    let options: NSKeyValueObservingOptions = [.old, .new]
    var changes: [NSKeyValueObservedChange<Double>] = []
    let token: NSKeyValueObservation = account.observe(\.balance, options: options) {
      changes.append($1)
    }
    account.balance = 1
    token.invalidate()
    expectEqual(changes.map(\.kind), [NSKeyValueChange.setting])
    expectEqual(NSKeyValueChangeKey.newKey, KeyValueChangeKey.newKey)
    expectEqual(changes.map(\.newValue), [1])
  }

  // MARK: Initial

  @Test(
    "C3: initial comes once before registration returns, with new if asked, never old"
  )
  func initial() {
    let account = Account()
    let log = Recorder()
    account.balance = 5
    for options: KeyValueObservingOptions in [
      .initial, [.initial, .new], [.initial, .old, .new, .prior],
    ] {
      log.observe(account, \.balance, options)
      log.note("registered")
    }
    expectEqual(
      log.take(), ["a", "registered", "a new 5.0", "registered", "a new 5.0", "registered"])
  }

  @Test("C3: the kind of an initial call is setting, and it is not prior")
  func initialKind() throws {
    let account = Account()
    var calls: [KeyValueObservedChange<Double>] = []
    let token = account.observe(\.balance, options: [.initial, .prior]) { calls.append($1) }
    token.invalidate()
    expectEqual(calls.map(\.kind), [.setting])
    expectEqual(calls.map(\.isPrior), [false])
    expect(calls.allSatisfy { $0.indexes == nil })
  }

  @Test("C3: a registration may be removed inside its initial call")
  func removedInInitial() throws {
    let account = Account()
    let log = Recorder()
    let token = account.observe(
      \.balance, options: [.initial, .new],
      withToken: { _, change, token in
        log.note("token \(change.newValue!)")
        token.invalidate()
      })
    var watcher: Watcher!
    watcher = log.watcher { _ in
      #expect(throws: Never.self) { try account.removeObserver(watcher, forKeyPath: "balance") }
    }
    try account.addObserver(watcher, forKeyPath: "balance", options: .initial)
    expect(!token.isValid)
    expect(!isSwapped(account))
    account.balance = 1
    expectEqual(log.take(), ["token 0.0", "w: balance"])
  }

  @Test("C3: a set in an initial call notifies the registration being made")
  func setInInitial() {
    let account = Account()
    let log = Recorder()
    log.observe(account, \.balance, [.initial, .old, .new]) { account, _ in
      if account.balance == 0 { account.balance = 3 }
    }
    expectEqual(log.take(), ["a new 0.0", "a old 0.0 new 3.0"])
  }

  // MARK: Order and filters

  @Test("D2: observers of a key are called in the order of registration, prior and final alike")
  func order() throws {
    let account = Account()
    let log = Recorder()
    for name in ["a", "b"] { log.observe(account, \.balance, .prior, as: name) }
    let watcher = log.watcher("c")
    try account.addObserver(watcher, forKeyPath: "balance", options: .prior)
    try log.observe(account, "balance", .prior, as: "d")
    account.balance = 1
    let names = ["a", "b", "c: balance", "d"]
    expectEqual(log.take(), names.map { "\($0) prior" } + names)

    try account.removeObserver(watcher, forKeyPath: "balance")
    try account.addObserver(watcher, forKeyPath: "balance", options: .prior)
    account.balance = 2
    expectEqual(
      log.take(),
      [
        "a prior", "b prior", "d prior", "c: balance prior", "a", "b", "d", "c: balance",
      ])
  }

  @Test("D2: also with many observers, some of them removed")
  func orderOfMany() {
    let account = Account()
    let log = Recorder()
    let tokens = (0..<200).map { log.observe(account, \.balance, as: "\($0)") }
    for index in stride(from: 0, to: 200, by: 3) { tokens[index].invalidate() }
    account.balance = 1
    expectEqual(log.take(), (0..<200).filter { $0 % 3 != 0 }.map { "\($0)" })
  }

  @Test("D3: distinct withholds changes whose value was delivered last, from its observer alone")
  func distinct() throws {
    let person = Person()
    let log = Recorder()
    log.observe(person, \.lastName, [.distinct, .new], as: "typed")
    try log.observe(person, "lastName", [.distinct], as: "string")
    log.observe(person, \.lastName, as: "all")
    for name in ["Lovelace", "King", "King", nil, nil] { person.lastName = name }
    expectEqual(
      log.take(),
      [
        "all", "typed new King", "string", "all", "all", "typed new nil", "string", "all", "all",
      ])
  }

  @Test("D3: values that can't be compared always count as different")
  func distinctIncomparable() {
    let ledger = Ledger()
    let log = Recorder()
    log.observe(ledger, \.pair, .distinct, as: "tuple")
    for _ in 0..<2 { ledger.pair = (1, "a") }
    expectEqual(log.take(), ["tuple", "tuple"])
  }

  @Test("D3: distinct compares objects by identity, and collections by contents")
  func distinctEquality() {
    let ledger = Ledger()
    let account = Account()
    let log = Recorder()
    log.observe(ledger, \.account, .distinct, as: "account")
    log.observe(ledger, \.entries, .distinct, as: "entries")
    for account in [nil, account, account, Account(), nil] { ledger.account = account }
    for entries in [[1, 2], [], [], [3]] { ledger.entries = entries }
    expectEqual(log.take(), ["account", "account", "account", "entries", "entries"])
  }

  @Test("D3: distinct compares the C objects of foreign ones, in a property of any type")
  func distinctForeign() {
    let (one, other) = (CAccount(), CAccount())
    let door = Door()
    let log = Recorder()
    log.observe(door, \.content, .distinct, as: "any")
    log.observe(door, \.foreign, .distinct, as: "foreign")
    for account in [one, one, other, other, one] {
      let wrapped = ForeignObject(OpaquePointer(account.pointer.object))
      (door.content, door.foreign) = (wrapped, wrapped)
    }
    expectEqual(log.take(), ["any", "foreign", "any", "foreign", "any", "foreign"])
  }

  private final class Badge: KVOObject {
    let number: Int
    init(_ number: Int) { self.number = number }
    override func isEqual(_ other: KVOObject) -> Bool { (other as? Badge)?.number == number }
    override func hash(into hasher: inout Hasher) { hasher.combine(number) }
  }

  private final class Door: KVOObject {
    @Observed var badge: Badge?
    @Observed var badges: [Badge] = []
    @Observed var carrier: AnyObject = Badge(0)
    @Observed var content: Any = 0
    @Observed var foreign: ForeignObject?
    @Observed var tint = Tint(number: 0, onCompare: nil)
    private weak var visitor: Badge?
    var guest: Badge? {
      get { visitor }
      set { withChange(of: \.guest) { visitor = newValue } }
    }

    override class func registerKeys() {
      declareKeys {
        $0.accessors("guest", \.guest, get: { $0.visitor }, set: { $0.visitor = $1 })
      }
    }
  }

  /// Runs code when two of its values are compared.
  private struct Tint: Equatable {
    let number: Int
    let onCompare: (() -> Void)?
    static func == (a: Tint, b: Tint) -> Bool {
      for tint in [a, b] { tint.onCompare?() }
      return a.number == b.number
    }
  }

  @Test("D3: an object equals itself alone, whatever its class says; elements are compared by ==")
  func distinctObjects() {
    let door = Door()
    let log = Recorder()
    log.observe(door, \.badge, .distinct, as: "badge")
    log.observe(door, \.badges, .distinct, as: "badges")
    let badge = Badge(1)
    for badge in [badge, badge, Badge(1), badge] { door.badge = badge }
    for badges in [[badge], [Badge(1)], [Badge(2)]] { door.badges = badges }
    expectEqual(log.take(), ["badge", "badge", "badge", "badges", "badges"])
  }

  @Test("D3: an object in a property of an existential type equals itself alone")
  func distinctExistentials() {
    let door = Door()
    let log = Recorder()
    log.observe(door, \.carrier, .distinct, as: "carrier")
    log.observe(door, \.content, .distinct, as: "content")
    let badge = Badge(1)
    for object in [badge, badge, Badge(1)] { door.carrier = object }
    for content in [badge, badge, 1, 1, badge, badge] as [Any] { door.content = content }
    expectEqual(log.take(), ["carrier", "carrier", "content", "content", "content"])
  }

  @Test("D3: an observer of distinct changes does not keep the object of a weak property alive")
  func distinctWeak() {
    let door = Door()
    let log = Recorder()
    var guest: Badge? = Badge(1)
    weak let seen = guest
    log.observe(door, \.guest, .distinct, as: "guest")
    door.guest = guest
    guest = nil
    expect(seen == nil)
    door.guest = nil
    expectEqual(log.take(), ["guest", "guest"])
  }

  @Test("D3: == may set the property that is compared, or end the registration")
  func distinctReentrancy() {
    let door = Door()
    let log = Recorder()
    let token = log.observe(door, \.tint, .distinct, as: "tint") { door, _ in
      log.note("\(door.tint.number)")
    }
    var compares = 0
    door.tint = Tint(number: 1) {
      compares += 1
      if compares == 1 { door.tint = Tint(number: 2, onCompare: nil) }
    }
    expectEqual(log.take(), ["tint", "2"])
    door.tint = Tint(number: 3) { token.invalidate() }
    expectEqual(log.take(), [])
  }

  @Test("D1: a notification comes on the thread of the change")
  func thread() {
    let account = Account()
    let log = Recorder()
    log.observe(account, \.balance) { _, _ in log.note("notified") }
    let shared = Shared((account, log))
    onThreads(1) { _ in
      let (account, log) = shared.value
      log.note("begin")
      account.balance = 1
      log.note("end")
    }
    expectEqual(log.take(), ["begin", "a", "notified", "end"])
  }
}

/// Whether there is a value that is an empty optional.
private func isEmptyOptional(_ value: Any?) -> Bool {
  guard let value else { return false }
  let mirror = Mirror(reflecting: value)
  return mirror.displayStyle == .optional && mirror.children.isEmpty
}
