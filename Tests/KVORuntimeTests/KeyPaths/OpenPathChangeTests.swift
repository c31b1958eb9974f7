import CFixtures
import Expectations
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

/// G5: changes behind a link whose own change is open are part of it.
@Suite(.leakFree) struct OpenPathChangeTests {
  fileprivate class Item: Tracked {
    @Observed var on = 0
    var sum: Int { on + ((self as? Pair)?.other ?? 0) }
  }

  private class View: Tracked {
    @Observed var chosen: Item?
  }

  private final class Frame: View {
    var shown: Item? { chosen }
  }

  private let view = View()
  private let first = Item()
  private let second = Item()
  private let log = Recorder()

  init() {
    first.on = 1
    second.on = 2
    view.chosen = first
  }

  @Test("G5: in a batch a computed link is left as the one that it reads is")
  func computed() {
    let frame = Frame()
    frame.chosen = first
    log.observe(frame, \.shown?.on, [.old, .new], as: "typed")
    frame.coalescingNotifications {
      frame.chosen = second
      first.on = 100
    }
    expectEqual(log.take(), ["typed old 1 new 2"])
    first.on = 5
    second.on = 4
    expectEqual(log.take(), ["typed old 2 new 4"])
  }

  @Test("G5: in a batch a typed path and a string are notified of the link's change alone")
  func batch() throws {
    log.observe(view, \.chosen?.on, [.old, .new], as: "typed")
    try log.observe(view, "chosen.on", [.old, .new], as: "string")
    view.coalescingNotifications {
      view.chosen = second
      first.on = 100
      second.on = 3
    }
    expectEqual(log.take(), ["typed old 1 new 3", "string old 1 new 3"])
    first.on = 5
    second.on = 4
    expectEqual(log.take(), ["typed old 3 new 4", "string old 3 new 4"])
  }

  @Test("G5 Q6: they are if the link has observers that change the object behind it")
  func observedLinks() throws {
    let linked = LinkedView()
    linked.chosen = first
    log.observe(linked, \.chosen?.on, [.old, .new], as: "typed")
    try log.observe(linked, "chosen.on", [.old, .new], as: "string")
    linked.willChangeValue(forKey: "chosen")
    first.on = 3
    linked.didChangeValue(forKey: "chosen")
    expectEqual(log.take().sorted(), ["string old 1 new 3", "typed old 1 new 3"])
    linked.changes = true
    linked.chosen = second
    expectEqual(log.take().sorted(), ["string old 3 new 102", "typed old 3 new 102"])
    expectEqual(first.on, -1)
  }

  @Test("G5 Q6: a path over an observed link may lead back to its root")
  func backToRoot() {
    let (root, partner) = (PartnerNode(), PartnerNode())
    (root.partner, partner.back) = (partner, root)
    log.observe(root, \.partner?.back?.value, [.new], as: "typed")
    root.willChangeValue(forKey: "partner")
    root.value = 1
    expectEqual(log.take(), [])
    root.didChangeValue(forKey: "partner")
    expectEqual(log.take(), ["typed new 1"])
    root.partner = nil
  }

  @Test("G5 Q6: so they are if nothing else observes the link")
  func observedLinkAlone() {
    let linked = LinkedView()
    linked.chosen = first
    log.observe(linked, \.chosen?.on, [.old, .new], as: "typed")
    linked.willChangeValue(forKey: "chosen")
    first.on = 3
    linked.didChangeValue(forKey: "chosen")
    expectEqual(log.take(), ["typed old 1 new 3"])
    linked.changes = true
    linked.chosen = second
    expectEqual(log.take(), ["typed old 3 new 102"])
  }

  @Test(
    "G5 D8: an open change of a property of the last object, which is no link, silences no path")
  func siblings() {
    let pair = Pair()
    view.chosen = pair
    log.observe(view, \.chosen?.sum, [.old, .new], as: "path")
    pair.willChangeValue(forKey: "on")
    pair.other = 3
    expectEqual(log.take(), ["path old 0 new 3"])
    pair.didChangeValue(forKey: "on")
    expectEqual(log.take(), ["path old 0 new 3"])
  }

