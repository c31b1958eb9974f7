internal import CKVORuntime
internal import CSwiftRuntime

/// Looks up symbols of the program and its libraries. They name methods, and the properties that a key path
/// identifies only by their getters. Reading a program's file takes a millisecond or more. A stripped program
/// has no symbols.
enum SymbolTable {
  private static let known = Locked<[UnsafeRawPointer: Set<String>]>([:])

  /// The mangled names at an address. Results are cached: while hints are wanted, each registration asks for
  /// those of its getters. The code of the program bounds their number.
  static func names(at address: UnsafeRawPointer) -> Set<String> {
    if let names = known.withLock({ $0[address] }) { return names }
    let names = found(near: address) { $1 == address }
    known.withLock { $0[address] = names }
    return names
  }

  /// The mangled names with a prefix, in the program or library that contains an address.
  static func names(beginningWith prefix: String, near address: UnsafeRawPointer) -> Set<String> {
    found(near: address) { name, _ in prefix.begins(name) }
  }

  private typealias Condition = (UnsafePointer<CChar>, UnsafeRawPointer) -> Bool

  private struct Search {
    let condition: Condition
    var names: Set<String> = []
  }

  private static func found(near address: UnsafeRawPointer, _ condition: Condition) -> Set<String> {
    withoutActuallyEscaping(condition) { condition in
      var search = Search(condition: condition)
      withUnsafeMutablePointer(to: &search) { kvo_visit_symbols(address, visit, $0) }
      return search.names
    }
  }

  private static let visit:
    @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>, UnsafeRawPointer) -> Void = {
      let search = $0!.assumingMemoryBound(to: Search.self)
      guard search.pointee.condition($1, $2) else { return }
      search.pointee.names.insert(String(cString: $1))
    }

  /// The demangled name, with raw identifiers masked; nil if it is not a mangled Swift name.
  static func demangled(_ name: String) -> String? {
    swift_demangle(name, name.utf8.count, nil, nil, 0).map {
      withoutFiles(Substring(RawIdentifier.masked(String(taking: $0))))
    }
  }

  // Removes the file's discriminator from private names: "M.(Person in _8D16…).(name in _8D16…).getter"
  private static func withoutFiles(_ text: Substring) -> String {
    var (result, rest) = ("", text)
    while let place = rest.firstRange(ofText: " in _") {
      let file = rest[place...].dropFirst(5).prefix { $0.isHexDigit }
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

// MARK: Symbols of a class

extension SymbolTable {
  /// The class's name in symbols: "M.Person"; nil if it has none.
  static func qualifiedName(of type: AnyClass) -> String? {
    let known = "nominal type descriptor for "
    let descriptor = kvo_swift_descriptor(unsafeBitCast(type, to: UnsafeRawPointer.self))
    let names = names(at: descriptor).compactMap(demangled).filter { $0.hasPrefix(known) }
    return names.first.map { String($0.dropFirst(known.count)) }
  }

  /// The names of a class's own properties that have getters. Cached for each class: a server may report an
  /// error for each unknown name that a client sends.
  static func properties(of type: KVOObject.Type) -> Set<String> {
    let id = ObjectIdentifier(type)
    if let known = propertiesOfClasses.withLock({ $0[id] }) { return known }
    let found = findProperties(of: type)
    propertiesOfClasses.withLock { $0[id] = found }
    return found
  }

  private static let propertiesOfClasses = Locked<[ObjectIdentifier: Set<String>]>([:])

  private static func findProperties(of type: KVOObject.Type) -> Set<String> {
    let getter = ".getter : "
    return Set(
      members(of: type).compactMap { symbol in
        symbol.firstRange(ofText: getter).map {
          RawIdentifier.unmasked(PropertySymbol.lastName(in: symbol[..<$0]))
        }
      })
  }

  /// The demangled symbols of a class's own members, which begin with the mangled name of the class. Raw
  /// identifiers are masked.
  static func members(of type: KVOObject.Type) -> [Substring] {
    let descriptor = kvo_swift_descriptor(
      unsafeBitCast(type as AnyClass, to: UnsafeRawPointer.self))
    guard let name = names(at: descriptor).first(where: { $0.hasSuffix("Mn") }) else { return [] }
    return names(beginningWith: String(name.dropLast(2)), near: descriptor).compactMap {
      demangled($0).map { Substring($0) }
    }
  }
}

extension Substring {
  /// Where the text first occurs. (The library does without Foundation and regular expressions.)
  func firstRange(ofText text: String) -> Index? {
    indices.first { self[$0...].hasPrefix(text) }
  }

  /// Where the text last occurs.
  func lastRange(ofText text: String) -> Index? {
    indices.last { self[$0...].hasPrefix(text) }
  }
}
