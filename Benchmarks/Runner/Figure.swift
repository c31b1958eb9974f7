/// The result of measuring a case.
struct Figure {
  let measured: Case
  let median: Double
  let min: Double
  let max: Double
  let repetitions: Int

  /// - Parameter samples: one for each repetition, at least one.
  init(of measured: Case, samples: [Double]) {
    let sorted = samples.sorted()
    let middle = sorted.count / 2
    self.measured = measured
    median = sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    min = sorted[0]
    max = sorted[sorted.count - 1]
    repetitions = sorted.count
  }
}
