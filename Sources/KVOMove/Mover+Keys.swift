/// Edits of methods and properties that are found by name: validators, equality and description. Without the macro,
/// also `registerKeys`, which declares what names implied. Edit 8 of MovingOver.md.
import SwiftSource

extension Mover {
  /// Makes a validator's parameter `inout`. An override of the root's validator keeps its parameter for the key.
  mutating func moveValidator(_ method: MethodDeclaration) {
    let parameters = method.parameters + 1..<file.partner[method.parameters]!
    guard method.name.hasPrefix("validate"), let brace = method.brace,
      let type = parameters.first(where: { tokens[$0].text == "AutoreleasingUnsafeMutablePointer" }
      ),
      let colon = parameters.first(where: { tokens[$0].is(":") })
    else { return }
    let comma = parameters.first { tokens[$0].is(",") && file.enclosing[$0] == method.parameters }
    replace(type..<(comma ?? parameters.upperBound), by: "inout Any?")
    let value = tokens[colon - 1].text
    for index in brace..<file.partner[brace]! where tokens[index].text == value {
      moveUse(ofParameter: index, in: method)
    }
  }

  /// Edits a use of a validator's parameter: `validateValue(value, …)` gets an `&`, and `value.pointee` becomes `value`.
  private mutating func moveUse(ofParameter index: Int, in method: MethodDeclaration) {
    if tokens[index - 1].is("("), tokens[index + 1].is(",") || tokens[index + 1].is(")"),
      ["validateValue", method.name].contains(tokens[index - 2].text)
    {
      return insert("&", before: index)
    }
    guard tokens[index + 1].is("."), tokens[index + 2].text == "pointee" else { return }
    replaceWithSpace(index + 1..<index + 3, by: "")
    if tokens[index + 3].is("=") { removeObjectCasts(from: index + 4) }
  }

  /// Removes casts to objects from the rest of a statement, a value that is assigned. There it is an object; here it may be
  /// of any type.
  private mutating func removeObjectCasts(from start: Int) {
    var index = start
    while !file.isStatementStart(index), !tokens[index].is("}") {
      if tokens[index].isWord("as"), ["AnyObject", "NSString"].contains(tokens[index + 1].text) {
        let isOptional = tokens[index + 2].text == "?" && tokens[index + 2].leadingTrivia.isEmpty
        replaceWithSpace(index..<(isOptional ? index + 3 : index + 2), by: "")
      }
      index = file.next(after: index)
    }
  }

  /// Makes the variable whose value is validated along a key path an `Any?`. For a key, an `AnyObject?` is accepted here,
  /// too.
  mutating func moveValidation(_ index: Int) {
    // validateValue(&value, forKeyPath: …)
    guard file.isStringCall(index), throwsHere(index), tokens[index + 2].is("&"),
      tokens[index + 4].is(","), tokens[index + 5].text == "forKeyPath"
    else { return }
    let body = function(around: index) ?? 0..<tokens.count
    let name = (body.lowerBound..<index).last {
      tokens[$0].name == tokens[index + 3].name && tokens[$0 - 1].isWord("var")
    }
    guard let name else { return }
    if tokens[name + 1].is(":") {
      if tokens[name + 2].text == "AnyObject" { replace(name + 2, by: "Any") }
      return
    }
    let end = (name + 1..<index).first { file.endsStatement($0) } ?? name
    let type = (name + 1..<end + 1).last { tokens[$0].text == "AnyObject" }
    if let type, tokens[type - 1].isWord("as") { replace(type, by: "Any") }
  }

  /// Makes a member that lists what affects a key a set of strings, and not Foundation's set. `@KVO` needs the type of the
  /// elements. `NSSet(objects: "a")` and `NSSet(object: "a")` become `["a"]`.
  mutating func moveKeyPaths(_ statement: KeyStatement) {
    let body = statement.body
    guard statement.name.hasPrefix(KeyStatement.affecting) else { return }
    if let type = statement.type {
      let isSet = tokens[type].text == "Set" && type + 1 == body.lowerBound
      guard tokens[type].text == "NSSet" || isSet else { return }
      replace(type..<body.lowerBound, by: "Set<String>")
    } else {
      guard tokens[body.lowerBound + 1].text == "NSSet" else { return }
      insert(": Set<String>", after: body.lowerBound - 1)
    }
    for index in body where tokens[index].text == "NSSet" {
      guard let last = file.closing(of: index + 1), tokens[index + 1].is("(") else {
        report(index, .refused, "\(statement.name) is a Set<String>", "make one of the NSSet")
        continue
      }
      let isLabelled = tokens[index + 3].is(":")
      if isLabelled, tokens[index + 2].text == "array" {
        replace(index, by: "Set")
        remove(index + 2..<index + 4)
        continue
      }
      replace(index..<(isLabelled ? index + 4 : index + 2), by: "[")
      if isLabelled { replaceSpace(before: index + 4, by: "") }
      replace(last, by: "]")
    }
  }

  /// The names of a class's properties, and of those that it inherits.
  func keys(of type: TypeDeclaration) -> Set<String> {
    let classes = [type] + project.ancestors(of: type).classes
    return Set(
      classes.flatMap { [$0] + project.extensions(of: $0) }.flatMap(\.variables)
        .map { $0.key ?? $0.name })
  }

  /// Whether a method is the root's validator for all keys, `validateValue(_:forKey:)`.
  func isOfRoot(_ method: MethodDeclaration) -> Bool {
    method.name == "validateValue" && method.modifiers.contains("override")
  }

  /// Lists a validator whose key has no property in the sources: it is not declared.
  mutating func lookAtValidator(_ method: MethodDeclaration, in type: TypeDeclaration) {
    let parameters = method.parameters + 1..<file.partner[method.parameters]!
    guard parameters.contains(where: { tokens[$0].text == "AutoreleasingUnsafeMutablePointer" }),
      !isOfRoot(method), let declaration = project.declaration(of: type),
      let key = key(in: method.name, after: "validate", of: declaration),
      !keys(of: declaration).contains(key)
    else { return }
    report(
      method.keyword, .differs, "\(method.name) is found by its name there, and not here",
      "declare it (validator), or call it yourself: no property is named \(key)")
  }

  func capitalised(_ name: String) -> String {
    name.prefix(1).uppercased() + name.dropFirst()
  }

  /// The key of a class that follows a prefix in a method's name: `URL` if it has such a key, otherwise `uRL`.
  func key(in name: String, after prefix: String, of type: TypeDeclaration) -> String? {
    guard name.hasPrefix(prefix), name != prefix else { return nil }
    let rest = String(name.dropFirst(prefix.count))
    return keys(of: type).contains(rest) ? rest : rest.prefix(1).lowercased() + rest.dropFirst()
  }
}
