/// Finds the keys that calls name by constants and variables, and those that a registration with a context is for. No
/// rule of Behaviour is kept here.
import SwiftSource

/// The keys that a source observes.
struct Observations {
  var all: Set<String> = []
  /// Those that are observed with a context, by the context's name.
  var byContext: [String: Set<String>] = [:]
}

extension SourceFile {
  /// The key that is written at a token: `"title"`, or the last part of `#keyPath(Song.title)`.
  func key(at index: Int) -> (key: String, last: Int)? {
    if tokens[index].kind == .string, tokens[index].interpolations.isEmpty {
      let path = tokens[index].text.filter { $0 != "\"" }
      return path.split(separator: ".").last.map { (String($0), index) }
    }
    guard tokens[index].is("#keyPath"), let close = closing(of: index + 1),
      let name = tokens[index..<close].last(where: { $0.kind == .identifier })
    else { return nil }
    return (name.name, close)
  }

  /// The constants that hold a key: `static let rate = "rate"`.
  func keyConstants() -> [(name: String, key: String)] {
    tokens.indices.compactMap { index in
      guard isKeyword(index, among: ["let"]), tokens[index + 1].kind == .identifier else {
        return nil
      }
      var value = index + 2
      if tokens[value].is(":"), tokens[value + 1].text == "String" { value += 2 }
      guard tokens[value].is("="), let (key, last) = key(at: value + 1), endsStatement(last) else {
        return nil
      }
      return (tokens[index + 1].name, key)
    }
  }

  /// The last name of an argument: `rate` in `forKeyPath: Keys.rate`.
  func argument(_ labels: Set<String>, ofCallAt index: Int) -> String? {
    guard let close = closing(of: index + 1),
      let label = (index + 2..<close).first(where: {
        labels.contains(tokens[$0].text) && tokens[$0 + 1].is(":") && enclosing[$0] == index + 1
      })
    else { return nil }
    let end = (label + 2..<close).first { tokens[$0].is(",") && enclosing[$0] == index + 1 }
    return tokens[label + 2..<(end ?? close)].last { $0.kind == .identifier }?.name
  }
}

extension Project {
  /// The keys that a call may be for. If they are in a variable, they are all keys that its source spells.
  func keys(ofStringCallAt index: Int, in file: Int) -> [String] {
    let source = files[file]
    let written = source.keys(ofCallAt: index).keys
    if !written.isEmpty { return written }
    let name = source.argument(["forKey", "forKeyPath", "forKeys"], ofCallAt: index)
    if let key = name.flatMap({ constants[$0] }) { return [key] }
    return spelledKeys[file]
  }

  func findObservations(in file: Int) -> Observations {
    let (source, found) = (files[file], Observations())
    return source.tokens.indices.reduce(into: found) { found, call in
      guard source.tokens[call].text == "addObserver", source.isStringCall(call) else { return }
      let all = keys(ofStringCallAt: call, in: file)
      let keys = source.keys(ofCallAt: call).keys.isEmpty ? all : all.suffix(1)
      found.all.formUnion(keys)
      guard let context = source.argument(["context"], ofCallAt: call) else { return }
      found.byContext[context, default: []].formUnion(keys)
    }
  }
}
