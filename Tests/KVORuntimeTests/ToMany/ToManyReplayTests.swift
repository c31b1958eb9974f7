import Expectations
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

/// H1, H2, H4: random mutations, whose notifications alone suffice to rebuild the contents.
@Suite(.leakFree) struct ToManyReplayTests {
  @Test("H1, H2: replaying an array's notifications gives the array", arguments: 0..<20)
  func arrays(_ seed: Int) {
    let shelf = Shelf()
    var random = Random(seed: UInt64(seed))
    var model: [Int] = []
    let replica = Replica<[Int]>([])
    let tokens = [
      shelf.observe(\.numbers, options: [.prior, .old, .new]) { _, change in
        replica.replay(change)
      },
      shelf.observe(\.wishes, options: [.prior, .old, .new]) { _, change in
        replica.replay(change)
      },
    ]
    for step in 0..<200 {
      let edit = ArrayEdit(&random, count: model.count)
      edit.make(&model)
      var numbers = shelf.mutableArray(\.numbers)
      edit.make(&numbers)
      expectEqual(replica.contents, model, "step \(step): \(edit)")
      expectEqual(shelf.numbers, model, "step \(step): \(edit)")
      expect(replica.isSettled)
    }
    replica.contents = []
    model = []
    for step in 0..<100 {
      let edit = ArrayEdit(&random, count: model.count)
      edit.make(&model)
      var wishes = shelf.mutableArray(\.wishes)
      edit.make(&wishes)
      expectEqual(replica.contents, model, "step \(step): \(edit)")
      expect(shelf.wishes ?? [] == model, "step \(step): \(edit)")
    }
    for token in tokens { token.invalidate() }
  }

  @Test("H4: replaying a set's notifications gives the set", arguments: 0..<20)
  func sets(_ seed: Int) {
    let shelf = Shelf()
    var random = Random(seed: UInt64(seed))
    var model: Set<Int> = []
    var replica: Set<Int> = []
    let token = shelf.observe(\.marks, options: [.old, .new]) { _, change in
      expect(replica.isSuperset(of: change.oldValue ?? []))
      expect(replica.isDisjoint(with: change.newValue ?? []))
      replica = replica.subtracting(change.oldValue ?? []).union(change.newValue ?? [])
    }
    let marks = shelf.mutableSet(\.marks)
    for _ in 0..<300 {
      let other = Set((0..<random.next(6)).map { _ in random.next(20) })
      let member = random.next(20)
      switch random.next(7) {
      case 0:
        marks.formUnion(other)
        model.formUnion(other)
      case 1:
        marks.subtract(other)
        model.subtract(other)
      case 2:
        marks.formIntersection(other)
        model.formIntersection(other)
      case 3:
        marks.set(other)
        model = other
      case 4: expectEqual((marks.remove(member) != nil), (model.remove(member) != nil))
      default: expectEqual(marks.insert(member), model.insert(member).inserted)
      }
      expectEqual(shelf.marks, model)
      expectEqual(replica, model)
    }
    token.invalidate()
  }
}

/// An array that is changed only by its observer's notifications.
private final class Replica<Contents: RangeReplaceableCollection & MutableCollection>
where Contents: Equatable, Contents.Index == Int {
  var contents: Contents
  private var predicted: (kind: KeyValueChange, old: Contents?, indexes: RangeSet<Int>?)?

  init(_ contents: Contents) { self.contents = contents }

  /// Whether each prior call was followed by its final one.
  var isSettled: Bool { predicted == nil }

  func replay(_ change: KeyValueObservedChange<Contents>) {
    if change.isPrior {
      predicted = (change.kind, change.oldValue, change.indexes)
      return
    }
    expectEqual(predicted?.kind, change.kind)
    expectEqual(predicted?.old, change.oldValue)
    expectEqual(predicted?.indexes, change.indexes)
    predicted = nil
    apply(change)
  }

  func replay(_ change: KeyValueObservedChange<Contents?>) {
    replay(
      KeyValueObservedChange<Contents>(
        kind: change.kind, newValue: change.newValue.flatMap { $0 },
        oldValue: change.oldValue.flatMap { $0 }, indexes: change.indexes,
        isPrior: change.isPrior))
  }

  private func apply(_ change: KeyValueObservedChange<Contents>) {
    let places = (change.indexes?.ranges).map { $0.flatMap { Array($0) } } ?? []
    switch change.kind {
    case .setting: contents = change.newValue!
    case .insertion:
      expect(change.oldValue == nil)
      for (place, element) in zip(places, change.newValue!) { contents.insert(element, at: place) }
    case .removal:
      expect(change.newValue == nil)
      expect(change.oldValue!.elementsEqual(places.map { contents[$0] }) { "\($0)" == "\($1)" })
      for place in places.reversed() { contents.remove(at: place) }
    case .replacement:
      expect(change.oldValue!.elementsEqual(places.map { contents[$0] }) { "\($0)" == "\($1)" })
      for (place, element) in zip(places, change.newValue!) { contents[place] = element }
    }
  }
}

/// A random mutation, for two equal arrays.
private enum ArrayEdit {
  case append(Int)
  case insert([Int], at: Int)
  case remove(Int)
  case removeRange(Range<Int>)
  case replace(Range<Int>, with: [Int])
  case set(Int, Int)
  case swap(Int, Int)
  case removeMultiples(Int)
  case sort, reverse, removeAll

  init(_ random: inout Random, count: Int) {
    let elements = (0..<random.next(4)).map { _ in random.next(100) }
    let start = random.next(count + 1)
    let range = start..<(start + random.next(count - start + 1))
    switch random.next(24) {
    case 0..<6: self = .append(random.next(100))
    case 6..<10: self = .insert(elements, at: start)
    case 10..<12 where count > 0: self = .remove(random.next(count))
    case 12..<14: self = .removeRange(range)
    case 14..<18: self = .replace(range, with: elements)
    case 18 where count > 0: self = .set(random.next(count), random.next(100))
    case 19 where count > 0: self = .swap(random.next(count), random.next(count))
    case 20: self = .removeMultiples(2 + random.next(5))
    case 21: self = .sort
    case 22: self = .reverse
    case 23 where count > 12: self = .removeAll
    default: self = .append(random.next(100))
    }
  }

  func make<C: RangeReplaceableCollection<Int> & MutableCollection & RandomAccessCollection>(
    _ array: inout C
  ) where C.Index == Int {
    switch self {
    case .append(let element): array.append(element)
    case .insert(let elements, let index): array.insert(contentsOf: elements, at: index)
    case .remove(let index): array.remove(at: index)
    case .removeRange(let range): array.removeSubrange(range)
    case .replace(let range, let elements): array.replaceSubrange(range, with: elements)
    case .set(let index, let element): array[index] = element
    case .swap(let a, let b): array.swapAt(a, b)
    case .removeMultiples(let factor): array.removeAll { $0.isMultiple(of: factor) }
    case .sort: array.sort()
    case .reverse: array.reverse()
    case .removeAll: array.removeAll(keepingCapacity: true)
    }
  }
}
