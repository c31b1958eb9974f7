import CFixtures
import CKVORuntime
import Expectations
import TestSupport
import Testing

extension worker: CInstance { static var cClass: CClass { worker_class() } }
extension oracle: CInstance { static var cClass: CClass { oracle_class() } }

typealias Worker = UnsafeMutablePointer<worker>

/// Workers that die with this object. A leak of one fails the test at `expectDeaths`.
final class Crew {
  private let deaths = Deaths()
  private var made: [CObject] = []

  func make(_ name: String? = nil, age: Int32 = 0, wage: Double = 0) -> Worker {
    let worker = keep(CKVORuntimeTests.make(worker.self))
    if let name { worker_setName(worker, name) }
    worker_setAge(worker, age)
    worker_setWage(worker, wage)
    return worker
  }

  func makeOracle(age: Int32 = 0) -> UnsafeMutablePointer<oracle> {
    let oracle = CKVORuntimeTests.make(oracle.self)
    oracle.pointee.worker.age = age
    keep(UnsafeMutableRawPointer(oracle).assumingMemoryBound(to: worker.self))
    return oracle
  }

  @discardableResult private func keep(_ worker: Worker) -> Worker {
    worker.pointee.tracked.deaths = deaths.counter
    made.append(worker.object)
    return worker
  }

  /// Releases all workers, and checks that nothing else retains them.
  func end() {
    for object in made { kvo_object_release(object) }
    expectEqual(deaths.count, made.count)
  }
}

extension UnsafeMutablePointer<worker> {
  /// Gives the worker a staff.
  func lead(_ staff: [CObject], as kind: kvo_collection_kind = .KVO_ARRAY) {
    withCollection(kind, of: staff) { worker_setStaff(self, $0) }
  }
}

// MARK: Collections

/// A stored collection of values, valid only during `body`.
func withCollection<R>(
  _ kind: kvo_collection_kind, _ values: [Value], _ body: (OpaquePointer) -> R
) -> R {
  let elements = values.map { value in
    value.withValue { source in
      var copy = kvo_value()
      if let source { kvo_value_copy(&copy, source) }
      return copy
    }
  }
  return withCollection(kind, elements, body)
}

func withCollection<R>(
  _ kind: kvo_collection_kind, of objects: [CObject], _ body: (OpaquePointer) -> R
) -> R {
  withCollection(kind, objects.map { kvo_value_object($0) }, body)
}

/// Destroys the elements.
func withCollection<R>(
  _ kind: kvo_collection_kind, _ elements: [kvo_value], _ body: (OpaquePointer) -> R
) -> R {
  var elements = elements
  let collection = kvo_collection_create(kind, elements, elements.count, nil)!
  for index in elements.indices { kvo_value_destroy(&elements[index]) }
  defer { kvo_object_release(CObject(collection)) }
  return body(collection)
}

/// A collection's value in the form that tests compare: `[1, 2]`, a set's elements sorted in `{1, 2}`, an ordered
/// set's in `<1, 2>`. Any other value as in `described`.
func text(_ value: UnsafePointer<kvo_value>) -> String {
  var kind = kvo_collection_kind.KVO_ARRAY
  guard kvo_value_is_collection(value, &kind) else { return described(value)! }
  let elements = (0..<kvo_value_count(value)).map { index in
    var element = kvo_value()
    guard kvo_value_element(value, index, &element) == .KVO_OK else { return "?" }
    defer { kvo_value_destroy(&element) }
    return text(&element)
  }
  switch kind {
  case .KVO_ARRAY: return "[\(elements.joined(separator: ", "))]"
  case .KVO_SET: return "{\(elements.sorted().joined(separator: ", "))}"
  case .KVO_ORDERED_SET: return "<\(elements.joined(separator: ", "))>"
  }
}

// MARK: Key paths

/// The result of reading: the value's text, or the status with class and key.
func outcomeText(
  _ read: (UnsafeMutablePointer<kvo_value>, UnsafeMutablePointer<kvo_error>) -> kvo_status
) -> String {
  var value = kvo_value()
  let outcome = attempt { read(&value, $0) }
  defer { kvo_value_destroy(&value) }
  guard outcome.status == .KVO_OK else {
    expect(kvo_value_is_nil(&value))
    return brief(outcome)
  }
  return text(&value)
}

/// The status with class and key. The message must name both too.
func brief(_ outcome: Outcome) -> String {
  guard outcome.status != .KVO_OK else { return "\(outcome)" }
  expect(outcome.message.contains(outcome.className) && outcome.message.contains(outcome.key))
  return "\(String(cString: kvo_status_name(outcome.status))) \(outcome.className).\(outcome.key)"
}

func readPath(_ object: CObject, _ keyPath: String) -> String {
  outcomeText { kvo_value_for_key_path(object, keyPath, $0, $1) }
}

func readPath(of values: [Value], as kind: kvo_collection_kind = .KVO_ARRAY, _ keyPath: String)
  -> String
{
  withCollection(kind, values) { readPath(CObject($0), keyPath) }
}

func readKey(_ object: CObject, _ key: String) -> String {
  outcomeText { kvo_value_for_key(object, key, $0, $1) }
}

@discardableResult
func setPath(_ object: CObject, _ keyPath: String, _ value: Value) -> Outcome {
  attempt { error in value.withValue { kvo_set_value_for_key_path(object, keyPath, $0, error) } }
}
