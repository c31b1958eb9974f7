import Expectations
import Foundation
import KVORuntime
import TestSupport
import Testing

/// Q6: in a `@KVO` class, the observed properties that a getter names affect it, although it keeps its value.
///
/// One test at a time, since some getters keep their value in a dictionary that all objects share.
@Suite(.leakFree, .serialized) struct MacroCacheTests {
  /// The old and new values that an observer gets while the text becomes "a b c" and then "one".
  private func changes<Object: Keeping>(
    of keyPath: KeyPath<Object, Int>, in object: Object, isFilled: Bool
  ) -> [String] {
    if isFilled { _ = object[keyPath: keyPath] }
    var changes: [String] = []
    let token = object.observe(keyPath, options: [.old, .new]) { _, change in
      changes.append("\(change.oldValue!) \(change.newValue!)")
    }
    object.text = "a b c"
    object.text = "one"
    token.invalidate()
    return changes
  }

  @Test(
    "Q6: observers of a getter are notified however it keeps its value", arguments: [false, true])
  func ways(_ isFilled: Bool) {
    let getters: [(String, KeyPath<Keeping, Int>)] = [
      ("tuple", \.inTuple), ("entry", \.inEntry), ("member", \.inMember), ("list", \.inList),
      ("object", \.inObject), ("observed object", \.inObservedObject), ("type", \.inType),
      ("method", \.byMethod), ("method without arguments", \.byFilling),
      ("extension", \.byExtension), ("argument", \.byArgument), ("key path", \.byKeyPath),
      ("Foundation", \.inFoundation), ("interpolation", \.fromString),
      ("weak self", \.byWeakSelf), ("functions of the type", \.byType),
      ("singleton", \.inSingleton),
      ("projected value", \.inProjected), ("computed property", \.inComputed),
      ("guard", \.afterGuard), ("case", \.inCase), ("variable", \.byVariable),
    ]
    for (name, keyPath) in getters {
      let seen = changes(of: keyPath, in: Keeping(), isFilled: isFilled)
      expectEqual(seen, ["3 5", "5 3"], name)
    }
  }

  @Test(
    "F1 Q6: an override keeps what the superclass's getter is made from", arguments: [false, true])
  func overrides(_ isFilled: Bool) throws {
    let (once, twice) = (["103 105", "105 103"], ["203 205", "205 203"])
    expectEqual(changes(of: \.inTuple, in: Adding(), isFilled: isFilled), once)
    expectEqual(changes(of: \.inTuple, in: AddingPlainly(), isFilled: isFilled), once)
    expectEqual(changes(of: \.inTuple, in: AddingAgain(), isFilled: isFilled), twice)
    let adding = Adding()
    var values: [Int?] = []
    let token = try adding.observe(keyPath: "inTuple", options: .new) { _, change in
      values.append(change.newValue as? Int)
    }
    adding.text = "1234"
    adding.addend = 7
    token.invalidate()
    expectEqual(values, [104, 11])
  }

  @Test(
    "Q6: so are they if the superclass declares the value's source, or also where it is kept",
    arguments: [false, true])
  func inherited(_ isFilled: Bool) {
    let getters: [(String, KeyPath<KeepingInherited, Int>)] = [
      ("source", \.ofText), ("source by super", \.ofSuper), ("place", \.inInherited),
    ]
    for (name, keyPath) in getters {
      let seen = changes(of: keyPath, in: KeepingInherited(), isFilled: isFilled)
      expectEqual(seen, ["3 5", "5 3"], name)
    }
  }

  @Test("Q6: a parameter with an observed property's name is not that property")
  func parameter() {
    let object = KeepingInherited()
    _ = object.ofParameter
    var count = 0
    let token = object.observe(\.ofParameter) { _, _ in count += 1 }
    object.other = "d"
    expectEqual(count, 0)
    object.text = "abc"
    expectEqual(count, 1)
    token.invalidate()
  }

  @Test("F1 Q2 Q6: an override keeps a property of its superclass that the subclass hides")
  func hidden() {
    let object = HidingKept()
    _ = object.letters
    var values: [Int] = []
    let token = object.observe(\.letters, options: .new) { _, change in
      values.append(change.newValue!)
    }
    object.write("abc")
    object.text = 2
    token.invalidate()
    expectEqual(values, [13, 23])
  }

  @Test("Q2 Q6: a declaration by hand replaces what the getter is made from")
  func byHand() {
    let object = KeepingByHand()
    _ = object.letters
    var count = 0
    let token = object.observe(\.letters) { _, _ in count += 1 }
    object.text = "abc"
    expectEqual(count, 0)
    object.other += 1
    expectEqual(count, 1)
    token.invalidate()
  }
}

private final class Box { var count: Int? }

private final class Counts: @unchecked Sendable {
  static let shared = Counts()
  var counts: [UUID: Int] = [:]
  func find(_ id: UUID) -> Int? { counts[id] }
  func store(_ count: Int, _ id: UUID) -> Int {
    counts[id] = count
    return count
  }
}

@propertyWrapper private struct Boxed {
  let projectedValue = Box()
  var wrappedValue: Int? { projectedValue.count }
}

@KVO private class Keeping: KVOObject {
  var text = "a b" {
    didSet {
      (cache, entries, box, list, object.count, observed.count) = (nil, [:], Part(), [], nil, nil)
      Self.memo[ObjectIdentifier(self)] = nil
      numbers.removeAllObjects()
      Counts.shared.counts[id] = nil
      $boxed.count = nil
      clear()
    }
  }
  func clear() {}

