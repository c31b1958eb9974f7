/// Finds the variables that are contexts: they hold a literal that no code reads, and the sources only take their
/// addresses. Each mention of such a name is resolved to the variable that it means, since other declarations may
/// have the name, too. No rule of Behaviour is kept here.
import SwiftSource

struct Contexts {
  /// The keywords of the variables.
  private(set) var variables: Set<Place> = []
  /// The ampersands that take their addresses.
  private(set) var uses: Set<Place> = []
  /// The names of the variables.
  private(set) var names: Set<String> = []

  init() {}

  init(_ project: Project) {
    let finder = ContextFinder(project)
    var (uses, spoilt) = ([Place: [Place]](), Set<Place>())
    for mention in finder.mentions() {
      if let use = mention.ampersand, mention.variables.count == 1 {
        uses[mention.variables[0], default: []].append(use)
      } else {
        spoilt.formUnion(mention.variables)
      }
    }
    uses = uses.filter { !spoilt.contains($0.key) }
    variables = Set(uses.keys)
    self.uses = Set(uses.values.joined())
    names = Set(variables.map { project.files[$0.file].tokens[$0.token + 1].name })
  }
}

private struct ContextFinder {
  struct Candidate {
    /// The place of the variable's keyword.
    var place: Place
    /// The type that declares the variable as a member, and that type's name.
    var owner: Place?
    var ownerName: String?
    /// The opening brace of the function's block that declares the variable locally.
    var block: Int?
    var isPrivate: Bool
    var isStatic: Bool
  }

  struct Mention {
    /// The variables that the name may refer to.
    var variables: [Place]
    /// The ampersand, if the mention takes the address as a context.
    var ampersand: Place?
  }

  private let project: Project
  private var candidates: [String: [Candidate]] = [:]

  init(_ project: Project) {
    self.project = project
    for (index, file) in project.files.enumerated() {
      for keyword in file.tokens.indices where file.contextVariable(at: keyword) != nil {
        let candidate = candidate(at: Place(file: index, token: keyword))
        candidates[file.tokens[keyword + 1].name, default: []].append(candidate)
      }
    }
  }

  private func candidate(at place: Place) -> Candidate {
    let file = project.files[place.file]
    let brace = file.enclosing[place.token]
    let owner = project.types[place.file].first { $0.open == brace }
    let prefix = file.tokens[file.start(ofDeclarationAt: place.token)..<place.token]
    return Candidate(
      place: place, owner: owner.map(identity), ownerName: owner?.name,
      block: owner == nil ? brace : nil,
      isPrivate: prefix.contains { $0.isWord("private") || $0.isWord("fileprivate") },
      isStatic: prefix.contains { $0.isWord("static") || $0.isWord("class") })
  }

  private func identity(_ type: TypeDeclaration) -> Place {
    project.declaration(of: type)?.id ?? type.id
  }

  // MARK: - Mentions

  func mentions() -> [Mention] {
    project.files.indices.flatMap { file in
      project.files[file].tokens.indices.compactMap { mention(at: Place(file: file, token: $0)) }
    }
  }

  private func mention(at place: Place) -> Mention? {
    let (file, index) = (project.files[place.file], place.token)
    guard file.tokens[index].kind == .identifier, let named = candidates[file.tokens[index].name],
      !file.isDeclared(index), !file.isLabel(index)
    else { return nil }
    let isMember = index > 1 && file.tokens[index - 1].is(".")
    let found = isMember ? members(named, at: place) : visible(named, at: place)
    let ampersand = file.contextUse(of: index).map { Place(file: place.file, token: $0) }
    return Mention(variables: found.map(\.place), ampersand: ampersand)
  }

  /// The variables that the name may refer to after a dot.
  private func members(_ named: [Candidate], at place: Place) -> [Candidate] {
    let (file, before) = (project.files[place.file], place.token - 2)
    let isOwnType =
      file.partner[before].map { $0 > 0 && file.tokens[$0 - 1].text == "type" } ?? false
    if isOwnType || ["self", "Self"].contains(file.tokens[before].text) {
      let owners = types(around: place).flatMap(owners)
      return named.filter { $0.owner.map(owners.contains) ?? false }
    }
    let seen = named.filter { $0.owner != nil && isSeen($0, from: place) }
    guard file.tokens[before].kind == .identifier else { return [] }
    let type = file.tokens[before].name
    if type.first?.isUppercase == true {
      return nearest(seen.filter { $0.ownerName == type }, to: place)
    }
    // On another object: it may be a variable of the same file. In other files the name usually belongs to something
    // else.
    return seen.filter { !$0.isStatic && $0.place.file == place.file }
  }

