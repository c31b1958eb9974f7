import Expectations
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

/// Q2: `@KVO` classes on an actor have the same keys as other classes.
@Suite(.leakFree) struct MacroActorTests {
  private let log = Recorder()

  @Test("Q2: key-value coding calls the setters of a class of the main actor, with didSet")
  @MainActor func setters() throws {
    let panel = Panel()
    log.observe(panel, \.title, [.old, .new])
    try panel.setValue("", forKey: "title")
    try panel.setValue(4, forKey: "half")
    expect(panel.title == "untitled" && panel.width == 8)
    expect(try panel.value(forKey: "half") as? Int == 4)
    expect(try panel.value(forKey: "kind") as? String == "panel")
    expectEqual(log.take(), ["a old t new untitled"])
  }

  @Test("Q2: its computed and weak properties have keys, and notify under them and on paths")
  @MainActor func computed() throws {
    let (panel, parent, sibling) = (Panel(), log.keep(Panel()), log.keep(Panel()))
    try log.observe(panel, "heading", [.old, .new], as: "heading")
    try log.observe(panel, "parent.width", [.new], as: "parent")
    log.observe(panel, \.sibling?.title, [.new], as: "sibling")
    panel.title = "u"
    panel.parent = parent
    panel.sibling = sibling
    parent.width = 3
    sibling.title = "s"
    expectEqual(
      log.take(),
      [
        "heading old t! new u!", "parent new 1", "sibling new t", "parent new 3", "sibling new s",
      ])
    expect(Panel.key(of: \.heading) == "heading" && Panel.key(of: \.parent?.half) == "parent.half")
    expectEqual(Panel.keyValueProperty(forKey: "heading")?.isWritable, false)
    expectEqual(Panel.keyValueProperty(forKey: "parent")?.isWeak, true)
  }

  @Test("Q4: its methods are found by their names")
  @MainActor func conventions() throws {
    let panel = Panel()
    try log.observe(panel, "label", [.new], as: "label")
    try log.observe(panel, "tabs", [.new], as: "tabs")
    panel.width = 2
    panel.title = "u"
    expectEqual(log.take(), ["label new u 2"])
    var width: Any? = 3
    try panel.validateValue(&width, forKey: "width")
    expect(width as? Int == 10)
    let tabs = try panel.mutableArrayValue(forKey: "tabs")
    try tabs.insert("a", at: 0)
    try tabs.remove(at: 0)
    expect(panel.tabs.isEmpty && log.take().count == 2)
  }

  @Test("Q2: so has a subclass, which inherits its superclass's actor")
  @MainActor func inherited() throws {
    let sheet = SheetOfActor()
    try log.observe(sheet, "area", [.new], as: "area")
    try sheet.setValue(-1, forKey: "depth")
    try sheet.setValue("", forKey: "title")
    try sheet.setValue(5, forKey: "half")
    expect(sheet.depth == 0 && sheet.set == ["untitled"] && sheet.width == 10)
    expectEqual(log.take(), ["area new 0", "area new 0"])
    expect(SheetOfActor.key(of: \.depth) == "depth" && SheetOfActor.key(of: \.half) == "half")
  }

  @Test("Q2: so has a generic class of another actor, whose keys are first used elsewhere")
  @Store func otherActors() async throws {
    let keys = await Task.detached { Article<Int>.keyValueProperties.map(\.key) }.value
    expectEqual(keys, ["isFree", "least", "price"])
    let article = Article(5, least: 0)
    try log.observe(article, "isFree", [.new], as: "free")
    try article.setValue(-5, forKey: "price")
    expectEqual(article.price, 0)
    article.price = 1
    expectEqual(log.take(), ["free new true", "free new false"])
  }

  @Test("Q2: so have members that are on an actor in a class that is on none")
  @MainActor func members() throws {
    let (mixed, panel) = (Mixed(), log.keep(Panel()))
    try log.observe(mixed, "twice", [.new], as: "twice")
    try log.observe(mixed, "panel.width", [.new], as: "panel")
    try log.observe(mixed, "sum", [.new], as: "sum")
    try mixed.setValue(-2, forKey: "shown")
    try mixed.setValue(panel, forKey: "panel")
    try mixed.setValue(2, forKey: "conditional")
    panel.width = 4
    mixed.plain = 3
    expectEqual(mixed.shown, 0)
    let notified = log.take()
    expectEqual(notified.sorted(), ["panel new 1", "panel new 4", "sum new 2", "twice new 0"])
    var shown: Any? = 9
    try mixed.validateValue(&shown, forKey: "shown")
    expect(shown as? Int == 1)
  }

  @Test("Q2: so have members on one actor of a class on another")
  @Store func severalActors() async throws {
    let folio = Folio()
    try log.observe(folio, "pages", [.new], as: "pages")
    try log.observe(folio, "cover", [.new], as: "cover")
    try folio.setValue(-1, forKey: "pages")
    try folio.setValue("blue", forKey: "cover")
    expect(folio.pages == 1 && log.take() == ["pages new 1", "cover new blue"])
  }

  @Test("Q4: methods on an actor are found by name in a nonisolated class")
  @MainActor func methodsOnActors() throws {
    let pile = Pile()
    try log.observe(pile, "cards", [.new], as: "cards")
    let cards = try pile.mutableArrayValue(forKey: "cards")
    try cards.insert(7, at: 0)
    try cards.remove(at: 0)
    expect(pile.cards.isEmpty && log.take().count == 2)
  }
}
