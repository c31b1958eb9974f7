import Expectations
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

private protocol Titled {
  var title: String { get set }
}

@KVO private class Item: KVOObject, Titled, @unchecked Sendable {
  var title = "a"
}

/// A value that keeps its parts in an object.
private struct Label: Titled {
  let item: Item
  var title: String {
    get { item.title }
    set { item.title = newValue }
  }
  init(_ item: Item) { self.item = item }
}

private class Rack: KVOObject, @unchecked Sendable {
  @Observed var item: any Titled
  @Observed var count = 1
  @Observed var step = 2

  init(_ item: Item) {
    self.item = item
    super.init()
  }

  var caption: String { item.title + "!" }
  var length: Int { caption.count }
  var total: Int { count * step }
}

@KVO private final class MacroRack: KVOObject {
  var label: Label
  var own: Label { didSet {} }

  init(_ item: Item) {
    label = Label(item)
    own = Label(item)
    super.init()
  }
}

private final class ManualRack: Rack, @unchecked Sendable {
  override class func automaticallyNotifiesObservers(forKey key: String) -> Bool {
    key != "item"
  }
}

/// E4: changes that are made while a property is mutated in place.
@Suite(.leakFree) struct NestedInPlaceTests {
  private let item = Item()
  private let log = Recorder()

  @Test("E4: a part that is set through a value notifies as a typed path, by key and computed")
  func existential() throws {
    let rack = Rack(item)
    log.observe(rack, \.item.title, [.old, .new, .prior], as: "typed")
    try log.observe(rack, "item.title", [.old, .new], as: "string")
    log.observe(rack, \.caption, [.old, .new], as: "caption")
    log.observe(rack, \.length, [.old, .new], as: "length")
    log.observe(item, \.title, .new, as: "title")
    rack.item.title = "bc"
    expectEqual(
      log.take(),
      [
        "typed prior old a", "title new bc", "typed old a new bc", "string old a new bc",
        "caption old a! new bc!", "length old 2 new 3",
      ])
    item.title = "d"
    expectEqual(
      Set(log.take()),
      [
        "typed prior old bc", "typed old bc new d", "string old bc new d", "title new d",
        "caption old bc! new d!", "length old 3 new 2",
      ])
  }

  @Test("E4: a part that is set through a struct of a @KVO class notifies once")
  func structs() {
    let rack = MacroRack(item)
    log.observe(rack, \.label.title, [.old, .new], as: "label")
    rack.label.title = "b"
    expectEqual(log.take(), ["label old a new b"])
    log.observe(rack, \.own.title, [.old, .new], as: "own")
    rack.own.title = "c"
    expectEqual(log.take(), ["label old b new c", "own old b new c"])
  }

  @Test("E4: a change of another property that is made in the mutation notifies at its end")
  func otherProperty() {
    let rack = Rack(item)
    log.observe(rack, \.total, [.old, .new], as: "total")
    log.observe(rack, \.step, .new, as: "step")
    let double = { (count: inout Int) in
      count *= 2
      rack.step = 5
      rack.step = 6
    }
    double(&rack.count)
    expectEqual(log.take(), ["step new 5", "step new 6", "total old 2 new 12"])
    rack.step = 1
    expectEqual(Set(log.take()), ["step new 1", "total old 12 new 2"])
  }

  @Test("E4: so does a mutation that is part of a batch or of an open change of its property")
  func joined() {
    let rack = Rack(item)
    log.observe(rack, \.caption, [.old, .new], as: "caption")
    rack.coalescingNotifications { rack.item.title = "b" }
    expectEqual(log.take(), ["caption old a! new b!"])
    let token = rack.observe(\.count, options: .prior) { rack, change in
      guard change.isPrior, rack.step == 2 else { return }
      let change = { (count: inout Int) in
        count += 1
        rack.step += 1
      }
      change(&rack.count)
    }
    log.observe(rack, \.total, [.old, .new], as: "total")
    rack.count = 5
    expectEqual(log.take(), ["total old 2 new 15"])
    token.invalidate()
  }

  @Test("E4: and one whose property is announced by hand around it")
  func manual() {
    let rack = ManualRack(item)
    log.observe(rack, \.caption, [.old, .new], as: "caption")
    rack.withChange(of: \.item) { rack.item.title = "b" }
    expectEqual(log.take(), ["caption old a! new b!"])
  }

  @Test("E4: a key that does not depend on the mutated property notifies in the mutation")
  func unaffected() {
    let (rack, other) = (Rack(item), Rack(Item()))
    log.observe(rack, \.caption, [.old, .new], as: "caption")
    log.observe(other, \.total, [.old, .new], as: "other")
    let mutate = { (item: inout any Titled) in
      other.step = 7
      item.title = "b"
    }
    mutate(&rack.item)
    expectEqual(log.take(), ["other old 2 new 7", "caption old a! new b!"])
  }

  @Test("E4: a mirror shows the property as it is in the mutation, as Swift's own mirrors do")
  func mirror() {
    let rack = Rack(item)
    log.observe(rack, \.count, .new)
    var shown: [Any] = []
    let mutate = { (count: inout Int) in
      count = 8
      shown = Mirror(reflecting: rack).children.filter { $0.label == "count" }.map(\.value)
    }
    mutate(&rack.count)
    expectEqual(shown as? [Int], [8])
  }

  @Test("E4: a value that is replaced in the mutation is followed from then on")
  func replaced() {
    let (rack, second) = (Rack(item), Item())
    log.observe(rack, \.item.title, [.old, .new], as: "typed")
    let replace = { (item: inout any Titled) in
      item.title = "b"
      item = second
      second.title = "c"
    }
    replace(&rack.item)
    expectEqual(log.take(), ["typed old a new c"])
    item.title = "lost"
    second.title = "d"
    expectEqual(log.take(), ["typed old c new d"])
  }
}
