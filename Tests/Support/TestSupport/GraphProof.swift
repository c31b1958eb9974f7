import CFixtures
import Glibc

/// Random programs run on the model and on another system, which must write the same log. Environment variables give
/// the first seed and the number of operations:
///
/// * `KVO_STEPS`: the number of operations, reactions of observers included.
/// * `KVO_EFFORT`: a factor for the usual number of operations.
/// * `KVO_SEED`: the first program's seed. A difference is printed with its program's seed and shortened. Run that
///   program alone with `KVO_SEED=… KVO_STEPS=1`.
/// * `KVO_TRACE=1`: writes each program's seed to stderr before it runs, for crashes.
package enum GraphProof {
  /// The seeds are divided among this many tests, which run in parallel.
  package static let shares = 4

  /// How far programs went, and the first difference between the system and the model: the shortened program, with
  /// both logs.
  package struct Result {
    package var steps: Int
    package var calls: Int
    package var difference: String?

    /// Whether observers were called often enough for the comparison to be meaningful.
    package var tellsMuch: Bool { steps < 400 || calls > steps / 4 }
  }

  /// Runs the programs of one share, until its part of the operations is done or one differs.
  package static func run(
    share: Int, steps usual: UInt64, length: (_ seed: UInt64) -> Int,
    _ dialect: GraphDialect = .c, _ make: @escaping () -> GraphSystem
  ) -> Result {
    let goal = Environment.steps(usual) / UInt64(shares)
    var seed = Environment.number("KVO_SEED", default: 1) + UInt64(share)
    var total = Result(steps: 0, calls: 0)
    repeat {
      if traces { trace(seed) }
      fixture_note_progress()
      let result = run(seed: seed, length: length(seed), dialect, make)
      total.steps += result.steps
      total.calls += result.calls
      total.difference = result.difference
      seed += UInt64(shares)
    } while total.steps < goal && total.difference == nil
    return total
  }

  private static let traces = getenv("KVO_TRACE") != nil

  private static func trace(_ seed: UInt64) {
    let line = "seed \(seed)\n"
    write(STDERR_FILENO, line, line.utf8.count)
  }

  private static func run(
    seed: UInt64, length: Int, _ dialect: GraphDialect, _ make: @escaping () -> GraphSystem
  ) -> Result {
    var generator = GraphGenerator(seed: seed, dialect)
    let program = generator.program(length: length)
    let expected = GraphRun(program, on: ObservationModel(dialect))
    let found = GraphRun(program, on: make())
    var result = Result(steps: expected.steps, calls: expected.log.calls)
    if expected.log.words != found.log.words {
      result.difference = "seed \(seed)\n" + difference(program, make)
    }
    return result
  }

  private static func difference(
    _ program: GraphProgram, _ make: @escaping () -> GraphSystem
  ) -> String {
    let short = GraphShrinker.shrink(program) { program in
      GraphRun(program, on: ObservationModel(program.dialect)).log.words
        != GraphRun(program, on: make()).log.words
    }
    return shown(short, make)
  }

  /// A program as a scenario's text, with both logs from the first difference.
  private static func shown(_ program: GraphProgram, _ make: @escaping () -> GraphSystem) -> String
  {
    let model = ObservationModel(program.dialect)
    let expected = GraphRun(program, on: model).lines(callbacks: program.callbacks)
    let found = GraphRun(program, on: make()).lines(callbacks: program.callbacks)
    let operations = program.lines + ["(the end\(program.endsByRemoval ? ", by removal" : ""))"]
    return zip(operations, zip(expected, found)).map { operation, lines in
      guard lines.0 != lines.1 else { return line(operation, lines.0) }
      return line(operation, lines.0) + "\n    instead => \(lines.1.joined(separator: "; "))"
    }
    .joined(separator: "\n")
  }

  private static func line(_ operation: String, _ notified: [String]) -> String {
    notified.isEmpty ? operation : "\(operation) => \(notified.joined(separator: "; "))"
  }
}
