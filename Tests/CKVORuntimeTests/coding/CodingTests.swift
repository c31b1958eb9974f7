import CFixtures
import CKVORuntime
import Expectations
import TestSupport
import Testing

/// Section B for plain keys: which accessor or ivar serves a key, and the handling of nil.
@Suite(.recording) struct CodingTests {
  /// The candidates of a search, in search order.
  private static let getters: [search_candidates] = [
    .SEARCH_GET_VALUE, .SEARCH_VALUE, .SEARCH_IS_VALUE, .SEARCH_LOW_VALUE,
    .SEARCH_IVAR_LOW_VALUE, .SEARCH_IVAR_LOW_IS_VALUE, .SEARCH_IVAR_VALUE, .SEARCH_IVAR_IS_VALUE,
  ]
  private static let setters: [search_candidates] = [
    .SEARCH_SET_VALUE, .SEARCH_LOW_SET_VALUE,
    .SEARCH_IVAR_LOW_VALUE, .SEARCH_IVAR_LOW_IS_VALUE, .SEARCH_IVAR_VALUE, .SEARCH_IVAR_IS_VALUE,
  ]

  @Test("plain getters and ivars are searched in the order of key-value coding", arguments: 0..<8)
  func getterSearch(_ first: Int) {
    for candidates in [Self.getters[first...].union, Self.getters[first]] {
      let object = makeSearch(candidates)
      defer { kvo_object_release(object) }
      expectEqual(read(object, "value"), "\(Self.getters[first].bit).0")
    }
  }

  @Test("B2: setters and ivars are searched in the order of key-value coding", arguments: 0..<6)
  func setterSearch(_ first: Int) {
    for candidates in [Self.setters[first...].union, Self.setters[first]] {
      let object = makeSearch(candidates)
      defer { kvo_object_release(object) }
      expectEqual(set(object, "value", .double(77)).status, .KVO_OK)
      expectEqual(fields(object).firstIndex(of: 77), Self.setters[first].bit)
      expectEqual(fields(object).count { $0 == 77 }, 1)
    }
  }

  @Test("an accessor added to a class in use is found at the next call")
  func addedAccessor() {
    let object = makeSearch([.SEARCH_IVAR_LOW_IS_VALUE, .SEARCH_IVAR_IS_VALUE])
    defer { kvo_object_release(object) }
    expectEqual(read(object, "value"), "5.0")
    search_class_add(kvo_class_of(object), [.SEARCH_GET_VALUE, .SEARCH_SET_VALUE])
    expectEqual(read(object, "value"), "0.0")
    expectEqual(set(object, "value", .double(5)).status, .KVO_OK)
    expectEqual(fields(object)[search_candidates.SEARCH_SET_VALUE.bit], 5)
  }

  @Test("B2: only an ASCII letter is upper-cased in an accessor's name")
  func asciiUpperCase() {
    let object = make(spelled.self)
    defer { object.release() }
    let log = Recorder()
    log.observe(object.object, "änderung", [.KVO_OLD, .KVO_NEW])
    expectEqual(set(object.object, "änderung", .int(7)).status, .KVO_OK)
    expectEqual(read(object.object, "änderung"), "7")
    expectEqual(log.take(), ["a: änderung old 0 new 7"])
  }

  @Test("a getter that returns void is no getter")
  func voidGetter() {
    let object = make(spelled.self)
    defer { object.release() }
    expectEqual(read(object.object, "hollow"), "KVO_UNDEFINED_KEY")
  }

  @Test("B2: a class that hides its ivars has no keys for them")
  func noDirectAccess() {
    let object = make(sealed.self)
    defer { object.release() }
    expectEqual(read(object.object, "secret"), "KVO_UNDEFINED_KEY")
    expectEqual(set(object.object, "secret", .double(1)).status, .KVO_UNDEFINED_KEY)
    expectEqual(object.pointee.secret, 0)
    expectEqual(set(object.object, "counter", .int(3)).status, .KVO_OK)
  }

