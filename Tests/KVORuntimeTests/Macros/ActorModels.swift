import KVORuntime

// `@KVO` classes on actors, for the tests of chapter Q.

@MainActor @KVO class Panel: KVOObject {
  var title = "t" { didSet { if title.isEmpty { title = "untitled" } } }
  var width = 1
  weak var parent: Panel?
  weak var sibling: Panel?
  var heading: String { "\(title)!" }
  var half: Int {
    get { width / 2 }
    set { width = newValue * 2 }
  }
  var label: String { "\(title) \(width)" }
  nonisolated var kind: String { "panel" }
  @KVOIgnored private(set) var tabs: [String] = []

  class func keyPathsForValuesAffectingLabel() -> Set<String> { ["title"] }
  func validateWidth(_ value: inout Int) { value = max(value, smallest) }
  private var smallest: Int { 10 }
  func insertObject(_ tab: String, inTabsAt index: Int) {
    withChange(.insertion, at: RangeSet(integer: index), forKey: "tabs") {
      tabs.insert(tab, at: index)
    }
  }
  func removeObject(fromTabsAt index: Int) {
    withChange(.removal, at: RangeSet(integer: index), forKey: "tabs") {
      _ = tabs.remove(at: index)
    }
  }
}

/// Inherits its actor.
@KVO final class SheetOfActor: Panel {
  var depth = 1 { didSet { if depth < 0 { depth = 0 } } }
  override var title: String { didSet { set.append(title) } }
  var area: Int { depth * width }
  @KVOIgnored var set: [String] = []
}

@globalActor actor Store {
  static let shared = Store()
}

@Store @KVO final class Article<Price: Comparable>: KVOObject {
  var price: Price { didSet { if price < least { price = least } } }
  @KVOIgnored let least: Price
  var isFree: Bool { price == least }
  init(_ price: Price, least: Price) {
    (self.price, self.least) = (price, least)
    super.init()
  }
}

/// Some of its members are on an actor.
@KVO final class Mixed: KVOObject {
  @MainActor var shown = 1 { didSet { if shown < 0 { shown = 0 } } }
  @MainActor var twice: Int { shown * 2 }
  @MainActor weak var panel: Panel?
  var plain = 1
  var sum: Int { plain + 1 }
  #if DEBUG || !DEBUG
    @MainActor var conditional = 1
  #endif
  @MainActor static func keyPathsForValuesAffectingSum() -> Set<String> { ["shown"] }
  @MainActor func validateShown(_ value: inout Int) { value = min(value, shown + 1) }
}

/// On one actor, with a member on another, and a name that a type in its superclass has as well.
class Binder: KVOObject {
  struct Folio {}
}
@Store @KVO final class Folio: Binder {
  var pages = 1 { didSet { if pages < 1 { pages = 1 } } }
  @MainActor var cover = "red"
}

/// A nonisolated class whose elements are changed by methods on an actor.
@KVO final class Pile: KVOObject {
  @KVOIgnored private var storage: [Int] = []
  var cards: [Int] { storage }
  @MainActor func insertObject(_ card: Int, inCardsAt index: Int) {
    withChange(.insertion, at: RangeSet(integer: index), forKey: "cards") {
      storage.insert(card, at: index)
    }
  }
  @MainActor func removeObject(fromCardsAt index: Int) -> Int {
    withChange(.removal, at: RangeSet(integer: index), forKey: "cards") {
      storage.remove(at: index)
    }
  }
}
