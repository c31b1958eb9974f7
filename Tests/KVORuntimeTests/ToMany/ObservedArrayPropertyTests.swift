import Expectations
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

/// H2, H5, E1, G1: an array property changed element by element, for every kind of property.
@Suite(.leakFree) struct ObservedArrayPropertyTests {
  @Test("H5: setting the property is a setting, and so is mutating it in place")
  func settings() {
    let shelf = Shelf()
    let log = Recorder()
    log.observe(shelf, \.numbers, [.old, .new])
    let numbers = shelf.mutableArray(\.numbers)
    shelf.numbers = [1]
    shelf.numbers.append(2)
    numbers.append(3)
    expectEqual(Array(numbers), [1, 2, 3])
    expectEqual(
      log.take(), ["a old [] new [1]", "a old [1] new [1, 2]", "a insertion at 2 new [3]"])
  }

  @Test("H2: a declared plain stored key is changed in place as well")
  func declaredStored() {
    let shelf = Shelf()
    let log = Recorder()
    log.observe(shelf, \.notes, [.old, .new])
    shelf.mutableArray(\.notes).append("a")
    shelf.mutableArray(\.notes).append(contentsOf: ["b", "c"])
    shelf.mutableArray(\.notes).remove(at: 0)
    expectEqual(
      log.take(),
      [
        #"a insertion at 0 new ["a"]"#, #"a insertion at 1...2 new ["b", "c"]"#,
        #"a removal at 0 old ["a"]"#,
      ])
    expectEqual(shelf.notes, ["b", "c"])
  }

  @Test("H2, A4: an overridden property is changed through its accessors, notifying once")
  func overridden() {
    let shelf = SortedShelf()
    let log = Recorder()
    log.observe(shelf, \.numbers, [.old, .new])
    let numbers = (shelf as Shelf).mutableArray(\.numbers)
    numbers.append(5)
    numbers.append(3)
    expectEqual(shelf.numbers, [3, 5])
    expectEqual(log.take(), ["a insertion at 0 new [5]", "a old [5] new [3, 5]"])
  }

  @Test("F6, H2: through a computed property, or over another object, it is one setting")
  func throughOthers() {
    let shelf = MirroredShelf()
    shelf.next = MirroredShelf()
    let log = Recorder()
    log.observe(shelf, \.mirrored, [.old, .new])
    log.observe(shelf, \.numbers, [.old, .new], as: "b")
    log.observe(shelf, \.next!.numbers, [.old, .new], as: "c")
    shelf.mutableArray(\.mirrored).append(1)
    expectEqual(Set(log.take()), ["a old [] new [1]", "b old [] new [1]"])
    shelf.mutableArray(\.next!.numbers).append(2)
    expectEqual(log.take(), ["c old [] new [2]"])
    expectEqual(shelf.next?.numbers, [2])
  }

  @Test("E1: where automatic notification is off, no observer is notified")
  func manual() {
    let shelf = SilentShelf()
    let log = Recorder()
    log.observe(shelf, \.numbers, [.prior, .old, .new])
    shelf.mutableArray(\.numbers).append(5)
    shelf.mutableArray(\.numbers)[0] = 6
    expectEqual(shelf.numbers, [6])
    expectEqual(log.take(), [])
  }

  @Test(
    "D6: a mutation in a manual bracket of its key is another change; in one by property it joins"
  )
  func brackets() {
    let shelf = Shelf()
    let log = Recorder()
    log.observe(shelf, \.numbers, .new) { shelf, change in
      if change.isPrior { shelf.mutableArray(\.numbers).append(7) }
    }
    log.observe(shelf, \.numbers, [.prior, .new], as: "b") { shelf, change in
      if change.isPrior { shelf.mutableArray(\.numbers).append(7) }
    }
    shelf.numbers = [1]
    expectEqual(log.take(), ["b prior", "a new [1]", "b new [1]"])
  }

  @Test("G1, H3: paths and counts over the property notify as settings, once per change")
  func throughPaths() throws {
    let shelf = Shelf()
    let log = Recorder()
    try log.observe(shelf, "numbers.@count", [.old, .new])
    shelf.mutableArray(\.numbers).append(contentsOf: [4, 5])
    shelf.mutableArray(\.numbers).remove(at: 0)
    expectEqual(log.take(), ["a old 0 new 2", "a old 2 new 1"])
  }

  @Test("F6: a key path that names no observable property stops with a message")
  func unobservable() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = PlainShelf().mutableArray(\.plain)
    }
    expect(try #require(result).errors.contains("can't be observed"))
  }
}

private class SortedShelf: Shelf {
  override var numbers: [Int] {
    get { super.numbers }
    set { super.numbers = newValue.sorted() }
  }
}

private class MirroredShelf: Shelf {
  @Observed var next: MirroredShelf?
  var mirrored: [Int] {
    get { numbers }
    set { numbers = newValue }
  }
}

private class SilentShelf: Shelf {
  override class func automaticallyNotifiesObservers(forKey key: String) -> Bool {
    key == "numbers" ? false : super.automaticallyNotifiesObservers(forKey: key)
  }
}

private class PlainShelf: KVOObject {
  var plain = [1]
}
