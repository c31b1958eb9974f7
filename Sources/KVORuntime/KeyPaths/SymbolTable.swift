internal import CKVORuntime
internal import CSwiftRuntime

/// What the compiler called functions: for names that nothing else tells, of properties that a key path
/// knows by their getters, and of methods. The program's file is read for it, which takes a millisecond
/// and more; where it has been stripped of its symbols there are none.
enum SymbolTable {
  private static let known = Locked<[UnsafeRawPointer: Set<String>]>([:])

  /// The mangled names of what stands at an address. Kept: where hints are wanted, each registration asks for
  /// those of its getters, and a program has no more getters than it has code.
  static func names(at address: UnsafeRawPointer) -> Set<String> {
    if let names = known.withLock({ $0[address] }) { return names }
    let names = found(near: address) { $1 == address }
    known.withLock { $0[address] = names }
    return names
  }

  /// The mangled names that begin so, in the program or library in which an address lies.
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

  /// Nil for what is no name of Swift's. Names that are no identifiers are masked.
  static func demangled(_ name: String) -> String? {
    swift_demangle(name, name.utf8.count, nil, nil, 0).map {
      withoutFiles(Substring(RawIdentifier.masked(String(taking: $0))))
    }
  }

  // Of what is private the file is told as well: "M.(Person in _8D16…).(name in _8D16…).getter"
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

// MARK: Of a class

extension SymbolTable {
  /// What a class is called in symbols: "M.Person"; nil where it has none.
  static func qualifiedName(of type: AnyClass) -> String? {
    let known = "nominal type descriptor for "
    let descriptor = kvo_swift_descriptor(unsafeBitCast(type, to: UnsafeRawPointer.self))
    let names = names(at: descriptor).compactMap(demangled).filter { $0.hasPrefix(known) }
    return names.first.map { String($0.dropFirst(known.count)) }
  }

  /// The names of a class's own properties that have getters. Kept for each class: a program may print an
  /// error for each name that a client sends.
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

  /// The symbols of what a class itself has, which begin as that of the class's own description. Names that
  /// are no identifiers are masked.
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
  /// Where a text begins in it. (The library goes without Foundation and regular expressions.)
  func firstRange(ofText text: String) -> Index? {
    indices.first { self[$0...].hasPrefix(text) }
  }

  /// Where it begins for the last time.
  func lastRange(ofText text: String) -> Index? {
    indices.last { self[$0...].hasPrefix(text) }
  }
}
