/// Finds the files that the program reads, and writes them. No rule of Behaviour is kept here.
import Foundation
import KVOMove

/// The Swift files of the folders, except hidden files and folders, such as `.build`. A file that several links lead
/// to is included once.
func sources(at paths: [String]) -> [String] {
  var known: Set<String> = []
  return paths.flatMap(sources(at:)).filter { path in
    known.insert(URL(fileURLWithPath: path).resolvingSymlinksInPath().path).inserted
  }
}

private func sources(at path: String) -> [String] {
  guard let isWalked = isFolder(path) else { fail("there is no \(path)") }
  guard isWalked else { return [path] }
  guard let walk = FileManager.default.enumerator(atPath: path) else { fail("can't read \(path)") }
  let names = walk.compactMap { $0 as? String }.filter { name in
    name.hasSuffix(".swift") && !name.split(separator: "/").contains { $0.hasPrefix(".") }
  }
  let files = names.sorted().map { path.hasSuffix("/") ? path + $0 : "\(path)/\($0)" }
  return files.filter { !(isFolder($0) ?? false) }
}

/// Nil if the path does not exist.
private func isFolder(_ path: String) -> Bool? {
  var isFolder: ObjCBool = false
  return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
    ? isFolder.boolValue : nil
}

/// The reason why a file has no text.
struct FileProblem: Error {
  var finding: Finding
}

func text(at path: String) -> Result<String, FileProblem> {
  func problem(_ reason: String) -> Result<String, FileProblem> {
    .failure(
      FileProblem(
        finding: Finding(line: 1, harm: .missing, reason: reason, advice: "it is left as it is")))
  }
  guard let data = FileManager.default.contents(atPath: path) else {
    return problem("can't be read")
  }
  guard let text = String(validating: data, as: UTF8.self) else { return problem("is not UTF-8") }
  return .success(text)
}

/// Writes the whole text or nothing. It follows links and keeps the file's mode.
func write(_ text: String, to path: String) throws {
  let file = URL(fileURLWithPath: path).resolvingSymlinksInPath()
  let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions]
  try Data(text.utf8).write(to: file, options: .atomic)
  try FileManager.default.setAttributes(
    [.posixPermissions: mode as Any], ofItemAtPath: file.path)
}
