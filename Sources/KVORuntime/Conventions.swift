internal import CKVORuntime

// Methods by whose names Objective-C's key-value coding goes, and Swift's can't: where a class has one,
// and has not declared what it says, that is a hint. A class's methods are seen in the program's symbols:
// not where these have been stripped, nor what the optimiser has left out.

extension KVOClass {
  /// Tells of the class's own methods that are named by a convention and that no declaration stands for.
  func hintAtConventions() {
    guard Hint.areWanted, type != KVOObject.self else { return }
    let members = Set(SymbolTable.members(of: type).compactMap { Member($0) })
    var told: Set<String> = []
    for convention in members.sorted(by: { $0.name < $1.name }).compactMap(convention(of:))
    where told.insert(convention.method + " " + convention.key).inserted {
      Hint.tell(
        """
        \(convention.method) of \(name) has a name by which Objective-C's key-value coding would find \
        it for "\(convention.key)"; Swift's methods aren't found by their names. Declare it in \
        registerKeys(): declareKeys { $0.\(convention.entry) }. Or call it otherwise, if it has \
        nothing to do with that key.
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
    let behind = rest.dropFirst(name.count)
    parameters = behind.first == "(" ? String(behind.prefix { $0 != ")" }) : ""
  }

  /// Name and labels as one word, which is the same however a selector is divided among them:
  /// "removeObjectFromItemsAt" of `removeObject(fromItemsAt:)` and of `removeObjectFromItems(at:)`.
  var word: String {
    labels.reduce(name) { $0 + $1.prefix(1).uppercased() + $1.dropFirst() }
  }

  // "(_: Swift.Dictionary<A, B>, inItemsAt: Swift.Int": what stands before a colon behind a comma or the
  // bracket. A type's own parts have none that look so.
  private var labels: [Substring] {
    parameters.dropFirst().split(separator: ",").compactMap { parameter in
      let parameter = parameter.drop { $0 == " " }
      let label = parameter.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
      return parameter.dropFirst(label.count).first == ":" && label != "_" ? label : nil
    }
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
    guard !member.isStatic else { return nil }
    let word = member.word
    for form in CollectionForm.all where form.takes(member) {
      guard let key = form.key(in: word) else { continue }
      return Convention(
        key: key, method: member.name, entry: form.entry(of: key), needsKey: form.needsKey
      ) { $0.toMany[$1] != nil }
    }
    return nil
  }

  private static func key(in name: String, after prefix: String) -> String? {
    guard name.hasPrefix(prefix) else { return nil }
    return uncapitalized(name.dropFirst(prefix.count))
  }
}

/// A form of the methods of a to-many key, as words (`Member.word`): Objective-C's selectors, as Swift's
/// programs spell them and as Swift imports them, where `Object`, `Index` and the second key may be missing.
private struct CollectionForm {
  enum Order { case ordered, unordered, either }

  let order: Order
  let beginning: String
  /// Behind the key. `*` stands for the key once more.
  let endings: [String]
  /// Whether the name is one that other methods have as well, so that the class must have the key.
  var needsKey = false
  /// One of these words must be in the types of the parameters.
  var types: [String] = []

  /// The first that fits has it: what fits nearly everything comes last.
  static let all = [
    CollectionForm(order: .either, beginning: "countOf", endings: [""]),
    CollectionForm(order: .ordered, beginning: "objectIn", endings: ["AtIndex", "At"]),
    CollectionForm(order: .ordered, beginning: "insertObjectIn", endings: ["AtIndex", "At"]),
    CollectionForm(order: .ordered, beginning: "insertIn", endings: ["AtIndex", "At"]),
    CollectionForm(order: .ordered, beginning: "removeObjectFrom", endings: ["AtIndex", "At"]),
    CollectionForm(order: .ordered, beginning: "removeFrom", endings: ["AtIndex", "At"]),
    CollectionForm(order: .ordered, beginning: "replaceObjectIn", endings: replaced),
    CollectionForm(order: .ordered, beginning: "replaceIn", endings: replaced),
    CollectionForm(order: .ordered, beginning: "get", endings: ["Range"], needsKey: true),
    CollectionForm(
      order: .ordered, beginning: "insert", endings: ["AtIndexes", "At"], needsKey: true,
      types: indexes),
    CollectionForm(
      order: .ordered, beginning: "remove", endings: ["AtIndexes", "At"], needsKey: true,
      types: indexes),
    CollectionForm(
      order: .ordered, beginning: "replace",
      endings: ["AtIndexesWith*", "AtIndexesWith", "AtWith*", "AtWith"], needsKey: true,
      types: indexes),
    CollectionForm(order: .unordered, beginning: "enumeratorOf", endings: [""]),
    CollectionForm(order: .unordered, beginning: "memberOf", endings: [""]),
    CollectionForm(order: .unordered, beginning: "add", endings: ["Object"]),
    CollectionForm(order: .unordered, beginning: "remove", endings: ["Object"]),
    CollectionForm(order: .unordered, beginning: "addTo", endings: [""], needsKey: true),
    CollectionForm(order: .unordered, beginning: "removeFrom", endings: [""], needsKey: true),
    CollectionForm(
      order: .unordered, beginning: "add", endings: [""], needsKey: true, types: collections),
    CollectionForm(
      order: .unordered, beginning: "remove", endings: [""], needsKey: true, types: collections),
    CollectionForm(
      order: .unordered, beginning: "intersect", endings: [""], needsKey: true, types: collections),
    CollectionForm(
      order: .ordered, beginning: "", endings: ["AtIndexes", "At"], needsKey: true, types: indexes),
  ]
  private static let replaced = ["AtIndexWithObject", "AtIndexWith", "AtWithObject", "AtWith"]
  private static let indexes = ["IndexSet", "RangeSet"]
  private static let collections = ["Set", "Array", "["]

  func takes(_ member: Member) -> Bool {
    types.isEmpty || types.contains { Substring(member.parameters).firstRange(ofText: $0) != nil }
  }

  func key(in word: String) -> String? {
    guard word.hasPrefix(beginning) else { return nil }
    let rest = word.dropFirst(beginning.count)
    for ending in endings {
      if ending.last == "*" {
        if let key = doubled(in: rest, around: ending.dropLast()) { return uncapitalized(key) }
      } else if rest.hasSuffix(ending), rest.count > ending.count {
        let key = rest.dropLast(ending.count)
        return beginning.isEmpty ? String(key) : uncapitalized(key)
      }
    }
    return nil
  }

  private func doubled(in rest: Substring, around middle: Substring) -> Substring? {
    let key = rest.prefix(max(rest.count - middle.count, 0) / 2)
    return !key.isEmpty && rest == key + middle + key ? key : nil
  }

  func entry(of key: String) -> String {
    switch order {
    case .ordered: "orderedToMany(\"\(key)\", …)"
    case .unordered: "unorderedToMany(\"\(key)\", …)"
    case .either: "orderedToMany(\"\(key)\", …) or unorderedToMany"
    }
  }
}

/// The key in a name such as `FullName`; nil where no capital begins it.
private func uncapitalized(_ name: Substring) -> String? {
  guard let first = name.first, first.isUppercase else { return nil }
  return first.lowercased() + name.dropFirst()
}