  /// The variables that a bare name refers to: those of the innermost scope that declares it.
  private func visible(_ named: [Candidate], at place: Place) -> [Candidate] {
    let file = project.files[place.file]
    let name = file.tokens[place.token].name
    var block = file.enclosing[place.token]
    while let brace = block {
      let local = named.filter { $0.place.file == place.file && $0.block == brace }
      if !local.isEmpty { return local }
      if let type = project.types[place.file].first(where: { $0.open == brace }) {
        let owners = owners(type)
        let members = named.filter { $0.owner.map(owners.contains) ?? false }
        if !members.isEmpty { return members }
      }
      if file.declares(name, in: brace) { return [] }
      block = file.enclosing[brace]
    }
    return nearest(
      named.filter { $0.owner == nil && $0.block == nil && isSeen($0, from: place) }, to: place)
  }

  private func isSeen(_ candidate: Candidate, from place: Place) -> Bool {
    candidate.place.file == place.file || !candidate.isPrivate
  }

  /// The variables in the same file, or all if there are none.
  private func nearest(_ found: [Candidate], to place: Place) -> [Candidate] {
    let here = found.filter { $0.place.file == place.file }
    return here.isEmpty ? found : here
  }

  private func types(around place: Place) -> [TypeDeclaration] {
    project.types[place.file].filter { $0.open < place.token && place.token < $0.close }
  }

  /// A type and its superclasses.
  private func owners(_ type: TypeDeclaration) -> [Place] {
    [identity(type)] + project.ancestors(of: type).classes.map(\.id)
  }
}

extension SourceFile {
  /// A variable initialised with a literal, which may be a context: the tokens of its value, with those of its type.
  func contextVariable(at keyword: Int) -> Range<Int>? {
    guard isKeyword(keyword, among: ["var"]), keyword + 3 < tokens.count,
      tokens[keyword + 1].kind == .identifier
    else { return nil }
    var index = keyword + 2
    if tokens[index].is(":"), tokens[index + 1].kind == .identifier { index += 2 }
    guard tokens[index].is("=") else { return nil }
    // A literal, or a type's initializer called with one: `UInt8(0)`.
    var last = index + 1
    if tokens[last].kind == .identifier, tokens[last + 1].is("("), tokens[last + 3].is(")") {
      last += 2
    }
    let value = tokens[last]
    guard
      value.kind == .number || value.kind == .string && value.interpolations.isEmpty
        || value.isWord("true") || value.isWord("false")
    else { return nil }
    if last > index + 1 { last += 1 }
    guard endsStatement(last) else { return nil }
    return keyword + 2..<last + 1
  }

  /// The ampersand that takes the address of a name as a context: `context: &Self.context`.
  fileprivate func contextUse(of name: Int) -> Int? {
    var first = name
    while first > 1, tokens[first - 1].is(".") {
      first -= 2
      if tokens[first].is(")"), let open = partner[first], open > 0 { first = open - 1 }
    }
    guard first > 2, tokens[first - 1].is("&"), !tokens[name + 1].is(".") else { return nil }
    let before = tokens[first - 2]
    let isArgument = before.is(":") && tokens[first - 3].text == "context"
    return isArgument || before.is("==") || before.is("!=") ? first - 1 : nil
  }

  /// Whether a name is declared at this token.
  fileprivate func isDeclared(_ index: Int) -> Bool {
    index > 0 && ["var", "let", "func", "for", "case"].contains { tokens[index - 1].isWord($0) }
  }

  /// Whether a name is the label of a parameter or an argument.
  fileprivate func isLabel(_ index: Int) -> Bool {
    guard index > 0, tokens[index + 1].is(":") else { return false }
    let before = tokens[index - 1]
    return before.is("(") || before.is(",") || before.kind == .identifier
  }

  /// Whether a block introduces a name: as a local variable, as a parameter, or in the condition of its statement.
  fileprivate func declares(_ name: String, in brace: Int) -> Bool {
    guard let end = partner[brace] else { return false }
    let isOwn = (brace + 1..<end).contains {
      tokens[$0].name == name && enclosing[$0] == brace && isDeclared($0)
    }
    if isOwn { return true }
    let head = head(ofBlock: brace)..<brace
    switch blocks[brace] {
    case .function: return head.contains { tokens[$0].name == name && isLabel($0) }
    case .control: return head.contains { tokens[$0].name == name && isDeclared($0) }
    case .closure: return signature(ofClosure: brace).contains { tokens[$0].name == name }
    default: return false
    }
  }

  /// The tokens of a closure before its `in`.
  private func signature(ofClosure brace: Int) -> Range<Int> {
    var index = brace + 1
    while index == brace + 1 || !isStatementStart(index), !tokens[index].is("}") {
      if tokens[index].isWord("for") { break }
      if tokens[index].isWord("in") { return brace + 1..<index }
      index = next(after: index)
    }
    return brace + 1..<brace + 1
  }
}
