/// Measures families of cases.
///
/// Each case of a family is set up, warmed up and calibrated: how many iterations take about `slice`. Then
/// the cases take short turns, one repetition at a time, so that a slow moment of the machine affects all of
/// them alike. Times are the thread's processor time, which an interruption does not lengthen. At the end
/// every case checks its deliveries.
import Glibc

struct Stopwatch {
  /// The approximate time of one repetition, in nanoseconds.
  private static let slice = 5e6
  /// The minimum time that a case runs before it is measured, in nanoseconds.
  private static let warmUp = 30e6
  private static let repetitions = 101
  private static let smokeIterations = 1000

  let smoke: Bool
  var progress: Progress

  mutating func measure(_ family: Family) throws -> [Figure] {
    var figures: [String: Figure] = [:]
    var timed: [TimedCase] = []
    for measured in family.cases {
      progress.show(measured.name)
      switch measured.measure {
      case .bytes(let count):
        figures[measured.name] = Figure(of: measured, samples: [try count()])
      case .program(let samples):
        let repetitions = smoke ? 1 : Self.repetitions
        figures[measured.name] = Figure(of: measured, samples: try samples(repetitions))
      case .time(let workload):
        timed.append(try prepare(measured, try workload()))
      }
    }
    for repetition in 0..<(smoke ? 1 : Self.repetitions) {
      progress.show("repetition \(repetition + 1)", of: timed.count)
      for index in timed.indices { try timed[index].repeatOnce() }
    }
    for one in timed { figures[one.measured.name] = try one.finish() }
    return family.cases.compactMap { figures[$0.name] }
  }

  /// One turn of one case, after warming up.
  func turn(_ measured: Case) throws -> Double {
    switch measured.measure {
    case .bytes(let count): return try count()
    case .program(let samples): return Figure(of: measured, samples: try samples(3)).median
    case .time(let workload):
      var timed = try prepare(measured, try workload())
      try timed.repeatOnce()
      return try timed.finish().median
    }
  }

  private func prepare(_ measured: Case, _ workload: Workload) throws -> TimedCase {
    var prepared = TimedCase(measured, workload)
    if smoke {
      prepared.iterations = Self.smokeIterations
    } else {
      try prepared.calibrate(slice: Self.slice, warmUp: Self.warmUp)
    }
    return prepared
  }
}

/// A case that is being timed.
private struct TimedCase {
  let measured: Case
  /// The iterations of one repetition.
  var iterations = 1

  private let workload: Workload
  private var total = 0
  private var samples: [Double] = []

  init(_ measured: Case, _ workload: Workload) {
    self.measured = measured
    self.workload = workload
  }

  mutating func repeatOnce() throws {
    samples.append(try time() / Double(iterations))
  }

  /// Doubles the iterations until they take half the slice, adjusts them to the slice, and runs the case
  /// until it is warm.
  mutating func calibrate(slice: Double, warmUp: Double) throws {
    var elapsed = try time()
    var spent = elapsed
    while elapsed < slice / 2 {
      iterations *= 2
      elapsed = try time()
      spent += elapsed
    }
    iterations = max(1, Int(Double(iterations) * slice / elapsed))
    while spent < warmUp { spent += try time() }
  }

  /// Checks the deliveries of all iterations.
  func finish() throws -> Figure {
    try workload.finish(total)
    return Figure(of: measured, samples: samples)
  }

  /// Runs the iterations and returns the nanoseconds that they took.
  private mutating func time() throws -> Double {
    total += iterations
    let start = now()
    try workload.run(iterations)
    return now() - start
  }
}

/// Processor time of this thread, in nanoseconds.
private func now() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
}