  @Test("B2: ivars without accessors are read and written, each in its own type")
  func ivars() {
    let object = make(plain.self)
    defer { object.release() }
    expectEqual(set(object.object, "secret", .int(3)).status, .KVO_OK)
    expectEqual(set(object.object, "open", .bool(true)).status, .KVO_OK)
    object.pointee.place = (1, 2)
    expectEqual(object.pointee.secret, 3)
    expect(object.pointee.open)
    expectEqual(
      ["secret", "open", "place", "partner"].map { read(object.object, $0) },
      ["3.0", "true", "(1.0, 2.0)", "nil"])
  }

  @Test("B2: an object stored in an ivar by key is retained, the old one released")
  func objectIvar() {
    let object = make(plain.self)
    let deaths = Deaths()
    defer { object.release() }
    let first = deaths.make(mark: 1)
    let second = deaths.make(mark: 2)
    for partner in [first, second] {
      var value = kvo_value_object(partner.object)
      expectEqual(kvo_set_value_for_key(object.object, "partner", &value, nil), .KVO_OK)
      kvo_value_destroy(&value)
      partner.release()
    }
    expectEqual(deaths.count, 1)
    expectEqual(read(object.object, "partner"), "#2")
    expectEqual(set(object.object, "partner", .nil).status, .KVO_OK)
    expectEqual(deaths.count, 2)
  }

  @Test("B2: setting a read-only key is an error and changes nothing")
  func readOnly() {
    let object = make(account.self)
    defer { object.release() }
    object.pointee.number = 12
    let outcome = set(object.object, "number", .int(3))
    expectEqual(outcome.status, .KVO_READ_ONLY)
    expectEqual(outcome.className, "CAccount")
    expectEqual(outcome.key, "number")
    expectEqual(account_number(object), 12)
  }

  @Test("B2: an unknown key goes to the hooks for undefined keys")
  func undefinedKeyHooks() {
    let object = make(forgiving.self)
    defer { object.release() }
    expectEqual(set(object.object, "ghost", .double(4)).status, .KVO_OK)
    expectEqual(read(object.object, "ghost"), "4.0")
    for outcome in [
      set(object.object, "spectre", .double(4)),
      attempt { error in
        var value = kvo_value()
        return kvo_value_for_key(object.object, "spectre", &value, error)
      },
    ] {
      expectEqual(outcome.status, .KVO_UNDEFINED_KEY)
      expectEqual(outcome.className, "CForgiving")
      expectEqual(outcome.key, "spectre")
    }
  }

  @Test("B2: reading through a copied string gives a value that outlives the property")
  func readValueIsOwned() {
    let object = make(account.self)
    defer { object.release() }
    account_setOwner(object, "Ada")
    var value = kvo_value()
    expectEqual(kvo_value_for_key(object.object, "owner", &value, nil), .KVO_OK)
    account_setOwner(object, "Grace")
    expectEqual(described(&value), "Ada")
    kvo_value_destroy(&value)
    expect(kvo_value_is_nil(&value))
  }

  // MARK: Nil

  @Test(
    "B3: nil for a scalar or struct is an error, in every form of nil",
    arguments: [Value.nil, .missing])
  func nilForScalar(_ nothing: Value) {
    let object = make(scalars.self)
    defer { object.release() }
    let log = Recorder()
    for key in scalarKeys + ["colour"] {
      let before = read(object.object, key)
      log.observe(object.object, key)
      let outcome = set(object.object, key, nothing)
      expectEqual(outcome.status, .KVO_NIL_VALUE, "\(key)")
      expectEqual(outcome.className, "CScalars")
      expectEqual(outcome.key, key)
      expectEqual(read(object.object, key), before)
    }
    expectEqual(log.take(), [])
  }

  @Test("B3: nil for a scalar ivar is an error too")
  func nilForScalarIvar() {
    let object = make(plain.self)
    defer { object.release() }
    object.pointee.secret = 9
    expectEqual(set(object.object, "secret", .nil).status, .KVO_NIL_VALUE)
    expectEqual(set(object.object, "place", .nil).status, .KVO_NIL_VALUE)
    expectEqual(object.pointee.secret, 9)
  }

