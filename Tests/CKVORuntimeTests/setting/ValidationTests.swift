import CFixtures
import CKVORuntime
import Expectations
import TestSupport
import Testing

/// B10 and B11: validation, and several keys at once.
@Suite(.recording) struct ValidationTests {
  @Test("B10: a validator accepts or replaces the value, and nothing is set")
  func validators() {
    let crew = Crew()
    let ada = crew.make("Ada", age: 36)
    expectEqual(validate(ada.object, "age", .int(40)), Validated("KVO_OK", "40"))
    expectEqual(validate(ada.object, "age", .int(400)), Validated("KVO_OK", "150"))
    expectEqual(validate(ada.object, "name", .nil), Validated("KVO_OK", "anonymous"))
    expectEqual(readPath(ada.object, "age"), "36")
    expectEqual(readPath(ada.object, "name"), "Ada")
    crew.end()
  }

  @Test("B10: a refused value is unchanged, and the validator's error is passed on unchanged")
  func refusal() {
    let crew = Crew()
    let ada = crew.make("Ada")
    let refused = validate(ada.object, "name", .string(""))
    expectEqual(refused.value, "")
    expectEqual(refused.outcome?.status, .KVO_INVALID_ARGUMENT)
    expectEqual(refused.outcome?.className, "names")
    expectEqual(refused.outcome?.key, "of workers")
    expectEqual(refused.outcome?.message, "A worker has a name.")
    crew.end()
  }

  @Test("B10: a validator that returns only a status gets an error that names class and key")
  func statusAlone() {
    let crew = Crew()
    let ada = crew.make("Ada")
    expectEqual(
      validate(ada.object, "age", .int(-1)), Validated("KVO_VALIDATION_FAILED CWorker.age", "-1"))
    var value = kvo_value_int(-1)
    expectEqual(kvo_validate_value(ada.object, "age", &value, nil), .KVO_VALIDATION_FAILED)
    crew.end()
  }

  @Test("B10: the message of a validator that leaves out the error's status is kept")
  func messageAlone() {
    let crew = Crew()
    let refused = validate(crew.make("Ada").object, "age", .int(-101))
    expectEqual(refused.outcome?.status, .KVO_VALIDATION_FAILED)
    expectEqual(refused.outcome?.message, "Too young.")
    crew.end()
  }

  @Test("B10: without a validator every value is valid, even for an undefined key")
  func noValidator() {
    let crew = Crew()
    let ada = crew.make("Ada")
    expectEqual(validate(ada.object, "wage", .string("any")), Validated("KVO_OK", "any"))
    expectEqual(validate(ada.object, "nothing", .nil), Validated("KVO_OK", "nil"))
    crew.end()
  }

  @Test("B10: a key path is followed to its last object, whose class inherits validators")
  func alongPaths() {
    let crew = Crew()
    let (ada, sibyl) = (crew.make("Ada"), crew.makeOracle())
    worker_setBoss(ada, UnsafeMutableRawPointer(sibyl).assumingMemoryBound(to: worker.self))
    expectEqual(validate(ada.object, "boss.age", .int(200)), Validated("KVO_OK", "150"))
    expectEqual(
      validate(ada.object, "boss.age", .int(-2)).brief, "KVO_VALIDATION_FAILED COracle.age")
    expectEqual(validate(ada.object, "boss.boss.age", .int(-2)), Validated("KVO_OK", "-2"))
    expectEqual(validate(ada.object, "none.age", .int(1)).brief, "KVO_UNDEFINED_KEY CWorker.none")
    expectEqual(validate(ada.object, "age.x", .int(1)).brief, "KVO_INVALID_KEY_PATH CWorker.age.x")
    expectEqual(
      validate(ada.object, "staff.@sum.age", .int(1)).brief,
      "KVO_INVALID_OPERATOR CWorker.staff.@sum.age")
    expectEqual(validate(ada.object, "self", .int(1)).brief, "KVO_READ_ONLY CWorker.self")
    crew.end()
  }

  @Test("B10: a class may validate all its keys by one hook, and leave others to its superclass")
  func generalHook() {
    let crew = Crew()
    let sibyl = crew.makeOracle()
    let object = UnsafeMutableRawPointer(sibyl).assumingMemoryBound(to: kvo_object.self)
    expectEqual(validate(object, "fortune", .int(7)), Validated("KVO_OK", "13"))
    expectEqual(
      validate(object, "doom", .int(7)), Validated("KVO_VALIDATION_FAILED COracle.doom", "7"))
    expectEqual(validate(object, "age", .int(200)), Validated("KVO_OK", "150"))
    expectEqual(validate(object, "name", .string("")).outcome?.message, "A worker has a name.")
    crew.end()
  }