  struct Part { var count: Int? }
  nonisolated(unsafe) static var memo: [ObjectIdentifier: Int] = [:]
  @KVOIgnored var cache: Int?
  @KVOIgnored var stamp = 0
  @KVOIgnored var entries: [String: Int] = [:]
  @KVOIgnored var box = Part()
  @KVOIgnored var list: [Int] = []
  let object = Box()
  var observed = Box()
  let numbers = NSCache<NSString, NSNumber>()
  let id = UUID()
  @KVOIgnored @Boxed var boxed

  deinit {
    Self.memo[ObjectIdentifier(self)] = nil
    Counts.shared.counts[id] = nil
  }

  var inTuple: Int {
    if let cache { return cache }
    (cache, stamp) = (text.count, stamp + 1)
    return cache!
  }
  var inEntry: Int {
    if let count = entries["text"] { return count }
    entries["text"] = text.count
    return entries["text"]!
  }
  var inMember: Int {
    if let count = box.count { return count }
    box.count = text.count
    return box.count!
  }
  var inList: Int {
    if let count = list.first { return count }
    list.append(text.count)
    return list[0]
  }
  var inObject: Int {
    if let count = object.count { return count }
    object.count = text.count
    return object.count!
  }
  var inObservedObject: Int {
    if let count = observed.count { return count }
    observed.count = text.count
    return observed.count!
  }
  var inType: Int {
    if let count = Self.memo[ObjectIdentifier(self)] { return count }
    Self.memo[ObjectIdentifier(self)] = text.count
    return text.count
  }
  var inFoundation: Int {
    if let count = numbers.object(forKey: "text") { return count.intValue }
    numbers.setObject(NSNumber(value: text.count), forKey: "text")
    return text.count
  }

  func keep(_ count: Int) -> Int {
    cache = count
    return count
  }
  var byMethod: Int { cache ?? keep(text.count) }
  func fill() -> Int {
    cache = text.count
    return cache!
  }
  var byFilling: Int { cache ?? fill() }
  var byExtension: Int { cache ?? keepElsewhere(text.count) }
  func fill(_ cache: inout Int?, _ count: Int) -> Int {
    cache = count
    return count
  }
  var byArgument: Int { cache ?? fill(&cache, text.count) }
  var byKeyPath: Int {
    if let cache { return cache }
    self[keyPath: \.cache] = text.count
    return cache!
  }
  var fromString: Int {
    cache = cache ?? "\(text)".count
    return cache!
  }

  var byWeakSelf: Int {
    if let cache { return cache }
    let count = text.count
    let keep = { [weak self] in self?.cache = count }
    keep()
    return count
  }
  static func find(_ id: UUID) -> Int? { Counts.shared.counts[id] }
  static func store(_ count: Int, _ id: UUID) -> Int { Counts.shared.store(count, id) }
  var byType: Int { Keeping.find(id) ?? Keeping.store(text.count, id) }
  var inSingleton: Int { Counts.shared.find(id) ?? Counts.shared.store(text.count, id) }
  var inProjected: Int {
    if let boxed { return boxed }
    $boxed.count = text.count
    return text.count
  }
  @KVOTracked var count: Int? {
    get { cache }
    set { cache = newValue }
  }
  var inComputed: Int {
    if let count { return count }
    count = text.count
    return text.count
  }
  var afterGuard: Int {
    guard let cache else {
      cache = text.count
      return text.count
    }
    return cache
  }
  var inCase: Int {
    switch cache {
    case let cache?: return cache
    case nil:
      cache = text.count
      return text.count
    }
  }
  var byVariable: Int {
    if let cache { return cache }
    var text = text
    text.append(".")
    cache = text.count - 1
    return text.count - 1
  }
}

@KVO private final class KeepingInherited: Keeping {
  @KVOIgnored private var own: Int?
  var other = "c"
  override func clear() { own = nil }

  var ofText: Int {
    if let own { return own }
    own = text.count
    return text.count
  }
  var ofSuper: Int {
    own = own ?? super.text.count
    return own!
  }
  var inInherited: Int {
    if let cache { return cache }
    cache = text.count
    return text.count
  }
  private func keep(_ other: String) -> Int {
    own = other.count
    return other.count
  }
  var ofParameter: Int { own ?? keep(text) }
}

extension Keeping {
  fileprivate func keepElsewhere(_ count: Int) -> Int {
    cache = count
    return count
  }
}

@KVO private class Adding: Keeping {
  var addend = 100
  override var inTuple: Int { super.inTuple + addend }
}

private final class AddingPlainly: Keeping {
  override var inTuple: Int { super.inTuple + 100 }
}

@KVO private final class AddingAgain: Adding {
  override var inTuple: Int { super.inTuple + 100 }
}

@KVO private class WritingKept: KVOObject {
  private var text = "a" { didSet { cache = nil } }
  @KVOIgnored private var cache: Int?
  var letters: Int {
    cache = cache ?? text.count
    return cache!
  }
  func write(_ text: String) { self.text = text }
}

@KVO private final class HidingKept: WritingKept {
  var text = 1
  override var letters: Int { super.letters + 10 * text }
}

@KVO private final class KeepingByHand: KVOObject {
  var text = "a" { didSet { cache = nil } }
  var other = 1
  @KVOIgnored private var cache: Int?
  var letters: Int {
    cache = cache ?? text.count
    return cache!
  }

  override class func registerKeys() {
    declareKeys { $0.computed("letters", \.letters, affectedBy: ["other"]) }
  }
}
