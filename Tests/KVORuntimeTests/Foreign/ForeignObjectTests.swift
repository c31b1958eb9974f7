import CFixtures
import CKVORuntime
import Expectations
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

/// Objects of the C runtime, coded and observed from Swift: B2, C4, C5, C8, D4, D5 across languages.
@Suite(.leakFree) struct ForeignObjectTests {
  @Test("B2: the properties of a C object are read as Swift values")
  func reading() throws {
    let account = CAccount()
    account_setBalance(account.pointer, 2.5)
    account_setFrozen(account.pointer, true)
    account.pointer.pointee.number = 7
    account_setOwner(account.pointer, "Ada")
    let object = account.wrapped
    expectEqual(object.className, "CAccount")
    expect(try object.value(forKey: "balance") as? Double == 2.5)
    expect(try object.value(forKey: "frozen") as? Bool == true)
    expect(try object.value(forKey: "number") as? Int == 7)
    expect(try object.value(forKey: "owner") as? String == "Ada")
    expect(try object.value(forKey: "branch") == nil)
    account_setOwner(account.pointer, nil)
    expect(try object.value(forKey: "owner") == nil)
  }

  @Test("B2: a C object's properties are set to Swift values, which convert as numbers do")
  func setting() throws {
    let account = CAccount()
    let object = account.wrapped
    try object.setValue(3, forKey: "balance")
    try object.setValue(1, forKey: "frozen")
    try object.setValue("Grace", forKey: "owner")
    try object.setValue(Location(latitude: 1, longitude: 2), forKey: "place")
    expectEqual(account_balance(account.pointer), 3)
    expect(account_frozen(account.pointer))
    expectEqual(String(cString: account_owner(account.pointer)), "Grace")
    expectEqual(account_place(account.pointer).longitude, 2)
    try object.setValue(nil, forKey: "owner")
    expect(account_owner(account.pointer) == nil)
  }

