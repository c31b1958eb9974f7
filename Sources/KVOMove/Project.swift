/// All sources of one run: which classes come from NSObject, which names are observable, which variables are
/// contexts. A class's superclass or extension may stand in another file. No rule of Behaviour is kept here.
import SwiftSource

struct Project {
  /// What a class of the sources becomes.
  enum Root: Hashable {
    /// Its root is NSObject, and is to be KVOObject; or is KVOObject already.
    case object
    /// It is an operation of Foundation that notifies.
    case operation
    /// What it inherits from is unknown here, as a view of AppKit.
    case other
  }

  let files: [SourceFile]
  let types: [[TypeDeclaration]]
  private var classes: [String: TypeDeclaration] = [:]
  private var ambiguous: Set<String> = []
  /// Observable properties by class and name.
  private(set) var dynamicProperties: [String: [String: PropertyDeclaration]] = [:]
  /// The names of variables whose address is a context, and that nothing else uses.
  private(set) var contexts: Set<String> = []

  init(_ files: [SourceFile]) {
    self.files = files
    types = files.map { $0.types() }
    for type in types.joined() {
      if type.isClass {
        if classes.updateValue(type, forKey: type.name) != nil { ambiguous.insert(type.name) }
      }
      for property in type.properties where type.observes(property) {
        dynamicProperties[type.name, default: [:]][property.name] = property
      }
    }
    contexts = findContexts()
  }

  func declaration(of name: String) -> TypeDeclaration? { classes[name] }

  /// The classes above one, nearest first, as far as they are in the sources, and what the last inherits from.
  func ancestors(of name: String) -> (classes: [TypeDeclaration], root: String?) {
    var (found, next) = ([TypeDeclaration](), Optional(name))
    while let name = next, let type = classes[name], found.count < 100 {
      found.append(type)
      next = type.inherited.first?.name
    }
    return (Array(found.dropFirst()), next)
  }

  func root(of name: String) -> Root {
    guard classes[name] != nil else { return .other }
    switch ancestors(of: name).root {
    case "NSObject", "KVOObject": return .object
    case "KVOOperation", "KVOBlockOperation": return .operation
    case "Operation": return notifies(name) ? .operation : .other
    default: return .other
    }
  }

  /// Whether an operation says anything of its keys, or one above it does.
  private func notifies(_ name: String) -> Bool {
    for (file, types) in zip(files, types) {
      for type in types where type.name == name {
        let says = (type.open..<type.close).contains { index in
          ["willChangeValue", "withChange", "dynamic"].contains(file.tokens[index].text)
            || file.tokens[index].text.hasPrefix("keyPathsForValuesAffecting")
        }
        if says { return true }
      }
    }
    return ancestors(of: name).classes.first.map { notifies($0.name) } ?? false
  }

  // MARK: - Contexts

  private func findContexts() -> Set<String> {
    var (used, declared, spoilt) = (Set<String>(), Set<String>(), Set<String>())
    for file in files {
      for index in file.tokens.indices where file.tokens[index].is("&") {
        guard let name = file.contextName(afterAmpersand: index) else { continue }
        if file.isContextUse(ofAmpersand: index) {
          used.insert(name)
        } else if file.tokens[index].leadingTrivia.isEmpty || file.isArgument(index) {
          spoilt.insert(name)
        }
      }
      for index in file.tokens.indices where file.contextVariable(at: index) != nil {
        declared.insert(file.tokens[index + 1].name)
      }
    }
    return used.intersection(declared).subtracting(spoilt)
  }
}

extension SourceFile {
  /// The variable whose address is taken: the last name of `&Self.context`.
  func contextName(afterAmpersand index: Int) -> String? {
    var last = index + 1
    guard last < tokens.count else { return nil }
    if tokens[last].text == "type", tokens[last + 1].is("("), let end = partner[last + 1] {
      last = end
    }
    while last + 2 < tokens.count, tokens[last + 1].is("."), tokens[last + 2].kind == .identifier {
      last += 2
    }
    return tokens[last].kind == .identifier ? tokens[last].name : nil
  }

  /// After `context:`, or compared.
  func isContextUse(ofAmpersand index: Int) -> Bool {
    guard index > 1 else { return false }
    let before = tokens[index - 1]
    return before.is(":") && tokens[index - 2].text == "context" || before.is("==")
      || before.is("!=")
  }

  func isArgument(_ index: Int) -> Bool {
    index > 0
      && (tokens[index - 1].is("(") || tokens[index - 1].is(",") || tokens[index - 1].is(":"))
  }

  /// A variable that holds nothing but a number that nobody needs: its value's tokens, with the type's.
  func contextVariable(at keyword: Int) -> Range<Int>? {
    guard isDeclaration(keyword, of: ["var"]), keyword + 3 < tokens.count,
      tokens[keyword + 1].kind == .identifier
    else { return nil }
    var index = keyword + 2
    if tokens[index].is(":"), tokens[index + 1].kind == .identifier { index += 2 }
    guard tokens[index].is("="), tokens[index + 1].text == "0" else { return nil }
    return keyword + 2..<index + 2
  }
}
