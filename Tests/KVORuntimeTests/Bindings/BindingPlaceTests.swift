import CFixtures
import Expectations
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

/// L1 L2 L3: which properties bindings connect, and what keeps them.
@Suite(.leakFree) struct BindingPlaceTests {
  private typealias Cell = BindingTests.Cell

  private final class Counted: Tracked {
    @Observed var number = 0
    @Observed var other = 0
    var readings = 0
    /// A property that can be observed only while it is on.
    var isOn = false
    var measured: Int {
      get {
        readings += 1
        return number
      }
      set { number = newValue }
    }
    var switched: Int {
      get { isOn ? number : 0 }
      set { number = newValue }
    }
    subscript(index: Int) -> Int {
      get {
        readings += 1
        return number + index
      }
      set { number = newValue - index }
    }
  }

  private let source = Cell()
  private let target = Cell()

  /// Each test has a class of its own, whose key paths with arguments have not used any keys.
  private final class Row<Test>: Tracked {
    @Observed var list = [1, 2]
  }
  private enum First {}
  private enum Second {}

  private func bindElements<Test>(of row: Row<Test>, isTargetFirst: Bool) -> [Int] {
    let out = { row.bind(\.list[1], to: target, \.value) }
    let into = { target.bind(\.value, to: row, \.list[0]) }
    let tokens = isTargetFirst ? [out(), into()] : [into(), out()]
    row.list[0] = 7
    expectEqual(target.value, 7)
    defer { withExtendedLifetime(tokens) {} }
    return row.list
  }

  @Test(
    "L1 L2: elements of one array are properties of their own, in whatever order they are bound")
  func elements() {
    expectEqual(bindElements(of: Row<First>(), isTargetFirst: true), [7, 7])
    expectEqual(bindElements(of: Row<Second>(), isTargetFirst: false), [7, 7])
  }

  @Test("L1 L2: an element follows another one of its array")
  func neighbours() {
    enum Neighbours {}
    let row = Row<Neighbours>()
    let token = row.bind(\.list[1], to: row, \.list[0])
    for value in 3..<6 {
      row.list[0] = value
      expectEqual(row.list, [value, value])
    }
    withExtendedLifetime(token) {}
  }

  @Test("L2: a change does not return to an element of an array")
  func echoOfElement() {
    source.list = [1, 2]
    let tokens = [
      target.bind(\.value, to: source, \.list[1]), source.bind(\.list[1], to: target, \.value),
    ]
    var sets = 0
    let count = source.observe(\.list) { _, _ in sets += 1 }
    source.list[1] = 5
    expect(target.value == 5 && sets == 1)
    target.value = 6
    expect(source.list == [1, 6] && sets == 2)
    withExtendedLifetime((tokens, count)) {}
  }

  @Test("L1: a binding of an element that is gone does not disturb other bindings of its object")
  func goneElement() {
    let third = Cell()
    (source.list, target.value) = ([1, 2, 3], 4)
    let last = source.bind(\.list[2], to: third, \.value)
    source.list = []
    let other = source.bind(\.value, to: target, \.value)
    expectEqual(source.value, 4)
    target.value = 9
    expectEqual(source.value, 9)
    withExtendedLifetime((last, other)) {}
  }

  @Test("L1: making a binding reads no property of other bindings")
  func unreadByOthers() {
    let counted = Counted()
    let tokens = [
      counted.bind(\.measured, to: source, \.value), counted.bind(\.[3], to: source, \.value),
      source.bind(\.plain, to: counted, \.[4]),
    ]
    let before = counted.readings
    let more = [
      counted.bind(\.other, to: target, \.value), target.bind(\.plain, to: counted, \.number),
    ]
    expectEqual(counted.readings, before)
    withExtendedLifetime((tokens, more)) {}
  }

  @Test("L2: a target that can be observed only later is the same property then")
  func laterObservable() {
    let counted = Counted()
    let into = counted.bind(\.switched, to: source, \.value)
    counted.isOn = true
    let out = source.bind(\.value, to: counted, \.switched)
    var sets = 0
    let count = counted.observe(\.number) { _, _ in sets += 1 }
    counted.number = 4
    expect(source.value == 4 && sets == 1)
    source.value = 5
    expect(counted.number == 5 && sets == 2)
    withExtendedLifetime((into, out, count)) {}
  }

  /// An object that takes a page of memory.
  private final class Large: Tracked {
    @Observed var value = 0
    var room = InlineArray<512, Int>(repeating: 0)
  }

  @Test("L3: the token of a binding that has ended does not keep the memory of its objects")
  func endedToken() async {
    await #expect(processExitsWith: .success) {
      func end(_ count: Int) -> [KeyValueObservation] {
        (0..<count).map { _ in
          let (one, other) = (Large(), Large())
          let token = other.bindTwoWay(\.value, to: one, \.value)
          one.value = 1
          return token
        }
      }
      let first = end(10)
      let before = fixture_bytes_used()
      let tokens = end(100)
      let left = fixture_bytes_used() - before
      precondition(left < 100 * 4096, "\(left) bytes")
      precondition(tokens.allSatisfy { !$0.isValid })
      withExtendedLifetime(first) {}
    }
  }
}
