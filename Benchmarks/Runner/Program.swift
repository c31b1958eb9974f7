/// `Benchmarks`: measures what setting, observing and registering cost, and prints a table.
import Glibc

@main
struct Program {
  static func main() {
    do {
      try run(Options(Array(CommandLine.arguments.dropFirst())))
    } catch let error as UsageError {
      writeToStandardError("Benchmarks: \(error.message)\n\(Options.usage)")
      exit(2)
    } catch {
      writeToStandardError("Benchmarks: \(error)\n")
      exit(1)
    }
  }

  private static func run(_ options: Options) throws {
    if options.help { return print(Options.usage, terminator: "") }
    if let single = options.single {
      return try runAlone(try Options.named(single.name, in: catalog), single.count)
    }
    let families = try options.select(from: catalog)
    let names = families.flatMap { $0.cases.map(\.name) }
    if options.list { return print(names.joined(separator: "\n")) }

    let output = try options.jsonPath.map(OutputFile.init)
    let page = try options.htmlPath.map(Page.init)
    let machine = Machine.current()
    print(machine.summary, terminator: "\n\n")
    let figures = try measure(families, of: names.count, smoke: options.smoke)
    print(table(of: figures))
    print(options.smoke ? smokeNote : ratios(of: figures), terminator: "")
    let document = json(of: figures, on: machine)
    try output?.write(document)
    try page?.write(document)
  }

  /// Runs one case alone, as the programs of `Benchmarks/Peers` do.
  private static func runAlone(_ measured: Case, _ count: Int?) throws {
    if let count {
      guard case .time(let make) = measured.measure else {
        throw UsageError(message: "\(measured.name) is nothing that is repeated")
      }
      let workload = try make()
      try workload.run(count)
      return try workload.finish(count)
    }
    let stopwatch = Stopwatch(smoke: false, progress: Progress(total: 1))
    print(try stopwatch.turn(measured))
  }

  private static let smokeNote = "Smoke: each case works. The figures mean nothing.\n"

  /// Families that count bytes are first, before other families leave memory behind.
  private static func measure(_ families: [Family], of total: Int, smoke: Bool) throws -> [Figure] {
    var stopwatch = Stopwatch(smoke: smoke, progress: Progress(total: total))
    defer { stopwatch.progress.clear() }
    var figures = Array(repeating: [Figure](), count: families.count)
    for countsBytes in [true, false] {
      for (index, family) in families.enumerated() where family.countsBytes == countsBytes {
        figures[index] = try stopwatch.measure(family)
      }
    }
    return figures.flatMap(\.self)
  }
}
