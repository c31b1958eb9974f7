internal import CKVORuntime

// Hints at methods that Objective-C's key-value coding would find by their names, but Swift's can't. A hint
// is given if a class has such a method and does not declare its effect. The methods are read from the
// program's symbols, so stripped symbols and methods that the optimiser removed are not seen.

extension KVOClass {
  /// Gives hints at the class's own methods whose names follow a convention and that no declaration replaces.
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

  // The elements of an @Observed property are changed by a handle, which notifies observers. An accessor that
  // uses the handle needs no declaration.
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

/// A method or property of a class, parsed from its symbol.
private struct Member: Hashable {
  let name: String
  let isStatic: Bool
  /// The parameters, with labels and types: "inItemsAt: Swift.Int". One without a label is "_: Swift.Int" or
  /// "Swift.Int".
  let parameters: [Substring]
  private let isMethod: Bool

  /// Fails for symbols that are neither methods nor properties ("method descriptor for …", "… in closure #1
  /// in …"), and for names that can't be a selector's.
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

  /// The label of each parameter; nil for one without.
  var labels: [Substring?] {
    parameters.map { parameter in
      let label = parameter.prefix(while: Self.isOfName)
      return parameter.dropFirst(label.count).first == ":" && label != "_" ? label : nil
    }
  }

  /// The method as source text refers to it: `insertObject(_:inItemsAt:)`.
  var reference: String {
    isMethod ? name + "(" + labels.map { ($0 ?? "_") + ":" }.joined() + ")" : name
  }

  /// Name and labels joined to one word, so that the way in which a selector is split does not matter. For
  /// both `removeObject(fromItemsAt:)` and `removeObjectFromItems(at:)` it is "removeObjectFromItemsAt".
  var word: String {
    labels.reduce(name) { $0 + ($1 ?? "").prefix(1).uppercased() + ($1 ?? "").dropFirst() }
  }

  func hasType(_ names: [String]) -> Bool {
    names.contains { name in parameters.contains { $0.firstRange(ofText: name) != nil } }
  }

  private static func isOfName(_ character: Character) -> Bool {
    character.isLetter || character.isNumber || character == "_"
  }

  // Splits "(_: Swift.Dictionary<A, B>, inItemsAt: Swift.Int) -> ()" at the commas that are not in inner
  // brackets.
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

/// The meaning of a method's name on Apple's platforms, and the declaration that replaces it here.
private struct Convention {
  let key: String
  let method: String
  let entry: String
  /// Whether other methods may have the name by chance, so that the class must have the key.
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

  // A validator takes one value, which it may replace.
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

/// A pattern for the methods of a to-many key, as words (`Member.word`). It covers Objective-C's selectors as
/// Swift programs spell them and as Swift imports them, without `Object`, `Index` and the second key.
private struct CollectionForm {
  enum Order { case ordered, unordered, either }

  let order: Order
  /// The argument of the declaration that replaces the method.
  let argument: String
  let beginning: String
  /// The possible endings after the key. `*` is the key again.
  let endings: [String]
  /// The number of parameters.
  let count: Int
  /// Whether other methods may have the name by chance, so that the class must have the key.
  let needsKey: Bool
  /// Words of which the parameters' types must contain at least one; empty if any type will do.
  let types: [String]

  /// The first pattern that matches is used, so the most general ones are last.
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

  /// Whether a method has the pattern's parameters. Those of an unordered key, and of `countOf…`, have no
  /// labels: `countOfItems(in:)` does not count the elements of a key.
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

  /// The declaration, with its required arguments and the one that replaces the method.
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

/// The key in a name such as `FullName`; nil if the name does not begin with a capital.
private func uncapitalized(_ name: Substring) -> String? {
  guard let first = name.first, first.isUppercase else { return nil }
  return first.lowercased() + name.dropFirst()
}
