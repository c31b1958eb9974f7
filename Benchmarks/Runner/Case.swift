/// The cases that the benchmark measures, grouped in families that are measured side by side.

/// The way in which a change gets from the setter to its observers, which each row of the table names.
enum Way: String {
  /// A function in the dispatch table, compiled for the setter's type.
  case typed
  /// A libffi closure in the dispatch table.
  case closure
  /// A call of the runtime in the setter itself, as in Swift properties.
  case uniform
  /// A lower bound without this package, for comparison.
  case floor
  /// A plain property.
  case plain
  /// No observer is called.
  case none = "–"
}

/// An operation that can be repeated.
struct Workload {
  /// Repeats the operation as often as the argument says. The loop is inside, so the closure's own call does
  /// not count.
  let run: (Int) throws -> Void
  /// Takes the total number of iterations. Checks that every observer was called for every change, and stops
  /// the program if not.
  let finish: (Int) throws -> Void
}

/// Stops the program unless the condition holds, with the message in release builds as well.
func require(_ condition: Bool, _ message: @autoclosure () -> String) {
  if !condition { fatalError(message()) }
}

struct Case {
  enum Measure {
    /// Nanoseconds for each iteration of a workload, which is created at the case's turn.
    case time(() throws -> Workload)
    /// Bytes for each observation, counted once because they do not vary.
    case bytes(() throws -> Double)
    /// Nanoseconds measured by another program, one value for each of the requested repetitions.
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

/// Cases whose figures are compared. Their repetitions alternate, so that a temporary slowdown of the machine
/// affects all of them.
struct Family {
  let cases: [Case]

  /// The family without the cases for which the predicate is false.
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
    followedAppendFamily,
    registrationFamily,
    cManyKeysFamily, cManyObjectsFamily, cDepthFamily, swiftManyKeysFamily, bytesFamily,
  ]
}
