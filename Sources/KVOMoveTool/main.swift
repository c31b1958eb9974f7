/// The program `kvo-move`: reads the Swift files of folders, shows what KVOMove would change, and writes it where asked.
/// No rule of Behaviour is kept here.
import Foundation
import KVOMove

let usage = """
  Usage: kvo-move [--write] [--without-macro] FOLDER|FILE...

  Shows as a unified diff what moves Swift code of Apple's platforms to KVORuntime, and lists what needs a human by
  file and line, as they are once it is written. Writes after a "y", if it is run on a terminal, or at once with
  --write; not otherwise.

    --write          write without asking
    --without-macro  observable properties are @Observed, and classes have registerKeys;
                     otherwise classes are marked @KVO
  """

func fail(_ message: String) -> Never {
  FileHandle.standardError.write(Data("kvo-move: \(message)\n".utf8))
  exit(2)
}

func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

var (writes, style, paths) = (false, ObservableStyle.macro, [String]())
for argument in CommandLine.arguments.dropFirst() {
  switch argument {
  case "--write": writes = true
  case "--without-macro": style = .wrapper
  case "--help", "-h":
    print(usage)
    exit(0)
  case _ where argument.hasPrefix("-"): fail("unknown option \(argument)\n\(usage)")
  default: paths.append(argument)
  }
}
if paths.isEmpty { fail("no folder\n\(usage)") }

let read = sources(at: paths).compactMap { path in text(at: path).map { (path: path, text: $0) } }
let moved = move(read, style: style)
let changed = moved.filter { !$0.edits.isEmpty }
for source in changed { print(source.diff, terminator: "") }
let count = moved.reduce(0) { $0 + $1.findings.count }
if count > 0 {
  print("\nFor you to look at:")
  for source in moved {
    for finding in source.findings {
      print("\(source.path):\(finding.line): \(finding.reason): \(finding.advice)")
    }
  }
}
let modules = Set(moved.flatMap(\.modules)).sorted()
if !modules.isEmpty {
  print(
    """

    Targets that import \(modules.joined(separator: " and ")) from now on have to depend on the \
    \(modules.count == 1 ? "product of that name" : "products of these names") in Package.swift.
    """)
}
print(
  """

  \(counted(read.count, "file")) read, \(changed.count) to change, \(counted(count, "place")) to look at
  """)

if !changed.isEmpty, !writes, isatty(STDIN_FILENO) == 1 {
  print("Write? [y/N] ", terminator: "")
  fflush(nil)
  writes = readLine()?.lowercased() == "y"
}
if writes {
  for source in changed {
    do {
      try write(source.text, to: source.path)
    } catch {
      fail("can't write \(source.path): \(error.localizedDescription)")
    }
  }
  print("\(counted(changed.count, "file")) written")
}
