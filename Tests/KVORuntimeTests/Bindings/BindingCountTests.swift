import CFixtures
import CKVORuntime
import Expectations
import KVORuntime
import ModelFixtures
import TestScopes
import TestSupport
import Testing

/// L2: how often bindings set each property for one change.
@Suite(.leakFree) struct BindingCountTests {
  private typealias Cell = BindingTests.Cell

  /// The changes of several cells.
  private final class Sets {
    private let cells: [Cell]
    private var counts: [Int]
    private var tokens: [KeyValueObservation] = []

    init(of cells: [Cell]) {
      self.cells = cells
      counts = cells.map { _ in 0 }
      tokens = cells.indices.map { index in
        cells[index].observe(\.value) { [unowned self] _, _ in counts[index] += 1 }
      }
    }

    /// How often each cell changed since the last call.
    func take() -> [Int] {
      defer { counts = cells.map { _ in 0 } }
      return counts
    }
  }

  private func cells(_ count: Int) -> [Cell] { (0..<count).map { _ in Cell() } }

  /// Binds each of some cells to all others.
  private func bindPairs(_ cells: [Cell], _ way: Int) -> [KeyValueObservation] {
    cells.indices.flatMap { index in
      cells.indices.filter { $0 != index }.compactMap { other in
        switch way {
        case 0 where other < index: cells[index].bindTwoWay(\.value, to: cells[other], \.value)
        case 1 where other > index: cells[index].bindTwoWay(\.value, to: cells[other], \.value)
        case 2: cells[index].bind(\.value, to: cells[other], \.value)
        default: nil
        }
      }
    }
  }

  @Test(
    "L2: where each property is bound to all others, a change sets each of them once",
    arguments: 2...7, 0..<3)
  func pairs(count: Int, way: Int) {
    let cells = cells(count)
    let tokens = bindPairs(cells, way)
    let sets = Sets(of: cells)
    for (index, cell) in cells.enumerated() {
      for value in [index + 1, index + 1, index + 2] {
        cell.value = value
        expectEqual(sets.take(), cells.map { _ in 1 })
        expect(cells.allSatisfy { $0.value == value })
      }
    }
    withExtendedLifetime(tokens) {}
  }

  @Test("L4: what an observer sets in a circle is not taken for the change that it is called for")
  func setByObserver() {
    let cells = cells(4)
    let tokens = [(1, 0), (2, 0), (2, 3)].map { target, source in
      cells[target].bindTwoWay(\.value, to: cells[source], \.value)
    }
    let last = cells[3]
    let watch = cells[1].observe(\.value) { cell, _ in if cell.value == 2 { last.value = 7 } }
    for value in 1...3 {
      cells[0].value = value
      expectEqual(cells.map(\.value), cells.map { _ in value })
    }
    withExtendedLifetime((tokens, watch)) {}
  }

  @Test("L2: a ring of properties bound in pairs is set once, whoever else is bound to them")
  func ringOfPairs() {
    let cells = cells(6)
    // The last two follow the ring, and lead nowhere.
    var tokens = (0..<4).map { cells[($0 + 1) % 4].bindTwoWay(\.value, to: cells[$0], \.value) }
    tokens.append(cells[0].bind(\.value, to: cells[0], \.value))
    tokens.append(cells[4].bind(\.value, to: cells[1], \.value))
    tokens.append(cells[5].bind(\.value, to: cells[3], \.value))
    let sets = Sets(of: cells)
    for start in 0..<4 {
      cells[start].value = start + 1
      expectEqual(sets.take(), [1, 1, 1, 1, 1, 1])
      expect(cells.allSatisfy { $0.value == start + 1 })
    }
    withExtendedLifetime(tokens) {}
  }

  @Test("L2: a property that several ways lead to, none of them back, is set once for each way")
  func ways() {
    let cells = cells(4)
    let tokens = [
      cells[1].bind(\.value, to: cells[0], \.value), cells[2].bind(\.value, to: cells[0], \.value),
      cells[3].bind(\.value, to: cells[1], \.value), cells[3].bind(\.value, to: cells[2], \.value),
    ]
    let sets = Sets(of: cells)
    cells[0].value = 1
    expectEqual(sets.take(), [1, 1, 1, 2])
    withExtendedLifetime(tokens) {}
  }

  @Test("L1: a target computed from two properties has both new values in the end")
  func sums() {
    let cells = cells(4)
    let sum = { [unowned one = cells[1], unowned other = cells[2]] (_: Int) in
      one.value + other.value
    }
    let tokens = [
      cells[1].bind(\.value, to: cells[0], \.value), cells[2].bind(\.value, to: cells[0], \.value),
      cells[3].bind(\.value, to: cells[1], \.value, transform: sum),
      cells[3].bind(\.value, to: cells[2], \.value, transform: sum),
    ]
    for value in 1..<4 {
      cells[0].value = value
      expectEqual(cells[3].value, 2 * value)
    }
    withExtendedLifetime(tokens) {}
  }

  // MARK: Equal in the end

  /// The indexes of the cells that a change of one reaches.
  private func reached(from start: Int, _ edges: [(from: Int, to: Int)]) -> Set<Int> {
    var (reached, waiting) = ([start] as Set, [start])
    while let cell = waiting.popLast() {
      for edge in edges where edge.from == cell && reached.insert(edge.to).inserted {
        waiting.append(edge.to)
      }
    }
    return reached
  }

