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
    return found.flatMap { isDeclared($0) || isNeedless($0) ? nil : $0 }
  }

  // The elements of an @Observed property are changed by a handle, of which observers are told: an accessor
  // that does so needs no declaration.
  private func isNeedless(_ convention: Convention) -> Bool {
    convention.isOfElements && find(convention.key)?.storage?.isObserved == true
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
  /// What each parameter is: "inItemsAt: Swift.Int". Of one without a label "_: Swift.Int" or "Swift.Int".
  let parameters: [Substring]
  private let isMethod: Bool

  /// Nil for what is neither: "method descriptor for …", "… in closure #1 in …"; and for what no selector
  /// is named like.
  init?(_ symbol: Substring) {
    let statically = "static "
    isStatic = symbol.hasPrefix(statically)
    let text = isStatic ? symbol.dropFirst(statically.count) : symbol
    let start = Self.lastName(in: text)
    let rest = text[start...]
    let name = rest.prefix(while: Self.isOfName)
    guard !name.isEmpty, !text[..<start].contains(" "), !RawIdentifier.hasMasks(rest) else {
      return nil
    }
    self.name = String(name)
    let behind = rest.dropFirst(name.count)
    isMethod = behind.first == "("
    parameters = isMethod ? Self.parts(ofBrackets: behind) : []
  }

  /// Of each parameter; nil for one without.
  var labels: [Substring?] {
    parameters.map { parameter in
      let label = parameter.prefix(while: Self.isOfName)
      return parameter.dropFirst(label.count).first == ":" && label != "_" ? label : nil
    }
  }

  /// As source text refers to it: `insertObject(_:inItemsAt:)`.
  var reference: String {
    isMethod ? name + "(" + labels.map { ($0 ?? "_") + ":" }.joined() + ")" : name
  }

  /// Name and labels as one word, which is the same however a selector is divided among them:
  /// "removeObjectFromItemsAt" of `removeObject(fromItemsAt:)` and of `removeObjectFromItems(at:)`.
  var word: String {
    labels.reduce(name) { $0 + ($1 ?? "").prefix(1).uppercased() + ($1 ?? "").dropFirst() }
  }

  func hasType(_ names: [String]) -> Bool {
    names.contains { name in parameters.contains { $0.firstRange(ofText: name) != nil } }
  }

  private static func isOfName(_ character: Character) -> Bool {
    character.isLetter || character.isNumber || character == "_"
  }

  // "(_: Swift.Dictionary<A, B>, inItemsAt: Swift.Int) -> ()", of which commas that are in other brackets
  // divide nothing.
  private static func parts(ofBrackets text: Substring) -> [Substring] {
    var (parts, depth, start, last) = ([Substring](), 0, text.startIndex, Character(" "))
    for index in text.indices {
      let character = text[index]
      if "([<".contains(character) { depth += 1 }
      if ")]".contains(character) || character == ">" && last != "-" { depth -= 1 }
      if depth == 1, character == "(" { start = text.index(after: index) }
      if depth == 0 || depth == 1 && character == "," {
        parts.append(text[start..<index].drop { $0 == " " })
        start = text.index(after: index)
      }
      if depth == 0 { break }
      last = character
    }
    return parts.filter { !$0.isEmpty }
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
  /// Whether it is an accessor of a to-many key's elements.
  var isOfElements = false
  let isDeclared: (KeyDeclarations<KVOObject>, String) -> Bool

  static var all: [(Member) -> Convention?] { [affecting, automatic, validator, collection] }

  private static func affecting(_ member: Member) -> Convention? {
    guard member.isStatic, member.parameters.isEmpty,
      let key = key(in: member.name, after: "keyPathsForValuesAffecting")
    else { return nil }
    return Convention(
      key: key, method: member.reference, entry: "dependency(\"\(key)\", on: …)", needsKey: false
    ) { $0.dependencies[$1] != nil }
  }

  private static func automatic(_ member: Member) -> Convention? {
    guard member.isStatic, member.parameters.isEmpty,
      let key = key(in: member.name, after: "automaticallyNotifiesObserversOf")
    else { return nil }
    return Convention(
      key: key, method: member.reference, entry: "automaticallyNotifies(\"\(key)\", …)",
      needsKey: false
    ) { $0.automatic[$1] != nil }
  }

  // One value, to be replaced.
  private static func validator(_ member: Member) -> Convention? {
    guard !member.isStatic, [[nil], [nil, "error"]].contains(member.labels),
      member.hasType(["inout ", "Pointer<"]), let key = key(in: member.name, after: "validate")
    else { return nil }
    return Convention(
      key: key, method: member.reference,
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
        key: key, method: member.reference, entry: form.entry(of: key), needsKey: form.needsKey,
        isOfElements: true
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
  /// What of the declaration stands for it.
  let argument: String
  let beginning: String
  /// Behind the key. `*` stands for the key once more.
  let endings: [String]
  /// How many parameters it has.
  let count: Int
  /// Whether the name is one that other methods have as well, so that the class must have the key.
  let needsKey: Bool
  /// One of these words must be in the types of the parameters, if there are any.
  let types: [String]

  /// The first that fits has it: what fits nearly everything comes last.
  static let all = [
    CollectionForm(.either, "count", 0, "countOf", [""]),
    CollectionForm(.ordered, "element", 1, "objectIn", ["AtIndex", "At"]),
    CollectionForm(.ordered, "insert", 2, "insertObjectIn", ["AtIndex", "At"]),
    CollectionForm(.ordered, "insert", 2, "insertIn", ["AtIndex", "At"]),
    CollectionForm(.ordered, "remove", 1, "removeObjectFrom", ["AtIndex", "At"]),
    CollectionForm(.ordered, "remove", 1, "removeFrom", ["AtIndex", "At"]),
    CollectionForm(.ordered, "replace", 2, "replaceObjectIn", replaced),
    CollectionForm(.ordered, "replace", 2, "replaceIn", replaced),
    CollectionForm(.ordered, "elements", 2, "get", ["Range"], needsKey: true),
    CollectionForm(
      .ordered, "insert", 2, "insert", ["AtIndexes", "At"], needsKey: true, types: indexes),
    CollectionForm(
      .ordered, "remove", 1, "remove", ["AtIndexes", "At"], needsKey: true, types: indexes),
    CollectionForm(
      .ordered, "replace", 2, "replace", ["AtIndexesWith*", "AtIndexesWith", "AtWith*", "AtWith"],
      needsKey: true, types: indexes),
    CollectionForm(.unordered, "elements", 0, "enumeratorOf", [""]),
    CollectionForm(.unordered, "contains", 1, "memberOf", [""]),
    CollectionForm(.unordered, "add", 1, "add", ["Object"]),
    CollectionForm(.unordered, "remove", 1, "remove", ["Object"]),
    CollectionForm(.unordered, "add", 1, "addTo", [""], needsKey: true),
    CollectionForm(.unordered, "remove", 1, "removeFrom", [""], needsKey: true),
    CollectionForm(.unordered, "add", 1, "add", [""], needsKey: true, types: collections),
    CollectionForm(.unordered, "remove", 1, "remove", [""], needsKey: true, types: collections),
    CollectionForm(
      .unordered, "intersect", 1, "intersect", [""], needsKey: true, types: collections),
    CollectionForm(
      .ordered, "elements", 1, "", ["AtIndexes", "At"], needsKey: true, types: indexes),
  ]

  private init(
    _ order: Order, _ argument: String, _ count: Int, _ beginning: String, _ endings: [String],
    needsKey: Bool = false, types: [String] = []
  ) {
    (self.order, self.argument, self.count, self.beginning) = (order, argument, count, beginning)
    (self.endings, self.needsKey, self.types) = (endings, needsKey, types)
  }

  private static let replaced = ["AtIndexWithObject", "AtIndexWith", "AtWithObject", "AtWith"]
  private static let indexes = ["IndexSet", "RangeSet"]
  private static let collections = ["Set", "Array", "["]

  /// Whether a method's parameters are those of the form. Of an unordered key's none has a label, nor has
  /// `countOf…`: what `countOfItems(in:)` counts are no elements of a key.
  func takes(_ member: Member) -> Bool {
    member.parameters.count == count && (types.isEmpty || member.hasType(types))
      && (order == .ordered || member.labels.allSatisfy { $0 == nil })
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

  /// The declaration, with the arguments that it needs, and the one that stands for the method.
  func entry(of key: String) -> String {
    switch order {
    case .ordered: entry("orderedToMany", of: key, ["count", "element"])
    case .unordered: entry("unorderedToMany", of: key, ["count", "contains", "elements"])
    case .either: entry("orderedToMany", of: key, ["count", "element"]) + " or unorderedToMany"
    }
  }

  private func entry(_ name: String, of key: String, _ needed: [String]) -> String {
    let arguments = needed.contains(argument) ? needed : needed + [argument]
    return "\(name)(\"\(key)\", \(arguments.map { $0 + ": …" }.joined(separator: ", ")))"
  }
}

/// The key in a name such as `FullName`; nil where no capital begins it.
private func uncapitalized(_ name: Substring) -> String? {
  guard let first = name.first, first.isUppercase else { return nil }
  return first.lowercased() + name.dropFirst()
}
