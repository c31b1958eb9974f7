/// Edits of methods and properties that are found by name: validators, equality and description. Without the macro,
/// also `registerKeys`, which declares what names implied. "The edits", 8, of MovingOver.
import SwiftSource

extension Mover {
  /// Makes a validator's parameter `inout`. An override of the root's validator keeps its key, and passes the value on to
  /// the superclass.
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
      if tokens[index - 1].is("("), tokens[index + 1].is(","),
        tokens[index - 2].text == "validateValue"
      {
        insert("&", before: index)
        continue
      }
      guard tokens[index + 1].is("."), tokens[index + 2].text == "pointee" else { continue }
      replaceWithSpace(index + 1..<index + 3, by: "")
      guard tokens[index + 3].is("=") else { continue }
      // The assigned value is an object there. Here it may be of any type, so casts to objects are removed.
      var end = index + 4
      while !file.isStatementStart(end), !tokens[end].is("}") {
        let isCast = tokens[end].isWord("as") && tokens[end + 1].text == "AnyObject"
        if isCast || tokens[end].isWord("as") && tokens[end + 1].text == "NSString" {
          let isOptional = tokens[end + 2].text == "?" && tokens[end + 2].leadingTrivia.isEmpty
          replaceWithSpace(end..<(isOptional ? end + 3 : end + 2), by: "")
        }
        end = (file.partner[end].map { $0 > end ? $0 : end } ?? end) + 1
      }
    }
  }

  /// Makes the variable whose value is validated along a key path an `Any?`. For a key, an `AnyObject?` is accepted here,
  /// too.
  mutating func moveValidation(_ index: Int) {
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
  /// elements.
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
        find(index, .refused, "\(statement.name) is a Set<String>", "make one of the NSSet")
        continue
      }
      if tokens[index + 2].text == "array", tokens[index + 3].is(":") {
        replace(index, by: "Set")
        remove(index + 2..<index + 4)
        continue
      }
      let isLabelled = tokens[index + 3].is(":")
      replace(index..<(isLabelled ? index + 4 : index + 2), by: "[")
      if isLabelled { replaceSpace(before: index + 4, by: "") }
      replace(last, by: "]")
    }
  }

  // MARK: - registerKeys

  mutating func registerKeys(_ type: TypeDeclaration, _ root: Project.Root) {
    guard !type.methods.contains(where: { $0.name == "registerKeys" }) else { return }
    // The macro sees the class's own declaration only, not its extensions.
    let isSeen = usesMacro(type) || type.attributes.contains("KVO")
    let isNew = !["KVOObject", "KVOOperation"].contains(project.ancestors(of: type).root)
    let all = (isSeen ? [] : [type]) + project.extensions(of: type)
    let methods = all.flatMap { part in
      part.methods.filter { project.isExposed($0.modifiers, in: part) }
    }
    let statements = all.flatMap { part in
      part.statements.filter { isFound($0, in: part, isNew) }
    }
    let own = isSeen ? ownEntries(of: type) : []
    let called = ([type] + project.extensions(of: type)).flatMap {
      accessorEntries(of: $0) + methodEntries(of: $0, type)
    }
    let entries =
      own + entries(for: all.flatMap(\.properties), statements, type, besides: own + called)
      + validatorEntries(of: methods, type) + called + elementEntries(of: type)
    guard !entries.isEmpty else { return }
    let (line, outer) = (file.lineEnd, file.indentation(of: type.keyword))
    let member = type.open + 1 < type.close ? file.indentation(of: type.open + 1) : outer + "  "
    let unit =
      member.hasPrefix(outer) && member.count > outer.count
      ? String(member.dropFirst(outer.count)) : "  "
    let head = tokens[file.start(ofDeclarationAt: type.keyword)..<type.keyword]
    let access = ["open", "public"].first { word in head.contains { $0.isWord(word) } }
    var lines = [(access.map { $0 + " " } ?? "") + "override class func registerKeys() {"]
    if root == .operation { lines.append("\(unit)super.registerKeys()") }
    lines +=
      ["\(unit)declareKeys { keys in"] + entries.flatMap { indented($0, unit) } + ["\(unit)}", "}"]
    let text = lines.map { line + member + $0 }.joined()
    // Insert before the line of the closing brace, if the brace has its own line.
    let close = tokens[type.close]
    let indentation = close.leadingTrivia.unicodeScalars.reversed().prefix {
      $0 == " " || $0 == "\t"
    }.count
    let isAlone = close.isFirstOnLine && close.leadingTrivia.allSatisfy(\.isWhitespace)
    guard isAlone else { return insert(line + text, after: type.close - 1) }
    edits.append(Edit(close.offset - indentation..<close.offset - indentation, text + line))
  }

  /// The lines of a declaration. The macro indents those after the first by six spaces more.
  private func indented(_ entry: String, _ unit: String) -> [String] {
    let lines = entry.split(separator: "\n")
    return [unit + unit + lines[0]] + lines.dropFirst().map { unit + unit + $0.dropFirst(6) }
  }

  /// Whether Objective-C finds a statement by its name, or did so before Swift 4.
  private func isFound(
    _ statement: KeyStatement, in part: TypeDeclaration, _ isNew: Bool
  ) -> Bool {
    project.isExposed(statement.modifiers, in: part)
      || isNew && !statement.modifiers.contains("override")
  }

  /// The statement in a class, or in an extension of it, that lists what affects a key.
  func statement(ofWhatAffects key: String, in type: TypeDeclaration) -> KeyStatement? {
    let name = KeyStatement.affecting + capitalised(key)
    return ([type] + project.extensions(of: type)).lazy.flatMap(\.statements)
      .first { $0.name == name }
  }

  /// Declarations of accessors that have names of their own in Objective-C, `@objc(isOn) get` and `@objc(setIsOn:) set`, if
  /// the sources use these as a key.
  private func accessorEntries(of part: TypeDeclaration) -> [String] {
    let tokens = project.files[part.id.file].tokens
    // The name that is written before an accessor's brace.
    func name(before brace: Int, in property: PropertyDeclaration) -> String? {
      let word = tokens[..<brace].lastIndex { $0.isWord("get") || $0.isWord("set") }
      guard let word, word > property.keyword, tokens[word - 1].is(")") else { return nil }
      let attribute = (property.keyword..<word).last { tokens[$0].is("@") }
      guard let attribute, tokens[attribute + 1].text == "objc", tokens[attribute + 2].is("(")
      else { return nil }
      return tokens[attribute + 3].name
    }
    func used(_ key: String?, of property: PropertyDeclaration) -> String? {
      guard let key, key != property.key ?? property.name else { return nil }
      return project.participants.keys.contains(key) ? key : nil
    }
    return part.properties.flatMap { property -> [String] in
      guard !property.isStatic, let getter = property.accessors["get"] else { return [] }
      let setter = property.accessors["set"].flatMap { name(before: $0, in: property) }
      let keySet = setter.flatMap { self.key(in: $0, after: "set") }
      if let key = used(keySet, of: property) { return entries(for: property, as: key, in: part) }
      guard let key = used(name(before: getter, in: property), of: property) else { return [] }
      return ["keys.accessors(\"\(key)\", get: { $0.\(property.name) })"]
    }
  }

  /// Declarations of a key that is not the property's name.
  private func entries(
    for property: PropertyDeclaration, as key: String, in part: TypeDeclaration
  ) -> [String] {
    let type = project.declaration(of: part) ?? part
    let (path, affecting) = ("\\.\(property.name)", statement(ofWhatAffects: key, in: type))
    if let affecting, property.isComputed, property.accessors["set"] == nil {
      return ["keys.computed(\"\(key)\", \(path), affectedBy: \(affecting.value))"]
    }
    return ["keys.computed(\"\(key)\", \(path), affectedBy: [\"\(property.name)\"])"]
      + (affecting.map { ["keys.dependency(\"\(key)\", on: \($0.value))"] } ?? [])
  }

  /// Declarations that the macro does not make: for Objective-C names, and for setters and overrides of properties that are
  /// not observable.
  private func ownEntries(of type: TypeDeclaration) -> [String] {
    type.properties.flatMap { property -> [String] in
      guard !property.isStatic, !property.isConstant, project.isExposed(property, in: type) else {
        return []
      }
      if let key = property.key, key != property.name {
        return entries(for: property, as: key, in: type)
      }
      guard !property.isDynamic, project.participants.coded.contains(type.id),
        !type.attributes.contains("KVO"), !property.modifiers.contains("override")
      else { return [] }
      if property.isComputed {
        return property.accessors["set"] == nil
          ? [] : ["keys.computed(\"\(property.name)\", \\.\(property.name))"]
      }
      return property.accessors.isEmpty && !isOverridden(property.name, beneath: type)
        ? [] : ["keys.stored(\"\(property.name)\", \\.\(property.name))"]
    }
  }

  /// Whether a subclass in the sources overrides a property.
  private func isOverridden(_ name: String, beneath type: TypeDeclaration) -> Bool {
    project.types.joined().contains { other in
      other.properties.contains { $0.name == name && $0.modifiers.contains("override") }
        && project.ancestors(of: other).classes.contains { $0.id == type.id }
    }
  }

  /// Declarations of methods that the sources call by key, as a property's getter.
  private func methodEntries(of part: TypeDeclaration, _ type: TypeDeclaration) -> [String] {
    guard project.participants.coded.contains(type.id) else { return [] }
    return part.methods.filter { isGetter($0, in: part) }.map { method in
      let name = "set" + capitalised(method.name)
      let parts = [type] + project.extensions(of: type)
      let isSet = parts.contains { part in
        part.methods.contains { $0.name == name && isSetter($0, in: part) }
      }
      return "keys.accessors(\"\(method.name)\", get: { $0.\(method.name)() }"
        + (isSet ? ", set: { $0.\(name)($1) })" : ")")
    }
  }

  /// Whether a method is a property's getter for Objective-C, and the sources use its key.
  private func isGetter(_ method: MethodDeclaration, in part: TypeDeclaration) -> Bool {
    let (tokens, close) = (project.files[part.id.file].tokens, method.parameters + 1)
    return project.isExposed(method.modifiers, in: part)
      && project.participants.keys.contains(method.name) && project.valueTypes[method.name] == nil
      && method.modifiers.isDisjoint(with: ["static", "class", "override"])
      && tokens[close].is(")") && tokens[close + 1].is("->")
  }

  /// Whether a method has the parameter of a property's setter, and no result.
  private func isSetter(_ method: MethodDeclaration, in part: TypeDeclaration) -> Bool {
    let source = project.files[part.id.file]
    guard let close = source.partner[method.parameters] else { return false }
    let parameters = method.parameters + 1..<close
    return project.isExposed(method.modifiers, in: part)
      && method.modifiers.isDisjoint(with: ["static", "class"])
      && source.tokens[parameters.lowerBound].text == "_"
      && !parameters.contains {
        source.tokens[$0].is(",") && source.enclosing[$0] == method.parameters
      }
      && source.tokens[close..<(method.brace ?? close)].allSatisfy {
        !$0.is("->") && !$0.isWord("async")
      }
  }

  /// The key whose getter is a method, `volume()`, and which this method sets.
  private func key(setBy method: MethodDeclaration, in type: TypeDeclaration) -> String? {
    let classes = [type] + project.ancestors(of: type).classes
    for part in classes + classes.flatMap(project.extensions) {
      for getter in part.methods
      where "set" + capitalised(getter.name) == method.name && isGetter(getter, in: part) {
        return getter.name
      }
    }
    return nil
  }

  /// Makes a setter that is a method, `setVolume(_:)` beside `volume()`, an automatic change, as a call of it is on
  /// Apple's platforms.
  mutating func moveSetter(_ method: MethodDeclaration, in type: TypeDeclaration) {
    guard method.modifiers.contains("dynamic"), method.name.hasPrefix("set"),
      let brace = method.brace, let end = file.partner[brace],
      let declaration = project.declaration(of: type),
      project.participants.coded.contains(declaration.id), isSetter(method, in: type)
    else { return }
    guard let key = key(setBy: method, in: declaration),
      !(brace..<end).contains(where: { announces($0, key) })
    else { return }
    let throwing = (method.parameters..<brace).contains { tokens[$0].isWord("throws") }
    bracket(brace, by: (throwing ? "try " : "") + "\(automatic)(forKey: \"\(key)\")")
  }

  /// The names of a class's properties, and of those that it inherits.
  private func keys(of type: TypeDeclaration) -> Set<String> {
    let classes = [type] + project.ancestors(of: type).classes
    return Set(
      classes.flatMap { [$0] + project.extensions(of: $0) }.flatMap(\.properties)
        .map { $0.key ?? $0.name })
  }

  /// Whether a method is the root's validator for all keys, `validateValue(_:forKey:)`.
  private func isOfRoot(_ method: MethodDeclaration) -> Bool {
    method.name == "validateValue" && method.modifiers.contains("override")
  }

  /// Lists a validator whose key has no property in the sources: it is not declared.
  mutating func lookAtValidator(_ method: MethodDeclaration, in type: TypeDeclaration) {
    let parameters = method.parameters + 1..<file.partner[method.parameters]!
    guard parameters.contains(where: { tokens[$0].text == "AutoreleasingUnsafeMutablePointer" }),
      !isOfRoot(method), let key = key(in: method.name, after: "validate"),
      let declaration = project.declaration(of: type),
      !keys(of: declaration).contains(key)
    else { return }
    find(
      method.keyword, .differs, "\(method.name) is found by its name there, and not here",
      "declare it (validator), or call it yourself: no property is named \(key)")
  }

  private func entries(
    for properties: [PropertyDeclaration], _ statements: [KeyStatement], _ type: TypeDeclaration,
    besides others: [String]
  ) -> [String] {
    var entries: [String] = []
    let isCoded = project.participants.coded.contains(type.id)
    for property in properties
    where !property.isStatic
      && (property.isDynamic || isCoded && project.isExposed(property, in: type))
    {
      let (name, path) = (property.name, "\\.\(property.name)")
      let key = property.key ?? name
      let affecting = statement(ofWhatAffects: key, in: type)
      let isOverridden = isOverridden(name, beneath: type)
      if property.isComputed, !property.modifiers.contains("override") {
        let by = affecting.map { ", affectedBy: \($0.value)" } ?? ""
        entries.append("keys.computed(\"\(key)\", \(path)\(by))")
      } else if !property.accessors.isEmpty || isOverridden || key != name, !property.isComputed {
        entries.append(
          key == name
            ? "keys.stored(\"\(key)\", \(path))"
            : "keys.computed(\"\(key)\", \(path), affectedBy: [\"\(name)\"])")
      }
    }
    for statement in statements {
      if let key = key(in: statement.name, after: KeyStatement.automatic) {
        entries.append("keys.automaticallyNotifies(\"\(key)\", \(statement.value))")
      } else if let key = key(in: statement.name, after: KeyStatement.affecting),
        !(entries + others).contains(where: { $0.hasSuffix(": \(statement.value))") })
      {
        entries.append("keys.dependency(\"\(key)\", on: \(statement.value))")
      }
    }
    return entries
  }

  private func validatorEntries(
    of methods: [MethodDeclaration], _ type: TypeDeclaration
  ) -> [String] {
    let known = keys(of: type)
    return methods.compactMap { method in
      guard let key = key(in: method.name, after: "validate"), known.contains(key),
        !isOfRoot(method)
      else { return nil }
      let call = "try object.\(method.name)(&value)"
      return "keys.validator(\"\(key)\") { object, value in \(call) }"
    }
  }

  func capitalised(_ name: String) -> String {
    name.prefix(1).uppercased() + name.dropFirst()
  }

  /// The key that follows a prefix in a method's name.
  private func key(in name: String, after prefix: String) -> String? {
    guard name.hasPrefix(prefix), name != prefix else { return nil }
    let rest = name.dropFirst(prefix.count)
    return rest.prefix(1).lowercased() + rest.dropFirst()
  }
}
