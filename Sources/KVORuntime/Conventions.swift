internal import CKVORuntime

// Methods by whose names Objective-C's key-value coding goes, and Swift's can't: where a class has one,
// and has not declared what it says, that is told once, if the log is asked for it. A class's methods are
// seen in the program's symbols: not where these have been stripped, nor what the optimiser has left out.

extension KVOClass {
  /// Tells of the class's own methods that are named by a convention and that nobody calls.
  func reportConventions() {
    guard kvo_logs_conventions(), type != KVOObject.self else { return }
    let members = Set(SymbolTable.members(of: type).compactMap { Member($0) })
    var told: Set<String> = []
    for convention in members.sorted(by: { $0.name < $1.name }).compactMap(convention(of:))
    where told.insert(convention.method).inserted {
      kvo_log_convention(
        """
        \(name) has \(convention.method), which nothing calls: methods of Swift aren't found by their \
        names. Declare it in registerKeys(): declareKeys { $0.\(convention.entry) }.
        """)
    }
  }

  private func convention(of member: Member) -> Convention? {
    let found = Convention.all.lazy.compactMap { $0(member) }.first { convention in
      convention.key.first?.isLetter == true && (!convention.needsKey || hasKey(convention.key))
    }
    return found.flatMap { isDeclared($0) ? nil : $0 }
  }

  private func hasKey(_ key: String) -> Bool {
    find(key) != nil || Field.isNamed(key, in: type)
      || SymbolTable.properties(of: type).contains(key)
  }

  private func isDeclared(_ convention: Convention) -> Bool {
    sequence(first: self, next: \.superclass).contains {
      convention.isDeclared($0.preparation.declared, convention.key)
    }
  }
}

/// A method or property of a class, as its symbol tells it.
private struct Member: Hashable {
  let name: String
  let isStatic: Bool
  /// What stands in the brackets behind the name.
  let parameters: String

  /// Nil for what is neither: "method descriptor for …", "… in closure #1 in …".
  init?(_ symbol: Substring) {
    let statically = "static "
    isStatic = symbol.hasPrefix(statically)
    let text = isStatic ? symbol.dropFirst(statically.count) : symbol
    let start = Self.lastName(in: text)
    let rest = text[start...]
    let name = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
    guard !name.isEmpty, !text[..<start].contains(" ") else { return nil }
    self.name = String(name)
    parameters = String(rest.drop { $0 != "(" }.prefix { $0 != ")" })
  }

  private static func lastName(in text: Substring) -> Substring.Index {
    var end = text.firstIndex { $0 == "(" || $0 == " " } ?? text.endIndex
    // "M.Person.name.getter : …"
    if let accessor = text.firstRange(ofText: ".getter"), accessor < end { end = accessor }
    return text[..<end].lastIndex(of: ".").map(text.index(after:)) ?? text.startIndex
  }
}

/// What a method's name means on Apple's platforms, and what says it here.
private struct Convention {
  let key: String
  let method: String
  let entry: String
  /// Whether the name is one that other methods have as well, so that the class must have the key.
  let needsKey: Bool
  let isDeclared: (KeyDeclarations<KVOObject>, String) -> Bool

  static var all: [(Member) -> Convention?] { [affecting, automatic, validator, collection] }

  private static func affecting(_ member: Member) -> Convention? {
    guard member.isStatic, !member.parameters.contains("forKey"),
      let key = key(in: member.name, after: "keyPathsForValuesAffecting")
    else { return nil }
    return Convention(
      key: key, method: member.name, entry: "dependency(\"\(key)\", on: …)", needsKey: false
    ) { $0.dependencies[$1] != nil }
  }

  private static func automatic(_ member: Member) -> Convention? {
    guard member.isStatic, let key = key(in: member.name, after: "automaticallyNotifiesObserversOf")
    else { return nil }
    return Convention(
      key: key, method: member.name, entry: "automaticallyNotifies(\"\(key)\", …)", needsKey: false
    ) { $0.automatic[$1] != nil }
  }

  // One value, to be replaced.
  private static func validator(_ member: Member) -> Convention? {
    let isReplaced =
      member.parameters.contains("inout ") || member.parameters.contains("Pointer<")
    guard !member.isStatic, isReplaced, let key = key(in: member.name, after: "validate") else {
      return nil
    }
    return Convention(
      key: key, method: member.name,
      entry: "validator(\"\(key)\") { object, value in try object.\(member.name)(&value) }",
      needsKey: true
    ) { $0.validators[$1] != nil }
  }

  private static func collection(_ member: Member) -> Convention? {
    guard !member.isStatic, let key = collectionKey(member) else { return nil }
    return Convention(
      key: key, method: member.name, entry: "orderedToMany(\"\(key)\", …) or unorderedToMany",
      needsKey: false
    ) { $0.toMany[$1] != nil }
  }

  private static let prefixes = [
    "countOf", "objectIn", "enumeratorOf", "memberOf", "removeObjectFrom", "replaceObjectIn",
  ]

  private static func collectionKey(_ member: Member) -> String? {
    if let key = prefixes.lazy.compactMap({ key(in: member.name, after: $0) }).first {
      return key.hasSuffix("AtIndex") ? String(key.dropLast("AtIndex".count)) : key
    }
    if ["insertObject", "object", "replaceObject"].contains(member.name) {
      return keyInLabel(member.parameters)
    }
    guard member.name.hasSuffix("Object") else { return nil }
    let name = String(member.name.dropLast("Object".count))
    return key(in: name, after: "add") ?? key(in: name, after: "remove")
  }

  // "(_: Swift.String, inItemsAtIndex: Swift.Int"
  private static func keyInLabel(_ parameters: String) -> String? {
    for label in parameters.split(whereSeparator: { !$0.isLetter && !$0.isNumber }) {
      guard label.hasPrefix("in"), let end = label.firstRange(ofText: "At") else { continue }
      if let key = key(in: String(label[..<end]), after: "in") { return key }
    }
    return nil
  }

  private static func key(in name: String, after prefix: String) -> String? {
    guard name.hasPrefix(prefix) else { return nil }
    let rest = name.dropFirst(prefix.count)
    guard let first = rest.first, first.isUppercase else { return nil }
    return first.lowercased() + rest.dropFirst()
  }
}
