/// Edits of associated objects, which extensions of NSObject use to store their observers: values that are kept with a
/// KVOObject. No rule of Behaviour is kept here.
import SwiftSource

/// A call that reads or sets an associated object.
private struct AssociationCall {
  /// The tokens of the call, with the cast of a value that is read.
  var range: Range<Int>
  /// The tokens of the key, behind the ampersand.
  var key: Range<Int>
  /// The tokens of the type to which a value is cast that is read.
  var type: Range<Int>?
  var isForced = false
  /// The tokens of a value that is set.
  var value: Range<Int>?
  var isCopied = false
}

extension Mover {
  /// Makes `objc_getAssociatedObject(self, &key) as? T` a subscript, `self[key]`, and the variable whose address is the key
  /// a `KVOAssociation<T>`.
  mutating func moveAssociations() {
    let calls = tokens.indices.compactMap { associationCall(at: $0) }
    for (name, calls) in Dictionary(grouping: calls, by: { tokens[$0.key.last!].name }) {
      guard let type = type(ofAssociationIn: calls),
        let keyword = keyVariable(named: name, in: calls)
      else { continue }
      let end = tokens.indices[(keyword + 2)...].first(where: file.endsStatement)!
      replace(keyword, by: "let")
      replaceWithSpace(keyword + 2..<end + 1, by: " = KVOAssociation<\(type)>()")
      for call in calls {
        let subscripted =
          "\(tokens[call.range.lowerBound + 2].text)[\(file.text(ofTokens: call.key))]"
        if let value = call.value {
          edits.append(
            Edit(
              tokens[call.range.lowerBound].offset..<tokens[value.lowerBound].offset,
              subscripted + " = "))
          replace(value.upperBound..<call.range.upperBound, by: "")
        } else {
          replace(call.range, by: subscripted + (call.isForced ? "!" : ""))
        }
        associated.insert(call.range.lowerBound)
      }
      needsRuntime = true
    }
  }

  /// The type of the values under a key, if all casts agree.
  private func type(ofAssociationIn calls: [AssociationCall]) -> String? {
    let types = Set(calls.compactMap { $0.type.map { file.text(ofTokens: $0) } })
    guard types.count == 1, let type = types.first,
      calls.allSatisfy({ $0.value.map { fits($0, type) } ?? true })
    else { return nil }
    // Objects of Foundation's may be mutable, and are not copied here.
    return calls.contains(where: \.isCopied) && type.hasPrefix("NS") ? nil : type
  }

  /// Whether a value that is set has the type by which it is read, as far as the source shows that.
  private func fits(_ value: Range<Int>, _ type: String) -> Bool {
    guard let last = value.last else { return false }
    if tokens[value.lowerBound].text == type, file.closing(of: value.lowerBound + 1) == last {
      return true
    }
    guard value.count == 1 else { return false }
    if tokens[last].isWord("nil") { return true }
    let setter = types.flatMap(\.properties).first { property in
      guard let brace = property.accessors["set"], let end = file.partner[brace] else {
        return false
      }
      return brace < last && last < end
    }
    let brace = setter?.accessors["set"] ?? 0
    let name = brace > 1 && tokens[brace - 1].is(")") ? tokens[brace - 2].name : "newValue"
    if let setter, tokens[last].name == name {
      return setter.type.filter { !"?! ".contains($0) } == type.filter { $0 != " " }
    }
    return project.names[index].sources[tokens[last].name] == [.type(type)]
  }

  /// Whether a token is in a static member, whose `self` is a type.
  private func isStatic(_ index: Int, in type: TypeDeclaration) -> Bool {
    let members =
      type.methods.map { (start: $0.start, modifiers: $0.modifiers) }
      + type.properties.map { (start: $0.start, modifiers: $0.modifiers) }
    let around = members.filter { $0.start < index }.max { $0.start < $1.start }
    return around.map { !$0.modifiers.isDisjoint(with: ["static", "class"]) } ?? false
  }

  /// The keyword of the variable that is a key, if nothing but these calls uses it: `private var key: UInt8 = 0`.
  private func keyVariable(named name: String, in calls: [AssociationCall]) -> Int? {
    let mentions = project.files.joinedMentions(of: name)
    let uses = Set(calls.map { $0.key.last! })
    guard mentions.allSatisfy({ $0.file == index }) else { return nil }
    let others = mentions.map(\.token).filter { !uses.contains($0) }
    guard others.count == 1, let declared = others.first, declared > 0,
      tokens[declared - 1].isWord("var"),
      let end = tokens.indices[declared...].first(where: file.endsStatement),
      end - declared <= 5, (declared..<end).contains(where: { tokens[$0].is("=") })
    else { return nil }
    return isHidden(variableAt: declared) ? nil : declared - 1
  }

  private func associationCall(at index: Int) -> AssociationCall? {
    guard ["objc_getAssociatedObject", "objc_setAssociatedObject"].contains(tokens[index].text),
      tokens[index + 1].is("("), let close = file.closing(of: index + 1),
      tokens[index + 3].is(","), tokens[index + 4].text == "&", isKeptObject(index + 2)
    else { return nil }
    let commas = (index + 3..<close).filter {
      tokens[$0].is(",") && file.enclosing[$0] == index + 1
    }
    let key = index + 5..<(commas.dropFirst().first ?? close)
    if tokens[index].text == "objc_setAssociatedObject" {
      guard commas.count == 3,
        !tokens[commas[2]..<close].contains(where: { $0.text.contains("ASSIGN") })
      else { return nil }
      return AssociationCall(
        range: index..<close + 1, key: key, value: commas[1] + 1..<commas[2],
        isCopied: tokens[commas[2]..<close].contains { $0.text.contains("COPY") })
    }
    guard tokens[close + 1].isWord("as"), ["?", "!"].contains(tokens[close + 2].text),
      let type = typeTokens(from: close + 3), tokens[type.upperBound].text != "&"
    else { return nil }
    return AssociationCall(
      range: index..<type.upperBound, key: key, type: type, isForced: tokens[close + 2].text == "!")
  }

  /// The tokens of a type: a name, or one in brackets.
  private func typeTokens(from start: Int) -> Range<Int>? {
    if let close = file.partner[start], close > start, tokens[start].is("[") {
      return start..<close + 1
    }
    guard tokens[start].kind == .identifier, tokens[start + 1].text != "<" else { return nil }
    var end = start + 1
    while tokens[end].is("."), tokens[end + 1].kind == .identifier { end += 2 }
    return start..<end
  }

  /// Whether an argument is an object that becomes a KVOObject: `self`, or a variable that is observed or used by key.
  private func isKeptObject(_ index: Int) -> Bool {
    if tokens[index].kind == .identifier {
      if case .classes(let classes) = project.receiver(ending: index, in: self.index) {
        return classes.contains { project.root(of: $0) == .object }
      }
      return receiverNames.contains(tokens[index].name)
    }
    guard tokens[index].isWord("self"),
      let type = type(around: index),
      !isStatic(index, in: type)
    else { return false }
    if project.root(of: type) == .object { return true }
    return type.isExtension && type.name == "NSObject" && becomesRoot(extensionAt: type.keyword)
  }
}

extension [SourceFile] {
  fileprivate func joinedMentions(of name: String) -> [Place] {
    enumerated().flatMap { number, file in
      file.tokens.indices.filter {
        file.tokens[$0].kind == .identifier && file.tokens[$0].name == name
      }
      .map { Place(file: number, token: $0) }
    }
  }
}