  @Test("B10: key-value coding never validates by itself")
  func neverByItself() {
    let crew = Crew()
    let ada = crew.make("Ada")
    expectEqual(set(ada.object, "age", .int(-5)).status, .KVO_OK)
    expectEqual(setPath(ada.object, "name", .string("")).status, .KVO_OK)
    expectEqual(ada.pointee.age, -5)
    crew.end()
  }
}

@Suite(.recording) struct SeveralKeysTests {
  private let keys = ["name", "boss", "age"]

  @Test("B11: several keys read and set again, and nil survives")
  func roundTrip() {
    let crew = Crew()
    let (ada, bob) = (crew.make("Ada", age: 36), crew.make("Bob", age: 20))
    worker_setBoss(bob, ada)
    var values = [kvo_value](repeating: kvo_value(), count: 3)
    let read = withKeys(keys) { keys in
      attempt { kvo_values_for_keys(ada.object, keys, 3, &values, $0) }
    }
    expectEqual(read.status, .KVO_OK)
    expectEqual(values.indices.map { text(&values[$0]) }, ["Ada", "nil", "36"])
    let set = withKeys(keys) { keys in
      attempt { kvo_set_values_for_keys(bob.object, keys, 3, &values, $0) }
    }
    expectEqual(set.status, .KVO_OK)
    expectEqual(keys.map { readKey(bob.object, $0) }, ["Ada", "nil", "36"])
    for index in values.indices { kvo_value_destroy(&values[index]) }
    crew.end()
  }

  @Test("B11: an error while reading gives no value at all")
  func readingFails() {
    let crew = Crew()
    let ada = crew.make("Ada", age: 36)
    var values = (0..<3).map { _ in kvo_value() }
    let outcome = withKeys(["name", "nothing", "age"]) { keys in
      attempt { kvo_values_for_keys(ada.object, keys, 3, &values, $0) }
    }
    expectEqual(brief(outcome), "KVO_UNDEFINED_KEY CWorker.nothing")
    expect(values.indices.allSatisfy { kvo_value_is_nil(&values[$0]) })
    crew.end()
  }

  @Test(
    "B11: an error found beforehand from the class sets nothing",
    arguments: [
      ("age", nil, "KVO_NIL_VALUE CWorker.age"),
      ("nothing", 1, "KVO_UNDEFINED_KEY CWorker.nothing"),
      ("name", 1, "KVO_TYPE_MISMATCH CWorker.name"),
    ] as [(String, Int64?, String)])
  func settingFails(_ key: String, _ number: Int64?, _ expected: String) {
    let crew = Crew()
    let ada = crew.make("Ada", age: 36, wage: 1)
    let log = Recorder()
    for key in ["name", "age", "wage"] { log.observe(ada.object, key, .KVO_NEW) }
    var values = [
      kvo_value_string("Eve"), number.map(kvo_value_int) ?? kvo_value(), kvo_value_int(9),
    ]
    let outcome = withKeys(["name", key, "wage"]) { keys in
      attempt { kvo_set_values_for_keys(ada.object, keys, 3, &values, $0) }
    }
    expectEqual(brief(outcome), expected)
    expectEqual(log.take(), [])
    expectEqual(readKey(ada.object, "name"), "Ada")
    for index in values.indices { kvo_value_destroy(&values[index]) }
    crew.end()
  }

  @Test("B11: an empty list of keys is no error")
  func none() {
    let crew = Crew()
    let ada = crew.make("Ada")
    var values = [kvo_value()]
    let outcome = withKeys([]) { keys in
      attempt { kvo_values_for_keys(ada.object, keys, 0, &values, $0) }
    }
    expectEqual(outcome.status, .KVO_OK)
    crew.end()
  }
}

/// The result of validating, and the value afterwards.
struct Validated: Equatable {
  let brief: String
  let value: String
  var outcome: Outcome?

  init(_ brief: String, _ value: String, _ outcome: Outcome? = nil) {
    self.brief = brief
    self.value = value
    self.outcome = outcome
  }

  static func == (a: Validated, b: Validated) -> Bool { a.brief == b.brief && a.value == b.value }
}

func validate(_ object: CObject, _ keyPath: String, _ value: Value) -> Validated {
  var proposed = kvo_value()
  value.withValue { if let source = $0 { kvo_value_copy(&proposed, source) } }
  defer { kvo_value_destroy(&proposed) }
  let outcome = attempt { kvo_validate_value(object, keyPath, &proposed, $0) }
  let status = String(cString: kvo_status_name(outcome.status))
  let words = outcome.status == .KVO_OK ? status : "\(status) \(outcome.className).\(outcome.key)"
  return Validated(words, text(&proposed), outcome)
}

func withKeys<R>(
  _ keys: [String], _ body: (UnsafePointer<UnsafePointer<CChar>>) -> R
) -> R {
  let interned = keys.map { kvo_key_intern($0)! } + [kvo_key_intern("")!]
  return interned.withUnsafeBufferPointer { body($0.baseAddress!) }
}
