import Expectations
import Foundation
import KVORuntime
import TestSupport
import Testing

/// Q6: in a `@KVO` class, the observed properties that a getter names affect it, although it keeps its value.
@Suite(.leakFree) struct MacroCacheTests {
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

@KVO private class Keeping: KVOObject {
  var text = "a b" {
    didSet {
      (cache, entries, box, list, object.count, observed.count) = (nil, [:], Part(), [], nil, nil)
      Self.memo[ObjectIdentifier(self)] = nil
      numbers.removeAllObjects()
    }
  }

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

  deinit { Self.memo[ObjectIdentifier(self)] = nil }

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