  private final class Pair: Item {
    @Observed var other = 0
  }

  @Test("G5: a change of a number or text that a computed link reads is one of the link")
  func selecting() throws {
    let list = ItemList(first, second)
    let holder = ListHolder()
    holder.list = list
    log.observe(list, \.byIndex.on, [.old, .new], as: "by index")
    try log.observe(list, "byIndex.on", [.old, .new], as: "by index, string")
    log.observe(holder, \.list?.byIndex.on, [.old, .new], as: "by index, in a list")
    let byIndex = ["by index", "by index, in a list", "by index, string"]
    list.index = 1
    expectEqual(log.take().sorted(), byIndex.map { "\($0) old 1 new 102" })
    expectEqual(first.on, -1)
    log.observe(list, \.byName.on, [.old, .new], as: "by name")
    list.name = "second"
    expectEqual(
      log.take().sorted(), byIndex.map { "\($0) old 102 new 202" } + ["by name old -1 new 202"])
    expectEqual(first.on, -1)
  }

  @Test("D13: observers that a link's `didSet` registers precede those of a path by the link")
  func didSetRegisters() {
    let linked = LinkedView()
    log.observe(linked, \.chosen?.on, [.old, .new], as: "path")
    linked.chosen = first
    expectEqual(log.take(), ["path old nil new 1"])
    linked.seen = { [log] in log.observe($0, \.on, [.old, .new], as: "own") }
    linked.chosen = second
    expectEqual(log.take(), ["path old 1 new 2"])
    second.on = 9
    expectEqual(log.take(), ["own old 2 new 9", "path old 2 new 9"])
  }

  @Test("G5: so they are in pairs by hand and brackets around the link's change")
  func byHand() throws {
    log.observe(view, \.chosen?.on, [.old, .new], as: "typed")
    try log.observe(view, "chosen.on", [.old, .new], as: "string")
    let changes = {
      first.on = 7  // is part of the outer change
      view.coalescingNotifications {
        view.chosen = second
        first.on = 100
        second.on = 3
      }
    }
    for isBracket in [true, false] {
      if isBracket {
        view.withChange(forKey: "chosen", changes)
      } else {
        view.willChangeValue(forKey: "chosen")
        changes()
        view.didChangeValue(forKey: "chosen")
      }
      expectEqual(
        log.take(),
        [
          "typed old 7 new 3", "string old 7 new 3", "typed old 1 new 3", "string old 1 new 3",
        ])
      view.chosen = first
      second.on = 2
      first.on = 1
      _ = log.take()
    }
  }
}

private final class ListHolder: KVOObject {
  @Observed var list: ItemList?
}

@KVO private final class ItemList: KVOObject {
  let items: [OpenPathChangeTests.Item]
  var index = 0 { didSet { select(byIndex, after: items[oldValue]) } }
  var name = "first" { didSet { select(byName, after: items[0]) } }
  var byIndex: OpenPathChangeTests.Item { items[index] }
  var byName: OpenPathChangeTests.Item { items[name == "first" ? 0 : 1] }

  init(_ items: OpenPathChangeTests.Item...) { self.items = items }

  private func select(_ item: OpenPathChangeTests.Item, after deselected: OpenPathChangeTests.Item)
  {
    deselected.on = -1
    item.on += 100
  }
}

@KVO private final class PartnerNode: KVOObject {
  var partner: PartnerNode? { didSet {} }
  var back: PartnerNode?
  var value = 0
}

@KVO private final class LinkedView: KVOObject {
  @KVOIgnored var changes = false
  @KVOIgnored var seen: ((OpenPathChangeTests.Item) -> Void)?
  var chosen: OpenPathChangeTests.Item? {
    willSet { if changes { chosen?.on = -1 } }
    didSet {
      if changes { chosen?.on += 100 }
      if let chosen { seen?(chosen) }
    }
  }
}
