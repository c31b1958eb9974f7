import CFixtures
import CKVORuntime
import Expectations
import TestSupport
import Testing

/// B1, B2, B4: the method or ivar that serves a key, compared with a naive search.
@Suite(.recording) struct SearchTests {
  /// All single parts, all pairs, and a sample of the other combinations.
  private static let combinations: [answers_parts] = {
    let readers = answersReaders
    var found = Set(readers.map(\.rawValue))
    for first in readers { for second in readers { found.insert(first.union(second).rawValue) } }
    var random = Random(seed: 7)
    while found.count < 1500 { found.insert(UInt32(random.next(1 << readers.count))) }
    return found.sorted().map { answers_parts(rawValue: $0) }.filter(\.isPossible)
  }()

  @Test(
    "B1: for every combination of methods, collection accessors and ivars the right one is read")
  func getters() {
    var wrong: [String] = []
    for parts in Self.combinations {
      let object = makeAnswers(parts)
      defer { kvo_object_release(object) }
      let answer = readKey(object, "value")
      let expected = naiveAnswer(parts)
      if answer != expected { wrong.append("\(parts.names): \(answer), not \(expected)") }
    }
    expect(Self.combinations.count > 1000)
    expect(wrong.isEmpty, "\(wrong.prefix(5))")
  }

  @Test("B2: for every combination of setters and ivars the right one is set, and nothing else")
  func setters() {
    var wrong: [String] = []
    for parts in answersSetting.subsets {
      let object = makeAnswers(parts)
      defer { kvo_object_release(object) }
      let outcome = brief(set(object, "value", .double(77)))
      let changed = fields(object).enumerated().filter { $1 == 77 }.map(\.offset)
      let expected = naiveSetter(parts)
      if outcome != expected.outcome(parts) || changed != expected.bits {
        wrong.append("\(parts.names): \(outcome), changed \(changed)")
      }
    }
    expectEqual(answersSetting.subsets.count, 256)
    expect(wrong.isEmpty, "\(wrong.prefix(5))")
  }

  @Test("B4: an accessor of higher priority is read at the next call, by subclasses too")
  func additions() {
    let base = makeClass("CAnswersGrowing", nil)
    let sub = makeClass("CAnswersGrown", base)
    let objects = [makeAnswers(of: base), makeAnswers(of: sub)]
    defer { for object in objects { kvo_object_release(object) } }
    var parts: answers_parts = []
    for part in answersFromLast {
      parts.formUnion(part)
      answers_class_add(base, part)
      for object in objects {
        let answer = readKey(object, "value")
        expectEqual(answer, naiveAnswer(parts, className: name(of: kvo_class_of(object))))
      }
    }
  }

  @Test("B4: a setter of higher priority is called at the next set")
  func addedSetters() {
    let object = makeAnswers(of: makeClass("CAnswersSetLater", nil))
    defer { kvo_object_release(object) }
    for part: answers_parts in [.ANSWERS_IVAR_IS_VALUE, .ANSWERS_LOW_SET_VALUE, .ANSWERS_SET_VALUE]
    {
      answers_class_add(kvo_class_of(object), part)
      let value = Double(part.bit) + 100
      expectEqual(set(object, "value", .double(value)).status, .KVO_OK)
      expectEqual(fields(object)[part.bit], value)
    }
  }

  @Test("B4: an override of valueForKey: added after an inherited one is called at once")
  func replacedHook() {
    let object = makeAnswers(of: makeClass("CAnswersReplaced", nil))
    defer { kvo_object_release(object) }
    answers_class_add(kvo_class_of(object), .ANSWERS_VALUE)
    expectEqual(readKey(object, "value"), "1.0")
    typealias Hook =
      @convention(c) (
        CObject, OpaquePointer, UnsafePointer<CChar>, UnsafeMutablePointer<kvo_value>,
        UnsafeMutablePointer<kvo_error>?
      ) -> kvo_status
    let hook: Hook = { _, _, key, value, _ in
      value.pointee = kvo_value_string(key)
      return .KVO_OK
    }
    let outcome = attempt {
      kvo_class_replace_method(
        kvo_class_of(object), "valueForKey:", unsafeBitCast(hook, to: kvo_imp.self), nil, $0)
    }
    expectEqual(outcome.status, .KVO_OK)
    expectEqual(readKey(object, "value"), "value")
  }

  @Test("B1: a key whose class has collection accessors alone can be read but not set")
  func collectionIsReadOnly() {
    let object = makeAnswers([.ANSWERS_COUNT, .ANSWERS_OBJECT])
    defer { kvo_object_release(object) }
    expectEqual(set(object, "value", .double(1)).status, .KVO_READ_ONLY)
  }

  @Test("B1: a key with only collection accessors is a link like any other")
  func collectionOnAPath() {
    let object = makeAnswers([.ANSWERS_COUNT, .ANSWERS_OBJECT])
    defer { kvo_object_release(object) }
    expectEqual(readPath(object, "value.@sum.self"), "30.0")
    expectEqual(readPath(object, "value.@count"), "3")
    expectEqual(readPath(object, "value.@max.self"), "20.0")
  }
}

// MARK: The naive search

