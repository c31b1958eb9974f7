import Expectations
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

@KVO private final class Machine: KVOObject {
  var action: () -> Int = { 1 }
  var optional: (() -> Int)?
  var implicit: ((Int) -> Int)!
  var inferred = { 2 }
  var converted = { 2 } as () -> Int
  var inBrackets = ({ 2 })
  var nested: ([[Int]]) -> Int? = { $0.first?.first }
  var pair: (run: () -> Int, name: String) = ({ 3 }, "a")
  var watched: () -> Int = { 4 } { didSet {} }

  var result: Int { action() }
}

/// Q1: properties of a `@KVO` class that hold functions.
@Suite(.leakFree) struct MacroFunctionTests {
  private let machine = Machine()

  @Test("Q1: a function that is read and set back very often is still the same function")
  func setBack() {
    machine.optional = { 5 }
    machine.implicit = { $0 }
    for _ in 0..<200_000 {
      machine.action = machine.action
      machine.optional = machine.optional
      machine.implicit = machine.implicit
      machine.inferred = machine.inferred
      machine.converted = machine.converted
      machine.inBrackets = machine.inBrackets
      machine.nested = machine.nested
      machine.pair = machine.pair
      machine.watched = machine.watched
    }
    expectEqual(
      [
        machine.action(), machine.optional?(), machine.implicit(6), machine.inferred(),
        machine.converted(), machine.inBrackets(), machine.nested([[7]]), machine.pair.run(),
        machine.watched(),
      ], [1, 5, 6, 2, 2, 2, 7, 3, 4])
  }

  @Test("Q1: setting a function notifies with the old one and the new one, and what calls it")
  func observed() {
    let log = Recorder()
    let token = machine.observe(\.action, options: [.old, .new]) { _, change in
      log.note("\(change.oldValue?() ?? 0) \(change.newValue?() ?? 0)")
    }
    log.observe(machine, \.result, [.old, .new], as: "result")
    machine.action = { 7 }
    expectEqual(log.take(), ["1 7", "result old 1 new 7"])
    token.invalidate()
  }
}
