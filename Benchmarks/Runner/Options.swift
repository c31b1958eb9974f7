/// The command line.

/// An argument that is invalid, or that can't be followed.
struct UsageError: Error {
  let message: String
}

struct Options {
  static let usage = """
    Usage: Benchmarks [--all] [--filter REGEX] [--smoke] [--json PATH] [--html PATH]
                      [--list] [--help]
           Benchmarks --turn NAME | --repeat NAME COUNT

      --all           measure the extra cases too
      --filter REGEX  measure only cases in whose name the expression is found
      --smoke         run each case for a moment, to see that it works; its figures mean nothing
      --json PATH     write machine and figures to a file as well
      --html PATH     write a page with pictures of the figures as well; Benchmarks/pictures draws them
      --turn NAME     print what an operation of one case takes in one turn, and nothing else
      --repeat NAME COUNT
                      do one case's operation so many times, for whoever counts instructions
      --list          print the names of the cases that would be measured, and nothing else
      --help          print this

    """

  var all = false
  var filter: Regex<AnyRegexOutput>?
  var smoke = false
  var jsonPath: String?
  var htmlPath: String?
  var list = false
  /// A case to run alone, and the number of repetitions; without a number it is timed.
  var single: (name: String, count: Int?)?
  var help = false

  /// - Parameter arguments: the arguments without the program's name.
  init(_ arguments: [String]) throws {
    var rest = arguments[...]
    while let option = rest.popFirst() {
      switch option {
      case "--all": all = true
      case "--filter": filter = try Self.expression(try Self.value(of: option, from: &rest))
      case "--smoke": smoke = true
      case "--json": jsonPath = try Self.value(of: option, from: &rest)
      case "--html": htmlPath = try Self.value(of: option, from: &rest)
      case "--list": list = true
      case "--turn": single = (try Self.value(of: option, from: &rest), nil)
      case "--repeat": single = try Self.repetition(option, from: &rest)
      case "--help", "-h": help = true
      default: throw UsageError(message: "unknown option '\(option)'")
      }
    }
  }

  /// The families with their selected cases, without families that have none.
  func select(from families: [Family]) throws -> [Family] {
    let selected = families.map { $0.filter(isSelected) }.filter { !$0.cases.isEmpty }
    if selected.isEmpty {
      let hint = all ? "" : "; --all has more cases"
      throw UsageError(message: "no case has a name that fits the filter\(hint)")
    }
    return selected
  }

  /// The case with this name, extra or not.
  static func named(_ name: String, in families: [Family]) throws -> Case {
    guard let found = families.lazy.flatMap(\.cases).first(where: { $0.name == name }) else {
      throw UsageError(message: "there is no case \(name); --all --list names all")
    }
    return found
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

  private static func repetition(
    _ option: String, from rest: inout ArraySlice<String>
  ) throws -> (String, Int) {
    let name = try value(of: option, from: &rest)
    guard let count = Int(try value(of: option, from: &rest)), count > 0 else {
      throw UsageError(message: "\(option) wants a name and how often")
    }
    return (name, count)
  }

  private static func expression(_ pattern: String) throws -> Regex<AnyRegexOutput> {
    do {
      return try Regex(pattern)
    } catch {
      throw UsageError(message: "'\(pattern)' is no regular expression: \(error)")
    }
  }
}