  @Test("B2: a text with a NUL is refused for C, not truncated")
  func textForC() throws {
    let account = CAccount()
    try account.wrapped.setValue("Ada", forKey: "owner")
    #expect(
      throws: KeyValueError.typeMismatch(
        key: "owner", className: "CAccount", expected: "String",
        found: "String with a NUL, where a C string would end")
    ) { try account.wrapped.setValue("Grace\0Hopper", forKey: "owner") }
    expect(try account.wrapped.value(forKey: "owner") as? String == "Ada")
  }

  @Test("B2: an integer beyond 64 bits becomes C's nearest number")
  func wideIntegersForC() throws {
    let account = CAccount()
    try account.wrapped.setValue(Int128(1) << 70, forKey: "balance")
    expectEqual(account_balance(account.pointer), 0x1p70)
  }

  @Test("B2: C objects keep their identity across the bridge")
  func objects() throws {
    let account = CAccount()
    let deaths = Deaths()
    let branch = deaths.make()
    try account.wrapped.setValue(ForeignObject(OpaquePointer(branch)), forKey: "branch")
    kvo_object_release(branch.object)
    expectEqual(deaths.count, 0)
    expectEqual(account_branch(account.pointer), branch)
    let read = try require(try account.wrapped.value(forKey: "branch") as? ForeignObject)
    expectEqual(read.className, "CTracked")
    try read.setValue(9, forKey: "mark")
    expectEqual(tracked_mark(branch), 9)
    try account.wrapped.setValue(nil, forKey: "branch")
    withExtendedLifetime(read) { expectEqual(deaths.count, 0) }
  }

  @Test(
    "B2: Swift objects can be set to C properties, even as the first use of them"
  )
  func swiftObjects() async {
    await #expect(processExitsWith: .success) {
      let account = CAccount()
      let log = Log()
      weak var weakOwner: Account?
      try {
        let owner = Account()
        weakOwner = owner
        try account.wrapped.setValue(owner, forKey: "branch")
        expect(try account.wrapped.value(forKey: "branch") as? Account === owner)
      }()
      expect(weakOwner != nil)
      let token = try account.wrapped.observe("branch", as: Account?.self, options: .old) {
        log.note("\($1.oldValue! === weakOwner)")
      }
      try account.wrapped.setValue(nil, forKey: "branch")
      expectEqual(log.take(), ["true"])
      expect(weakOwner == nil)
      token.invalidate()
      withExtendedLifetime(account) {}
    }
  }

  static let errors: [(key: String, value: any Sendable, error: KeyValueError)] = [
    ("hat", 1, .undefinedKey(key: "hat", className: "CAccount")),
    ("number", 1, .readOnly(key: "number", className: "CAccount")),
    ("balance", Int?.none, .nilValue(key: "balance", className: "CAccount")),
  ]

  @Test("B2: errors of the C runtime are thrown as Swift's, with class and key", arguments: errors)
  func failures(_ key: String, _ value: any Sendable, _ error: KeyValueError) {
    let account = CAccount()
    expectEqual(keyValueError { try account.wrapped.setValue(value, forKey: key) }, error)
  }

  @Test("B2: a value of another type is a mismatch that names both, and stores nothing")
  func mismatch() {
    let account = CAccount()
    account_setBalance(account.pointer, 1)
    guard
      case .typeMismatch("balance", "CAccount", _, "String")? = keyValueError({
        try account.wrapped.setValue("3", forKey: "balance")
      })
    else {
      Issue.record("no mismatch")
      return
    }
    expectEqual(account_balance(account.pointer), 1)
  }

  // MARK: Observing

  @Test(
    "D4: a C object's setter calls Swift's handler with what it asked for",
    arguments: KeyValueObservingOptions.combinations)
  func observing(_ options: KeyValueObservingOptions) throws {
    let account = CAccount()
    let log = Log()
    account_setBalance(account.pointer, 1)
    let token = try account.wrapped.observe("balance", as: Double.self, options: options) {
      object, change in
      log.note((["\(object.className)"] + change.words).joined(separator: " "))
    }
    account_setBalance(account.pointer, 2)
    token.invalidate()
    account_setBalance(account.pointer, 3)
    let old = options.contains(.old) ? " old 1.0" : ""
    let new = options.contains(.new) ? " new " : ""
    expectEqual(
      log.take(),
      (options.contains(.initial) ? ["CAccount" + (new.isEmpty ? "" : new + "1.0")] : [])
        + (options.contains(.prior) ? ["CAccount prior" + old] : [])
        + ["CAccount" + old + (new.isEmpty ? "" : new + "2.0")])
    expectEqual(kvo_isa(account.pointer.object), account_class())
  }

  @Test("D5: values have the requested type: numbers converted, text, structs, objects")
  func types() throws {
    let account = CAccount()
    let log = Log()
    let object = account.wrapped
    let tokens = [
      try object.observe("balance", as: Int.self, options: .new) { log.note("\($1.newValue!)") },
      try object.observe("owner", as: String?.self, options: [.old, .new]) {
        log.note("\($1.words)")
      },
      try object.observe("frozen", as: Bool.self, options: .new) { log.note("\($1.newValue!)") },
      try object.observe("place", as: Location.self, options: .new) {
        log.note("\($1.newValue!.longitude)")
      },
    ]
    account_setBalance(account.pointer, 2.9)
    account_setOwner(account.pointer, "Ada")
    account_setOwner(account.pointer, nil)
    account_setFrozen(account.pointer, true)
    account_setPlace(account.pointer, location(latitude: 3, longitude: 4))
    expectEqual(
      log.take(),
      [
        "2", #"["old", "nil", "new", "Ada"]"#, #"["old", "Ada", "new", "nil"]"#, "true", "4.0",
      ])
    for token in tokens { token.invalidate() }
  }

  @Test(
    "D5: a C struct becomes a Swift type with the same scalars at the same offsets only"
  )
  func layouts() throws {
    struct Odd {
      var a, b: Int32
      var c: Float
      var d: Bool
    }
    struct Nested {
      struct Inner { var value: Double }
      var first: Inner
      var second: (Double, Void)
    }
    let account = CAccount()
    let object = account.wrapped
    account_setPlace(account.pointer, location(latitude: 3, longitude: 4))
    expectEqual(try object.value(forKeyPath: "place", as: Location.self).longitude, 4)
    expectEqual(try object.value(forKeyPath: "place", as: Nested.self).second.0, 4)
    expect(try object.value(forKeyPath: "place", as: (Double, Double).self) == (3, 4))
    func isRefused<Value>(_ type: Value.Type) -> Bool {
      keyValueError { _ = try object.value(forKeyPath: "place", as: type) } != nil
    }
    expect(isRefused(Double?.self) && isRefused(Odd.self) && isRefused((Int, Int).self))
    expect(
      isRefused([Double].self) && isRefused(Double.self) && isRefused((Float, Float, Double).self))
    #expect(throws: KeyValueError.self) {
      try object.setValue(Odd(a: 1, b: 2, c: 3, d: true), forKey: "place")
    }
    let bytes = try require(try object.value(forKey: "place") as? [UInt8])
    account_setPlace(account.pointer, location(latitude: 0, longitude: 0))
    try object.setValue(bytes, forKey: "place")
    expectEqual(account_place(account.pointer).longitude, 4)
    #expect(throws: KeyValueError.self) { try object.setValue(bytes + [0], forKey: "place") }
  }

  #if arch(x86_64)
    @Test("A3 D5: a long double of a C object is exact as a Float80, read, observed, bound and set")
    func longDouble() throws {
      let created = kvo_object_create(scalars_class())!
      let pointer = UnsafeMutableRawPointer(created).assumingMemoryBound(to: scalars.self)
      let object = ForeignObject(OpaquePointer(created))
      defer { kvo_object_release(created) }
      final class Model: Tracked { @Observed var extended: Float80 = 0 }
      let (third, model) = (1 / Float80(3), Model())
      var seen: [Float80?] = []
      let token = try object.observe("extended", as: Float80.self, options: [.old, .new]) {
        seen += [$1.oldValue, $1.newValue]
      }
      let binding = try model.bind(\.extended, to: object, "extended")
      scalars_setExtended(pointer, third)
      expectEqual(seen, [0, third])
      expectEqual(model.extended, third)
      expectEqual(try object.value(forKeyPath: "extended", as: Float80.self), third)
      expectEqual(try object.value(forKey: "extended") as? Double, Double(third))
      try object.setValue(2 * third, forKey: "extended")
      expectEqual(scalars_extended(pointer), 2 * third)
      try object.setValue(third, forKey: "real")
      expectEqual(scalars_real(pointer), Double(third))
      token.invalidate()
      withExtendedLifetime(binding) {}
    }

    @Test("A3 D5: so is one that becomes an optional, an element, or a Swift object's value")
    func longDoubleInside() throws {
      final class Model: Tracked { @Observed var extended: Float80? }
      let (third, model) = (1 / Float80(3), Model())
      let created = kvo_object_create(scalars_class())!
      let object = ForeignObject(OpaquePointer(created))
      kvo_object_release(created)
      let binding = try model.bind(\.extended, to: object, "extended")
      try object.setValue(third, forKey: "extended")
      expectEqual(model.extended, third)
      expectEqual(try object.value(forKeyPath: "extended", as: Float80?.self), third)
      withExtendedLifetime(binding) {}

      let shelf = kvo_object_create(shelf_class([.SHELF_IVAR]))!
      let holder = ForeignObject(OpaquePointer(shelf))
      kvo_object_release(shelf)
      try holder.setValue([third, 1], forKey: "items")
      expectEqual(try holder.value(forKeyPath: "items", as: [Float80].self), [third, 1])
      expectEqual(try holder.value(forKeyPath: "items", as: [Float80?].self), [third, 1])
      expectEqual(try holder.value(forKeyPath: "items", as: Set<Float80>.self), [third, 1])
      expectEqual(try holder.value(forKey: "items") as? [Double], [Double(third), 1])

      var (value, error) = (kvo_value(), kvo_error())
      expectEqual(kvo_value_for_key(created, "extended", &value, &error), .KVO_OK)
      model.extended = nil
      expectEqual(kvo_set_value_for_key(header(of: model), "extended", &value, &error), .KVO_OK)
      expectEqual(model.extended, third)
      kvo_value_destroy(&value)
    }
  #endif

  private final class Model: Tracked {
    @Observed var level = 1
    @Observed var account: ForeignObject?
    var double: Int { level * 2 }
    override class func registerKeys() { declareKeys { $0.computed("double", \.double) } }
  }

  @Test(
    "D5 F5: C callbacks observe a Swift object: its keys, computed ones, and paths on into C")
  func callbacks() throws {
    let model = Model()
    let account = CAccount()
    model.account = account.wrapped
    let notified = Log()
    let callback: kvo_callback = { context, object, key, change in
      let log = Unmanaged<Log>.fromOpaque(context!).takeUnretainedValue()
      let new = kvo_change_get_new(change).map { kvo_value_get_double($0) }
      log.note("\(String(cString: key)) \(new ?? -1)")
    }
    var handles: [OpaquePointer?] = [nil, nil, nil]
    for (index, key) in ["level", "double", "account.balance"].enumerated() {
      let status = kvo_add_callback(
        header(of: model), key, .KVO_NEW, callback, Unmanaged.passUnretained(notified).toOpaque(),
        nil,
        &handles[index], nil)
      expectEqual(status, .KVO_OK)
    }
    model.level = 3
    account_setBalance(account.pointer, 7)
    expectEqual(notified.take(), ["level 3.0", "double 6.0", "account.balance 7.0"])
    for handle in handles { kvo_handle_release(handle) }
    model.level = 4
    expectEqual(notified.take(), [])
  }

  @Test("D6: a set from Swift by key is one change, delivered to Swift and C alike")
  func setFromSwift() throws {
    let account = CAccount()
    let log = Log()
    let token = try account.wrapped.observe(
      "balance", as: Double.self, options: [.prior, .old, .new]
    ) {
      log.note($1.words.joined(separator: " "))
    }
    try account.wrapped.setValue(5, forKey: "balance")
    expectEqual(log.take(), ["prior old 0.0", "old 0.0 new 5.0"])
    token.invalidate()
  }

  @Test("C8: an unknown key and an impossible type are errors, and nothing is registered")
  func registrationErrors() {
    let account = CAccount()
    expectEqual(
      keyValueError { _ = try account.wrapped.observe("hat", as: Int.self) { _, _ in } },
      .undefinedKey(key: "hat", className: "CAccount"))
    guard
      case .typeMismatch("balance", "CAccount", _, "String")? = keyValueError({
        _ = try account.wrapped.observe("balance", as: String.self) { _, _ in }
      })
    else {
      Issue.record("no mismatch")
      return
    }
    expectEqual(kvo_isa(account.pointer.object), account_class())
    expect(account.wrapped.observationInfo.registrations.isEmpty)
    expectEqual(
      keyValueError { try account.wrapped.setValue(5, forKey: "owner") },
      .typeMismatch(key: "owner", className: "CAccount", expected: "String", found: "Int"))
  }

  @Test("C8: a value of another type that comes after registration is reported, and left out")
  func laterMismatch() async throws {
    let result = try await #require(
      processExitsWith: .success, observing: [\.standardErrorContent]
    ) {
      let account = CAccount()
      let seen = Locked<[Int?]>([])
      let token = try account.wrapped.observe("owner", as: Int.self, options: .new) { _, change in
        seen.withLock { $0.append(change.newValue) }
      }
      for name in ["Ada", "Eve"] { try account.wrapped.setValue(name, forKey: "owner") }
      precondition(seen.withLock { $0 } == [nil, nil])
      token.invalidate()
    }
    let report =
      "\"owner\" of CAccount is observed as Int, and is String: its change is delivered without that value."
    expectEqual(result.errors.ranges(of: report).count, 1)
  }

  @Test("J1: a C object's registrations are listed")
  func introspection() throws {
    let account = CAccount()
    let token = try account.wrapped.observe("balance", as: Double.self, options: .old) { _, _ in }
    let registrations = account.wrapped.observationInfo.registrations
    expectEqual(registrations.map(\.keyPath), ["balance"])
    expectEqual(registrations.map(\.options), [.old])
    expect(account.wrapped.observationInfo != nil)
    token.invalidate()
    expect(account.wrapped.observationInfo.registrations.isEmpty)
    expect(account.wrapped.observationInfo == nil)
  }

  // MARK: Lifetimes

  @Test("C4: a wrapper of a C object retains it; several may wrap one")
  func wrapperRetains() {
    let deaths = Deaths()
    let object = deaths.make()
    var first: ForeignObject? = ForeignObject(OpaquePointer(object))
    var second: ForeignObject? = ForeignObject(OpaquePointer(object))
    kvo_object_release(object.object)
    expectEqual(deaths.count, 0)
    expectEqual(first?.className, second?.className)
    first = nil
    expectEqual(deaths.count, 0)
    expect(second != nil)
    second = nil
    expectEqual(deaths.count, 1)
    withExtendedLifetime(first) {}
  }

  @Test(
    "C4: a token retains neither the C object nor its wrapper, and is inert afterwards")
  func tokenKeepsNothing() throws {
    let deaths = Deaths()
    let object = deaths.make()
    let log = Log()
    var wrapped: ForeignObject? = ForeignObject(OpaquePointer(object))
    weak let weakWrapped = wrapped
    let token = try wrapped!.observe("mark", as: Int.self) {
      [life = Life(of: ForeignObject.self)] _, _ in
      life.goesOn()
      log.note("notified")
    }
    kvo_object_release(object.object)
    expect(token.isValid)
    wrapped = nil
    expect(weakWrapped == nil)
    expectEqual(deaths.count, 1)
    expect(!token.isValid)
    token.invalidate()
    expectEqual(log.take(), [])
  }

  @Test("C4: a registration outlives the wrapper through which it was made")
  func outlivesWrapper() throws {
    let account = CAccount()
    let log = Log()
    var wrapped: ForeignObject? = ForeignObject(OpaquePointer(account.pointer))
    let token = try wrapped!.observe("balance", as: Double.self, options: .new) { object, change in
      log.note("\(object.className) \(change.newValue!)")
    }
    wrapped = nil
    account_setBalance(account.pointer, 1)
    expectEqual(log.take(), ["CAccount 1.0"])
    token.invalidate()
    account_setBalance(account.pointer, 2)
    expectEqual(log.take(), [])
    withExtendedLifetime(wrapped) {}
  }

  @Test(
    "C5: the handler is released when its token is dropped, and when the C object dies",
    arguments: [true, false])
  func handlerReleased(_ byDeath: Bool) throws {
    let deaths = Deaths()
    let object = deaths.make()
    weak var weakLife: Life?
    var token: KeyValueObservation? = try {
      let life = Life(of: ForeignObject.self)
      weakLife = life
      let wrapped = ForeignObject(OpaquePointer(object))
      return try wrapped.observe("mark", as: Int.self) { _, _ in life.goesOn() }
    }()
    tracked_setMark(object, 1)
    expect(weakLife != nil)
    if byDeath { kvo_object_release(object.object) } else { token = nil }
    expect(weakLife == nil)
    if !byDeath { kvo_object_release(object.object) }
    expectEqual(deaths.count, 1)
    withExtendedLifetime(token) {}
  }

  @Test("D7: a handler may drop the last reference to the C object")
  func droppedInCall() throws {
    let deaths = Deaths()
    let object = deaths.make()
    let log = Log()
    let token = try ForeignObject(OpaquePointer(object)).observe(
      "mark", as: Int.self, options: .new
    ) {
      kvo_object_release(object.object)
      log.note("\($1.newValue!) of \($0.className)")
    }
    tracked_setMark(object, 4)
    expectEqual(log.take(), ["4 of CTracked"])
    expectEqual(deaths.count, 1)
    expect(!token.isValid)
  }

  @Test(
    "A1: a Swift object observing a C object gets its changes with a ForeignObject"
  )
  func swiftObserverOfC() throws {
    let account = CAccount()
    let log = Recorder()
    let watcher = log.watcher {
      log.note(($0.object as? ForeignObject)?.className ?? "something else")
    }
    // The C runtime learns about Swift objects when one of them first uses it.
    _ = watcher.observationInfo
    let status = kvo_add_observer(
      account.pointer.object, header(of: watcher), "balance", [.KVO_OLD, .KVO_NEW], nil, nil)
    expectEqual(status, .KVO_OK)
    account_setBalance(account.pointer, 1)
    expectEqual(log.take(), ["w: balance old 0.0 new 1.0", "CAccount"])
  }
}

/// A Swift struct with the layout of C's `location`.
private struct Location {
  var latitude: Double
  var longitude: Double
}