  @Test(
    "L1 L4: however properties are bound, those that a change can reach get its value",
    arguments: 0..<60)
  func anyGraph(seed: UInt64) {
    var random = Random(seed: seed)
    let cells = cells(2 + random.next(5))
    var edges: [(from: Int, to: Int)] = []
    var tokens: [KeyValueObservation] = []
    for _ in 0..<1 + random.next(10) {
      let (from, to) = (random.next(cells.count), random.next(cells.count))
      edges.append((from, to))
      if random.next(3) == 0 {
        edges.append((to, from))
        tokens.append(cells[to].bindTwoWay(\.value, to: cells[from], \.value))
      } else {
        tokens.append(cells[to].bind(\.value, to: cells[from], \.value))
      }
    }
    for (start, cell) in cells.enumerated() {
      let before = cells.map(\.value)
      cell.value = start + 1
      let reached = reached(from: start, edges)
      expectEqual(
        cells.map(\.value), cells.indices.map { reached.contains($0) ? start + 1 : before[$0] })
    }
    for token in tokens { token.invalidate() }
  }

  /// A property that is announced manually, and one whose setter sets two others.
  private final class Manual: Tracked {
    var raw = 0
    var value: Int {
      get { raw }
      set { withChange(of: \.value) { raw = newValue } }
    }
    @Observed var high = 0
    @Observed var low = 0
    var parts: Int {
      get { high * 10 + low }
      set { (high, low) = (newValue / 10, newValue % 10) }
    }
    override class func registerKeys() { declareKeys { $0.computed("value", \.value) } }
  }

  enum Announced: CaseIterable, Sendable { case bracket, pair, nestedPairs, batch }

  @Test(
    "L4: a property that is set inside its own change, behind another, wins in a ring of pairs",
    arguments: Announced.allCases)
  func setInside(_ way: Announced) {
    let (one, other, manual) = (Cell(), Cell(), Manual())
    let tokens = [
      other.bindTwoWay(\.value, to: one, \.value), manual.bindTwoWay(\.value, to: other, \.value),
      one.bindTwoWay(\.value, to: manual, \.value),
    ]
    func change(_ value: Int) {
      one.value = value
      manual.raw = value + 1
    }
    var last = 3
    switch way {
    case .bracket: manual.withChange(of: \.value) { change(2) }
    case .pair:
      manual.willChangeValue(for: \.value)
      change(2)
      manual.didChangeValue(for: \.value)
    case .nestedPairs:
      for _ in 0..<2 { manual.willChangeValue(for: \.value) }
      change(2)
      manual.didChangeValue(for: \.value)
      expect(one.value == 3 && other.value == 3)
      manual.raw = 7
      manual.didChangeValue(for: \.value)
      last = 7
    case .batch: manual.coalescingNotifications { manual.withChange(of: \.value) { change(2) } }
    }
    expectEqual([one.value, other.value, manual.value], [last, last, last])
    withExtendedLifetime(tokens) {}
  }

  @Test("L4: a property whose setter notifies twice passes on its last value in a ring of pairs")
  func notifiedTwice() {
    let (one, other, manual) = (Cell(), Cell(), Manual())
    let tokens = [
      manual.bindTwoWay(\.parts, to: one, \.value), other.bindTwoWay(\.value, to: manual, \.parts),
      one.bindTwoWay(\.value, to: other, \.value),
    ]
    for value in [12, 34, 56] {
      other.value = value
      expectEqual([one.value, other.value, manual.parts], [value, value, value])
      manual.parts = value + 1
      expectEqual([one.value, other.value], [value + 1, value + 1])
    }
    withExtendedLifetime(tokens) {}
  }

  @Test("L4: a value that a setter adjusts goes round a circle that leads to it under another name")
  func adjusted() {
    let cells = cells(3)
    let tokens = [
      cells[1].bindTwoWay(\.value, to: cells[0], \.value),
      cells[2].bindTwoWay(\.value, to: cells[1], \.value),
      cells[0].bindTwoWay(\.clamped, to: cells[2], \.value),
    ]
    for (value, clamped) in [(5, 5), (20, 9), (30, 9), (4, 4)] {
      cells[0].value = value
      expectEqual(cells.map(\.value), [clamped, clamped, clamped])
    }
    withExtendedLifetime(tokens) {}
  }

  @Test("L4: a binding that ends while a change is passed on leaves the rest of a ring equal")
  func endsInside() {
    let cells = cells(3)
    var tokens = bindPairs(cells, 0)
    let ending = cells[1].observe(\.value) { _, _ in tokens.removeLast() }
    for (index, value) in zip([0, 1], [5, 6]) {
      cells[index].value = value
      expect(cells.allSatisfy { $0.value == value })
    }
    withExtendedLifetime(ending) {}
  }

  @Test("L5: a value that does not fit by one way comes by another")
  func fitsOneWay() async {
    await #expect(processExitsWith: .success) {
      KVODiagnostics.misuse = { _ in }
      let (cell, account) = (Cell(), CAccount())
      cell.text = "0"
      let tokens = [
        cell.bind(\.text, to: cell, \.value) { $0 > 5 ? "much" : String($0) },
        try account.wrapped.bind("balance", to: cell, \.text) { text -> Any in
          Double(text) ?? text
        },
        try account.wrapped.bind("balance", to: cell, \.value),
        try cell.bind(\.value, to: account.wrapped, "balance"),
      ]
      cell.value = 4
      precondition(account_balance(account.pointer) == 4)
      cell.value = 6
      precondition(account_balance(account.pointer) == 6)
      withExtendedLifetime(tokens) {}
    }
  }
}
