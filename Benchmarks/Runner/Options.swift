/// The command line.

/// An argument that can't be understood, or understood but not followed.
struct UsageError: Error {
  let message: String
}

struct Options {
  static let usage = """
    Usage: Benchmarks [--all] [--filter REGEX] [--smoke] [--json PATH] [--list] [--help]

      --all           measure the extra cases too
      --filter REGEX  measure only cases in whose name the expression is found
      --smoke         run each case for a moment, to see that it works; its figures mean nothing
      --json PATH     write machine and figures to a file as well
      --list          print the names of the cases that would be measured, and nothing else
      --help          print this

    """

  var all = false
  var filter: Regex<AnyRegexOutput>?
  var smoke = false
  var jsonPath: String?
  var list = false
  var help = false

  /// - Parameter arguments: without the program's name.
  init(_ arguments: [String]) throws {
    var rest = arguments[...]
    while let option = rest.popFirst() {
      switch option {
      case "--all": all = true
      case "--filter": filter = try Self.expression(try Self.value(of: option, from: &rest))
      case "--smoke": smoke = true
      case "--json": jsonPath = try Self.value(of: option, from: &rest)
      case "--list": list = true
      case "--help", "-h": help = true
      default: throw UsageError(message: "unknown option '\(option)'")
      }
    }
  }

  /// The families with what is left of them, without those of which nothing is.
  func select(from families: [Family]) throws -> [Family] {
    let selected = families.map { $0.filter(isSelected) }.filter { !$0.cases.isEmpty }
    if selected.isEmpty {
      let hint = all ? "" : "; --all has more cases"
      throw UsageError(message: "no case has a name that fits the filter\(hint)")
    }
    return selected
  }

  private func isSelected(_ candidate: Case) -> Bool {
    guard all || !candidate.isExtra else { return false }
    guard let filter else { return true }
    return candidate.name.contains(filter)
  }

  private static func value(of option: String, from rest: inout ArraySlice<String>) throws -> String
  {
    guard let value = rest.popFirst() else {
      throw UsageError(message: "\(option) wants a value")
    }
    return value
  }

  private static func expression(_ pattern: String) throws -> Regex<AnyRegexOutput> {
    do {
      return try Regex(pattern)
    } catch {
      throw UsageError(message: "'\(pattern)' is no regular expression: \(error)")
    }
  }
}
