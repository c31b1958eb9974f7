import Glibc
import TestSupport
import Testing

/// Random programs on graphs of objects: the runtime and the model must tell the same, word for
/// word. The environment says from which seed and for how many operations:
///
/// * `KVO_STEPS`: how many operations, reactions of observers included; a million by default.
/// * `KVO_SEED`: the first program's seed. What differs is printed with its program's seed, and
///   shortened: run that alone with `KVO_SEED=… KVO_STEPS=1`.
/// * `KVO_TRACE=1`: writes each program's seed to stderr before it runs, for what crashes.
///
/// `Scripts/prove` runs it in release.
@Suite struct ProofTests {
  private static let shares = 4
  private static let length = 60

  @Test(
    """
    C1 C3 C4 C6 D2 D3 D4 D5 D6 D7 D12 D13 F1 F2 F3 F4 G1 G2 G4 H1 H2 H3 H4 H5 H6: the runtime \
    tells what the model tells
    """,
    arguments: 0..<shares)
  func sameAsTheModel(_ share: Int) {
    let goal = Environment.number("KVO_STEPS", default: 1_000_000) / UInt64(Self.shares)
    var seed = Environment.number("KVO_SEED", default: 1) + UInt64(share)
    var steps: UInt64 = 0
    var calls = 0
    repeat {
      if Self.traces { Self.trace(seed) }
      let result = GraphProof.run(seed: seed, length: Self.length) { GraphRuntime() }
      if let difference = result.difference {
        Issue.record("\(difference)")
        return
      }
      steps += UInt64(result.steps)
      calls += result.calls
      seed += UInt64(Self.shares)
    } while steps < goal
    #expect(steps < 10_000 || calls > steps / 4)
  }

  private static let traces = getenv("KVO_TRACE") != nil

  private static func trace(_ seed: UInt64) {
    let line = "seed \(seed)\n"
    write(STDERR_FILENO, line, line.utf8.count)
  }

  @Test func aProgramReadsAsItIsWritten() {
    for seed in 1...100 as ClosedRange<UInt64> {
      var generator = GraphGenerator(seed: seed)
      let lines = generator.program(length: Self.length).lines
      #expect(GraphReader.program(lines.joined(separator: "\n")).lines == lines)
    }
  }

  @Test func aFailureIsShortenedToWhatItNeeds() {
    var generator = GraphGenerator(seed: 1)
    let short = GraphShrinker.shrink(generator.program(length: 200)) { program in
      program.lines.contains { $0.hasPrefix("renew") }
        && program.lines.contains { $0.hasPrefix("on") && $0.contains(" prior") }
    }
    #expect(short.lines.map { $0.split(separator: " ")[0] }.sorted() == ["on", "renew"])
    #expect(short.lines.contains { $0.hasSuffix(" prior") })
  }
}
