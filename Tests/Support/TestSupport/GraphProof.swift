/// Random programs run on the model and on another system, which must write the same log.
package enum GraphProof {
  /// How far a program went, and where the system and the model part, if they do: the program,
  /// shortened, with what both tell.
  package struct Result {
    package var steps: Int
    package var calls: Int
    package var difference: String?
  }

  package static func run(
    seed: UInt64, length: Int, _ dialect: GraphDialect = .c,
    _ make: @escaping () -> GraphSystem
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

  /// A program as the text of a scenario, with what both say where they part.
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

  private static func line(_ operation: String, _ told: [String]) -> String {
    told.isEmpty ? operation : "\(operation) => \(told.joined(separator: "; "))"
  }
}
