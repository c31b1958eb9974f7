/// Edits and findings about mutable proxies that are named as Foundation's collections. No rule of Behaviour is kept here.
import SwiftSource

extension Mover {
  private static let proxyCalls: Set = [
    "add", "addObjects", "insert", "remove", "removeObject", "removeObjects", "removeAllObjects",
    "removeLastObject", "replaceObject", "replaceObjects", "exchangeObject", "union", "minus",
    "intersect", "setSet", "sort",
  ]

  /// The names that are assigned a mutable proxy, each with the functions whose variables they are; with the whole source, if
  /// they are properties.
  mutating func proxyNames() -> [String: [Range<Int>]] {
    var names: [String: [Range<Int>]] = [:]
    for index in tokens.indices
    where file.isStringCall(index) && tokens[index].text.hasPrefix("mutable") {
      var place = index
      while place > 0, !tokens[place].is("="), !tokens[place].is(";"), !file.isStatementStart(place)
      {
        place -= 1
      }
      if throwsHere(index) { lookAtProxy(returnedAt: index) }
      guard tokens[place].is("="), !tokens[file.partner[index + 1]! + 1].is(".") else { continue }
      let name = tokens[place - 2].is(":") ? place - 3 : place - 1
      if name < place - 1, tokens[place - 1].text.hasPrefix("NSMutable"), throwsHere(index) {
        lookAtProxy(typedAt: place - 1, tokens[name].name)
      }
      let isLocal = tokens[name - 1].isWord("let") || tokens[name - 1].isWord("var")
      let scope = isLocal ? function(around: name) : nil
      names[tokens[name].name, default: []].append(scope ?? 0..<tokens.count)
    }
    return names
  }

  /// Makes the type of a computed property that is nothing but a proxy, `var rows: NSMutableArray { mutableArrayValue(forKey:
  /// "rows") }`, the proxy's own.
  mutating func moveProxy(_ property: PropertyDeclaration) {
    guard property.isComputed, property.type.hasPrefix("NSMutable"), let brace = property.brace,
      tokens[brace - 1].text == property.type, let end = file.partner[brace],
      tokens[end - 1].is(")"),
      let open = file.partner[end - 1], tokens[open - 1].text.hasPrefix("mutable"),
      file.isStringCall(open - 1),
      throwsHere(open - 1), file.isOneStatement(brace + 1..<end)
    else { return }
    guard let type = Self.proxyTypes[property.type] else { return }
    guard isOnlyChanged(property) else { return lookAtProxy(typedAt: brace - 1, property.name) }
    proxyMembers.insert(property.name)
    needsRuntime = true
    replace(brace - 1, by: type)
  }

  static let proxyTypes = [
    "NSMutableArray": "MutableArrayProxy", "NSMutableSet": "MutableSetProxy",
    "NSMutableOrderedSet": "MutableOrderedSetProxy",
  ]

  /// Whether the sources use a name for nothing but calls that a proxy has, too: of another declaration of the name, such as
  /// a protocol's, an override, a cast or an argument, the type would be the wrong one.
  private func isOnlyChanged(_ property: PropertyDeclaration) -> Bool {
    !property.modifiers.contains("override")
      && project.files.allSatisfy { source in
        source.tokens.indices.allSatisfy { place in
          guard source.tokens[place].kind == .identifier,
            source.tokens[place].name == property.name,
            source.tokens[place].offset != tokens[property.keyword + 1].offset
              || source.path != file.path
          else { return true }
          let next = ["?", "!"].contains(source.tokens[place + 1].text) ? place + 2 : place + 1
          return source.tokens[next].is(".")
            && Self.proxyMembers.contains(source.tokens[next + 1].name)
        }
      }
  }

  private static let proxyMembers = proxyCalls.union(collectionNames)
    .union(["count", "contains", "map", "forEach", "filter"])

  private mutating func lookAtProxy(typedAt type: Int, _ name: String) {
    report(
      type, .refused, "\(name) is a mutable proxy, which is no \(tokens[type].text)",
      "\(Self.proxyTypes[tokens[type].text] ?? "the proxy's type"), also in its casts and in what takes it"
    )
  }

  /// Lists a proxy that a function returns as Foundation's collection.
  private mutating func lookAtProxy(returnedAt call: Int) {
    guard let body = function(around: call), let close = file.closing(of: call + 1),
      file.endsStatement(close)
    else { return }
    let head = file.head(ofBlock: body.lowerBound)..<body.lowerBound
    guard let arrow = head.last(where: { tokens[$0].is("->") }),
      Self.proxyTypes[tokens[arrow + 1].text] != nil
    else { return }
    lookAtProxy(typedAt: arrow + 1, "what the function returns")
  }

  /// Lists a proxy that is passed to a function of the sources that takes Foundation's collection.
  mutating func lookAtProxy(passedAt index: Int, _ proxies: [String: [Range<Int>]]) {
    guard proxies[tokens[index].name]?.contains(where: { $0.contains(index) }) == true,
      tokens[index + 1].is(")") || tokens[index + 1].is(","), let open = file.enclosing[index],
      open > 0, project.collectionTakers.contains(tokens[open - 1].name)
    else { return }
    report(
      index, .refused,
      "\(tokens[index].text) is a mutable proxy, which \(tokens[open - 1].text) does not take",
      "let it take the proxy's type")
  }

  func isProxyCall(_ index: Int, _ proxies: [String: [Range<Int>]]) -> Bool {
    guard Self.proxyCalls.contains(tokens[index].text), index > 1, tokens[index - 1].is("."),
      tokens[index + 1].is("(")
    else { return false }
    if proxyMembers.contains(tokens[index - 2].name) { return true }
    // A property of the enclosing class is not a proxy, even if a variable elsewhere has its name.
    let around = type(around: index)
    let isProperty =
      around.map { $0.properties.contains { $0.name == tokens[index - 2].name } } ?? false
    return !isProperty
      && proxies[tokens[index - 2].name]?.contains { $0.contains(index) } ?? false
  }
}
