/// The program `kvo-move`: reads the Swift files of folders, shows the edits that KVOMove would make, and writes them
/// on request. No rule of Behaviour is kept here.
import Foundation
import KVOMove

let usage = """
  Usage: kvo-move [--write] [--without-macro] [--json] FOLDER|FILE...

  Shows as a unified diff what moves Swift code of Apple's platforms to KVORuntime, and lists what needs a human by
  file and line, as they are once it is written. Writes after a "y", if it is run on a terminal, or at once with
  --write; not otherwise.

    --write          write without asking
    --without-macro  observable properties are @Observed, and classes have registerKeys;
                     otherwise classes are marked @KVO
    --json           print summary and list as JSON, without the diff, and do not ask
  """

func fail(_ message: String) -> Never {
  FileHandle.standardError.write(Data("kvo-move: \(message)\n".utf8))
  exit(2)
}

var (writes, isJSON, style, paths) = (false, false, ObservableStyle.macro, [String]())
for argument in CommandLine.arguments.dropFirst() {
  switch argument {
  case "--write": writes = true
  case "--without-macro": style = .wrapper
  case "--json": isJSON = true
  case "--help", "-h":
    print(usage)
    exit(0)
  case _ where argument.hasPrefix("-"): fail("unknown option \(argument)\n\(usage)")
  default: paths.append(argument)
  }
}
if paths.isEmpty { fail("no folder\n\(usage)") }

var unreadable: [ListedFinding] = []
let read = sources(at: paths).compactMap { path -> (path: String, text: String)? in
  switch text(at: path) {
  case .success(let text): return (path, text)
  case .failure(let problem):
    unreadable.append(ListedFinding(path: path, finding: problem.finding))
    return nil
  }
}
let moved = move(read, style: style)
let changed = moved.filter { !$0.edits.isEmpty }
let report = Report(moved, filesRead: read.count, unreadable)
if isJSON {
  print(try report.json())
} else {
  print(report.summary)
  if !changed.isEmpty { print() }
  for source in changed { print(source.diff, terminator: "") }
  print(report.list, terminator: "")
}

if !changed.isEmpty, !writes, !isJSON, isatty(STDIN_FILENO) == 1 {
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
  if !isJSON { print("\(counted(changed.count, "file")) written") }
}