  @Test("B3: nil for a string or object stores NULL", arguments: [Value.nil, .missing])
  func nilForObject(_ nothing: Value) {
    let object = make(scalars.self)
    let other = make(tracked.self)
    defer {
      object.release()
      other.release()
    }
    scalars_setText(object, "text")
    scalars_setObject_(object, other)
    for key in ["text", "object_"] {
      expectEqual(set(object.object, key, nothing).status, .KVO_OK)
      expectEqual(read(object.object, key), "nil")
    }
  }

  @Test("B3: an override takes its own keys and passes the others to super")
  func nilHook() {
    let object = make(forgiving.self)
    defer { object.release() }
    let log = Recorder()
    log.observe(object.object, "level", .KVO_NEW)
    expectEqual(set(object.object, "level", .nil).status, .KVO_OK)
    expectEqual(log.take(), ["a: level new -1.0"])
    let outcome = set(object.object, "other", .nil)
    expectEqual(outcome.status, .KVO_NIL_VALUE)
    expectEqual(outcome.key, "other")
  }

  // MARK: Notifying by key

  @Test("E2: setting a key that has a setter notifies once")
  func notifiesOnce() {
    let object = make(account.self)
    defer { object.release() }
    let log = Recorder()
    log.observe(object.object, "balance", [.KVO_OLD, .KVO_NEW, .KVO_PRIOR])
    set(object.object, "balance", .double(3))
    expectEqual(log.take(), ["a: prior balance old 0.0", "a: balance old 0.0 new 3.0"])
  }

  @Test("E2: setting a key that has only an ivar notifies")
  func ivarNotifies() {
    let object = make(plain.self)
    defer { object.release() }
    let log = Recorder()
    for key in ["secret", "open"] {
      log.observe(object.object, key, [.KVO_OLD, .KVO_NEW, .KVO_PRIOR])
    }
    set(object.object, "secret", .double(3))
    set(object.object, "open", .bool(true))
    expectEqual(
      log.take(),
      [
        "a: prior secret old 0.0", "a: secret old 0.0 new 3.0",
        "a: prior open old false", "a: open old false new true",
      ])
  }

  @Test("E2: setting a key through _set<Key>: notifies once")
  func privateSetterNotifies() {
    let object = makeSearch([.SEARCH_LOW_SET_VALUE, .SEARCH_LOW_VALUE])
    defer { kvo_object_release(object) }
    let log = Recorder()
    log.observe(object, "value")
    set(object, "value", .double(3))
    expectEqual(log.take(), ["a: value"])
  }

  @Test("E2: a failed set by key notifies no observer")
  func failureIsSilent() {
    let object = make(account.self)
    defer { object.release() }
    let log = Recorder()
    log.observe(object.object, "balance", .KVO_PRIOR)
    log.observe(object.object, "number", .KVO_PRIOR)
    set(object.object, "balance", .string("much"))
    set(object.object, "balance", .nil)
    set(object.object, "number", .int(1))
    expectEqual(log.take(), [])
  }
}

let scalarKeys = [
  "flag", "letter", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
  "longest", "ulongest", "single", "real", "extended",
]

extension search_candidates {
  fileprivate var bit: Int { rawValue.trailingZeroBitCount }
}

extension Sequence<search_candidates> {
  fileprivate var union: search_candidates { reduce([]) { $0.union($1) } }
}

/// An object with these candidates, whose field n holds n.
func makeSearch(_ candidates: search_candidates) -> CObject {
  let object = make(search_class(candidates))
  UnsafeMutableRawPointer(object).assumingMemoryBound(to: search.self).pointee.fields =
    (0, 1, 2, 3, 4, 5, 6, 7, 8, 9)
  return object
}

private func fields(_ object: CObject) -> [Double] {
  let values = UnsafeMutableRawPointer(object).assumingMemoryBound(to: search.self).pointee.fields
  return withUnsafeBytes(of: values) { Array($0.bindMemory(to: Double.self)) }
}
