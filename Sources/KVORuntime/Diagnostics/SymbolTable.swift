internal import CKVORuntime
internal import CSwiftRuntime

/// Looks up symbols of the program and its libraries, which name functions. They are used for display only, since a
/// stripped program has none. Reading a program's file takes a millisecond or more.
enum SymbolTable {
  private struct Search {
    let address: UnsafeRawPointer
    var names: Set<String> = []
  }

  /// The mangled names at an address.
  static func names(at address: UnsafeRawPointer) -> Set<String> {
    var search = Search(address: address)
    withUnsafeMutablePointer(to: &search) { kvo_visit_symbols(address, visit, $0) }
    return search.names
  }

  private static let visit:
    @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>, UnsafeRawPointer) -> Void = {
      let search = $0!.assumingMemoryBound(to: Search.self)
      if search.pointee.address == $2 { search.pointee.names.insert(String(cString: $1)) }
    }

  /// The demangled name; nil if it is not a mangled Swift name.
  static func demangled(_ name: String) -> String? {
    swift_demangle(name, name.utf8.count, nil, nil, 0).map {
      withoutFiles(Substring(String(taking: $0)))
    }
  }

  // Removes the file's discriminator from private names: "M.(Person in _8D16…).(name in _8D16…).getter"
  private static func withoutFiles(_ text: Substring) -> String {
    let mark = " in _"
    var (result, rest) = ("", text)
    while let place = rest.firstIndex(ofText: mark) {
      let file = rest[place...].dropFirst(mark.count).prefix { $0.isHexDigit }
      let opening = rest[..<place].lastIndex(of: "(")
      if let opening, file.count == 32, rest[file.endIndex...].first == ")" {
        result += rest[..<opening] + rest[rest.index(after: opening)..<place]
        rest = rest[file.endIndex...].dropFirst()
      } else {
        result += rest[..<file.endIndex]
        rest = rest[file.endIndex...]
      }
    }
    return result + rest
  }
}

extension Substring {
  /// Where the text first occurs. (The library does without Foundation and regular expressions.)
  func firstIndex(ofText text: String) -> Index? {
    indices.first { self[$0...].hasPrefix(text) }
  }

  /// Where the text last occurs.
  func lastIndex(ofText text: String) -> Index? {
    indices.last { self[$0...].hasPrefix(text) }
  }
}
