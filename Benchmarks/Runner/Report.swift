/// The figures in a readable form.

/// Two cases, the first of which may cost at most `factor` times the second.
private struct Limit {
  let name: String
  let reference: String
  let factor: Double
}

private let limits = [
  Limit(name: "swift.set.unobserved", reference: "swift.plain.set", factor: 1.15),
  Limit(name: "swift.get", reference: "swift.plain.get", factor: 1.15),
  Limit(name: "swift.sub.set", reference: "swift.sub.plain.set", factor: 1.15),
  Limit(name: "swift.sub.get", reference: "swift.sub.plain.get", factor: 1.15),
  Limit(name: "swift.sub.own", reference: "swift.sub.plain.own", factor: 1.15),
  Limit(name: "swift.sum", reference: "swift.sum.plain", factor: 1.5),
  Limit(name: "swift.append.200000", reference: "swift.append.2000", factor: 1.3),
  Limit(
    name: "swift.append.followed.200000", reference: "swift.append.followed.2000", factor: 2),
  Limit(name: "swift.set.observed", reference: "floor.swift.didset", factor: 3),
  Limit(name: "swift.manykeys.token.10", reference: "floor.swift.didset", factor: 3),
  Limit(name: "swift.manykeys.handle.10", reference: "swift.set.observed", factor: 1.2),
  Limit(name: "swift.manykeys.handle.10000", reference: "swift.manykeys.handle.10", factor: 5),
  Limit(
    name: "swift.manykeys.batchtoken.10000", reference: "swift.manykeys.batchtoken.10", factor: 3.5),
  Limit(name: "c.set.observed.closure", reference: "floor.ffi.closure", factor: 2.5),
  Limit(name: "c.set.observed.typed", reference: "c.set.observed.closure", factor: 0.5),
  Limit(name: "c.path.leaf.3", reference: "c.set.observed.typed", factor: 8),
  Limit(name: "c.dependent.5", reference: "c.set.observed.typed", factor: 8),
  Limit(name: "swift.computed.10000", reference: "swift.computed.10000.get", factor: 2.2),
  Limit(name: "c.manykeys.closure.1000", reference: "c.manykeys.closure.10", factor: 1.3),
]

/// One row for each figure.
func table(of figures: [Figure]) -> String {
  let header = ["case", "way", "unit", "median", "min", "max", "repetitions"]
  let rows = figures.map { figure in
    [figure.measured.name, figure.measured.way.rawValue, figure.measured.measure.unit]
      + [figure.median, figure.min, figure.max].map { $0.fixed(2) }
      + [String(figure.repetitions)]
  }
  return alignedColumns([header] + rows, leading: 3)
}

/// The ratios that have a limit, if both cases were measured. Empty if there are none.
func ratios(of figures: [Figure]) -> String {
  let medians = Dictionary(uniqueKeysWithValues: figures.map { ($0.measured.name, $0.median) })
  let rows = limits.compactMap { limit -> [String]? in
    guard let median = medians[limit.name], let reference = medians[limit.reference] else {
      return nil
    }
    let ratio = median / reference
    return [
      "\(limit.name) / \(limit.reference)", ratio <= limit.factor ? "within" : "over",
      ratio.fixed(2), limit.factor.fixed(2),
    ]
  }
  guard !rows.isEmpty else { return "" }
  return alignedColumns([["ratio of medians", "", "is", "limit"]] + rows, leading: 2)
}
