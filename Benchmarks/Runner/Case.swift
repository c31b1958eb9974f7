/// What the benchmark measures: cases, in families that are measured side by side.

/// How a change gets from the setter to its observers; part of each row of the table.
enum Way: String {
  /// By a function in the dispatch table that was compiled for the setter's type.
  case typed
  /// By a libffi closure in the dispatch table.
  case closure
  /// By the setter's own call of the runtime, as Swift properties do.
  case uniform
  /// Something without this package that a case is compared with.
  case floor
  /// A plain property.
  case plain
  /// Nobody is told.
  case none = "–"
}

/// Something that can be done many times.
struct Workload {
  /// Does it so many times. The loop is inside, so that the closure's own call does not count.
  let run: (Int) throws -> Void
  /// Told how often it was done altogether: checks that every observer was told of every change,
  /// and stops the program if not.
  let finish: (Int) throws -> Void
}

/// Stops the program unless the condition holds, with the message in release builds as well.
func require(_ condition: Bool, _ message: @autoclosure () -> String) {
  if !condition { fatalError(message()) }
}

struct Case {
  enum Measure {
    /// Nanoseconds for each iteration of a workload, which is made when the case's turn comes.
    case time(() throws -> Workload)
    /// Bytes for each observation, counted once: they do not vary.
    case bytes(() throws -> Double)
    /// Nanoseconds that another program has measured, one for each of so many repetitions.
    case program((Int) throws -> [Double])

    var unit: String {
      switch self {
      case .time, .program: "ns"
      case .bytes: "bytes"
      }
    }
  }

  let name: String
  let way: Way
  /// Only measured with `--all`.
  var isExtra = false
  let measure: Measure

  static func time(
    _ name: String, _ way: Way, isExtra: Bool = false, _ workload: @escaping () throws -> Workload
  ) -> Case {
    Case(name: name, way: way, isExtra: isExtra, measure: .time(workload))
  }

  static func bytes(
    _ name: String, _ way: Way, isExtra: Bool = false, _ count: @escaping () throws -> Double
  ) -> Case {
    Case(name: name, way: way, isExtra: isExtra, measure: .bytes(count))
  }
}

/// Cases whose figures are compared. Their repetitions alternate, so that whatever slows the
/// machine down for a while slows all of them.
struct Family {
  let cases: [Case]

  /// The family without the cases that the predicate refuses.
  func filter(_ isIncluded: (Case) -> Bool) -> Family {
    Family(cases: cases.filter(isIncluded))
  }

  var countsBytes: Bool {
    cases.contains { if case .bytes = $0.measure { true } else { false } }
  }
}

/// All cases, in the order of the table.
var catalog: [Family] {
  [
    cSetterFamily, cThreadsFamily, cObserversFamily, cOperatorFamily, swiftSetterFamily,
    swiftObserversFamily, swiftPathFamily,
    swiftComputedFamily, swiftBatchFamily, swiftFlowFamily, bridgeFamily, subclassFamily, sumFamily,
    appendFamily,
    registrationFamily,
    cManyKeysFamily, cManyObjectsFamily, cDepthFamily, swiftManyKeysFamily, bytesFamily,
  ]
}