private let answersReaders = (0..<16).map { answers_parts(rawValue: 1 << $0) }
private let answersIvars: [answers_parts] = [
  .ANSWERS_IVAR_LOW_VALUE, .ANSWERS_IVAR_LOW_IS_VALUE, .ANSWERS_IVAR_VALUE, .ANSWERS_IVAR_IS_VALUE,
]
private let answersSetting: [answers_parts] =
  [.ANSWERS_SET_VALUE, .ANSWERS_LOW_SET_VALUE, .ANSWERS_SEALED, .ANSWERS_VALUE] + answersIvars

/// In reverse search order.
private let answersFromLast: [answers_parts] = [
  .ANSWERS_IVAR_IS_VALUE, .ANSWERS_IVAR_VALUE, .ANSWERS_IVAR_LOW_IS_VALUE, .ANSWERS_IVAR_LOW_VALUE,
  .ANSWERS_COUNT, .ANSWERS_MEMBER, .ANSWERS_ENUMERATOR, .ANSWERS_AT_INDEXES, .ANSWERS_OBJECT,
  .ANSWERS_INDEX_OF, .ANSWERS_LOW_VALUE, .ANSWERS_IS_VALUE, .ANSWERS_VALUE, .ANSWERS_GET_VALUE,
]

private func naiveAnswer(_ parts: answers_parts, className: String? = nil) -> String {
  let elements = "0.0, 10.0, 20.0"
  func has(_ part: answers_parts) -> Bool { parts.contains(part) }
  for getter in answersReaders[0..<4] where has(getter) { return "\(getter.bit).0" }
  let indexed = has(.ANSWERS_COUNT) && (has(.ANSWERS_OBJECT) || has(.ANSWERS_AT_INDEXES))
  if indexed && has(.ANSWERS_INDEX_OF) { return "<\(elements)>" }
  if indexed { return "[\(elements)]" }
  if has(.ANSWERS_COUNT) && has(.ANSWERS_ENUMERATOR) && has(.ANSWERS_MEMBER) {
    return "{\(elements)}"
  }
  if let ivar = naiveIvar(parts) { return "\(ivar.bit).0" }
  return "KVO_UNDEFINED_KEY \(className ?? "CAnswers\(parts.rawValue)").value"
}

private func naiveIvar(_ parts: answers_parts) -> answers_parts? {
  parts.contains(.ANSWERS_SEALED) ? nil : answersIvars.first { parts.contains($0) }
}

/// The expected effect of a set: the part that takes the value, or none.
private struct NaiveSetter {
  let part: answers_parts?
  var bits: [Int] { part.map { [$0.bit] } ?? [] }

  func outcome(_ parts: answers_parts) -> String {
    if part != nil { return "KVO_OK" }
    let status = parts.contains(.ANSWERS_VALUE) ? "KVO_READ_ONLY" : "KVO_UNDEFINED_KEY"
    return "\(status) CAnswers\(parts.rawValue).value"
  }
}

private func naiveSetter(_ parts: answers_parts) -> NaiveSetter {
  if parts.contains(.ANSWERS_SET_VALUE) { return NaiveSetter(part: .ANSWERS_SET_VALUE) }
  if parts.contains(.ANSWERS_LOW_SET_VALUE) { return NaiveSetter(part: .ANSWERS_LOW_SET_VALUE) }
  return NaiveSetter(part: naiveIvar(parts))
}

// MARK: Objects

extension answers_parts {
  fileprivate var bit: Int { rawValue.trailingZeroBitCount }
  /// A class can have `getValue` in only one form.
  fileprivate var isPossible: Bool { !isSuperset(of: [.ANSWERS_GET_VALUE, .ANSWERS_VOID_VALUE]) }
  fileprivate var names: String { "parts \(String(rawValue, radix: 2))" }
}

extension [answers_parts] {
  fileprivate var subsets: [answers_parts] {
    (0..<(1 << count)).map { chosen in
      indices.filter { chosen >> $0 & 1 == 1 }.reduce(into: []) { $0.formUnion(self[$1]) }
    }
  }
}

private func makeClass(_ name: String, _ superclass: CClass?) -> CClass {
  var made: OpaquePointer?
  let outcome = attempt { error in
    made = kvo_class_create(name, superclass, MemoryLayout<answers>.size, error)
    return made == nil ? error.pointee.status : kvo_class_register(made!, error)
  }
  guard let made else { preconditionFailure("\(outcome)") }
  return made
}

private func makeAnswers(_ parts: answers_parts) -> CObject {
  makeAnswers(of: answers_class(parts))
}

private func makeAnswers(of cls: CClass) -> CObject {
  let object = make(cls)
  withFields(object) { for index in $0.indices { $0[index] = Double(index) } }
  return object
}

private func fields(_ object: CObject) -> [Double] { withFields(object) { Array($0) } }

private func withFields<R>(
  _ object: CObject, _ body: (inout UnsafeMutableBufferPointer<Double>) -> R
) -> R {
  let answers = UnsafeMutableRawPointer(object).assumingMemoryBound(to: answers.self)
  return withUnsafeMutableBytes(of: &answers.pointee.fields) { bytes in
    var fields = bytes.bindMemory(to: Double.self)
    return body(&fields)
  }
}
