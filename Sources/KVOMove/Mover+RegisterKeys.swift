/// Writes `registerKeys`, which declares what Apple's runtime finds by name and the macro does not. Edit 8 of
/// MovingOver.md. No rule of Behaviour is kept here.
import SwiftSource

extension Mover {
  mutating func registerKeys(_ type: TypeDeclaration, _ root: Project.Root) {
    let entries = entries(of: type)
    guard !entries.isEmpty else { return }
    if entries.contains(where: { $0.contains("IndexSet(") }) { needsFoundation = true }
    let (line, outer) = (file.lineEnd, file.indentation(of: type.keyword))
    let member = type.open + 1 < type.close ? file.indentation(of: type.open + 1) : outer + "  "
    let unit =
      member.hasPrefix(outer) && member.count > outer.count
      ? String(member.dropFirst(outer.count)) : "  "
    let head = tokens[file.start(ofDeclarationAt: type.keyword)..<type.keyword]
    let access = ["open", "public"].first { word in head.contains { $0.isWord(word) } }
    var lines = [(access.map { $0 + " " } ?? "") + "override class func registerKeys() {"]
    if callsSuper(type, root) { lines.append("\(unit)super.registerKeys()") }
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

  /// Whether a superclass has a `registerKeys`, or gets one.
  private func callsSuper(_ type: TypeDeclaration, _ root: Project.Root) -> Bool {
    root == .operation
      || project.ancestors(of: type).classes.contains {
        hasRegisterKeys($0) || !entries(of: $0).isEmpty
      }
  }

  private func hasRegisterKeys(_ type: TypeDeclaration) -> Bool {
    type.methods.contains { $0.name == "registerKeys" }
  }

  /// The lines of the `registerKeys` that a class gets; none if it has one.
  private func entries(of type: TypeDeclaration) -> [String] {
    guard !hasRegisterKeys(type) else { return [] }
    // The macro sees the class's own declaration only, not its extensions.
    let isSeen = usesMacro(type) || type.attributes.contains("KVO")
    let isNew = isNew(type)
    let all = (isSeen ? [] : [type]) + project.extensions(of: type)
    let methods = all.flatMap { part in
      part.methods.filter { project.isExposed($0.modifiers, in: part) }
    }
    let missed = isSeen && isNew ? type.statements.filter { isMissed($0, in: type) } : []
    let statements =
      missed + all.flatMap { part in part.statements.filter { isFound($0, in: part, isNew) } }
    let own = isSeen ? ownEntries(of: type) : []
    let called = ([type] + project.extensions(of: type)).flatMap {
      accessorEntries(of: $0) + methodEntries(of: $0, type)
    }
    return own + entries(for: all, statements, type, besides: own + called)
      + renamedEntries(of: type) + validatorEntries(of: methods, type) + called
      + elementDeclarations(of: type)
  }

  /// Whether a class has not been moved yet.
  func isNew(_ type: TypeDeclaration) -> Bool {
    !["KVOObject", "KVOOperation"].contains(project.ancestors(of: type).root)
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

  /// Whether the macro does not find a statement, or takes it for one about another key: it does not know the names in
  /// Objective-C, nor the superclass's properties.
  private func isMissed(_ statement: KeyStatement, in type: TypeDeclaration) -> Bool {
    if statement.isRenamed { return project.isExposed(statement.modifiers, in: type) }
    let rest = String(statement.name.dropFirst(statement.prefix.count))
    return key(of: statement, in: type) == rest && rest.first?.isUppercase == true
      && !type.properties.contains { $0.name == rest }
  }

  /// The key that a statement is about.
  private func key(of statement: KeyStatement, in type: TypeDeclaration) -> String? {
    key(in: statement.name, after: statement.prefix, of: type)
  }

  /// Statements about the automatic notification of a key apply to its property, too, if that has another name: there
  /// the two are one.
  private func renamedEntries(of type: TypeDeclaration) -> [String] {
    let classes = [type] + project.ancestors(of: type).classes
    let properties = classes.flatMap { [$0] + project.extensions(of: $0) }.flatMap(\.properties)
    return ([type] + project.extensions(of: type)).flatMap(\.statements).flatMap { statement in
      guard statement.prefix == KeyStatement.automatic, let key = key(of: statement, in: type)
      else {
        return [] as [String]
      }
      return properties.filter { $0.key == key && $0.name != key && !$0.isStatic }.map {
        "keys.automaticallyNotifies(\"\($0.name)\", \(statement.value))"
      }
    }
  }

  private func entries(
    for parts: [TypeDeclaration], _ statements: [KeyStatement], _ type: TypeDeclaration,
    besides others: [String]
  ) -> [String] {
    var entries = parts.flatMap { part in
      part.variables.compactMap { entry(for: $0, in: part, of: type) }
    }
    for statement in statements {
      guard let key = key(of: statement, in: type) else { continue }
      if statement.prefix == KeyStatement.automatic {
        entries.append("keys.automaticallyNotifies(\"\(key)\", \(statement.value))")
      } else if !(entries + others).contains(where: { $0.hasSuffix(": \(statement.value))") }) {
        entries.append("keys.dependency(\"\(key)\", on: \(statement.value))")
      }
    }
    return entries
  }

  private func entry(
    for property: PropertyDeclaration, in part: TypeDeclaration, of type: TypeDeclaration
  ) -> String? {
    guard !property.isStatic else { return nil }
    if let entry = settingEntry(for: property, in: type) { return entry }
    guard
      property.isDynamic || isUsed(property, in: type) && project.isExposed(property, in: part)
    else { return nil }
    let (name, path) = (property.name, "\\.\(property.name)")
    let key = property.key ?? name
    if property.isComputed {
      guard !property.modifiers.contains("override") else { return nil }
      let by = statement(ofWhatAffects: key, in: type).map { ", affectedBy: \($0.value)" } ?? ""
      return "keys.computed(\"\(key)\", \(path)\(by))"
    }
    if key != name { return "keys.computed(\"\(key)\", \(path), affectedBy: [\"\(name)\"])" }
    if let (owner, base) = overridden(by: property, in: type), declares(base, of: owner) {
      return nil
    }
    let isPlain = property.accessors.isEmpty && !isOverridden(name, beneath: type)
    return isPlain && !isObservedPlainly(property) ? nil : "keys.stored(\"\(key)\", \(path))"
  }

  /// Whether a class is read or set by key, or a property of it is observed.
  func isUsed(_ property: PropertyDeclaration, in type: TypeDeclaration) -> Bool {
    project.participants.coded.contains(type.id) || isObservedPlainly(property)
  }

  /// Whether a property is observed that does not notify its observers by itself. A key path of it needs a declaration.
  func isObservedPlainly(_ property: PropertyDeclaration) -> Bool {
    !property.isDynamic && !property.isConstant
      && project.participants.observedKeys.contains(property.key ?? property.name)
  }

  /// The declaration of an override that can be set, if the superclass's property can't, so that its key is read-only.
  private func settingEntry(
    for property: PropertyDeclaration, in type: TypeDeclaration
  ) -> String? {
    guard property.modifiers.contains("override"), property.accessors["set"] != nil else {
      return nil
    }
    guard let (owner, base) = overridden(by: property, in: type),
      base.isConstant || base.isComputed, base.accessors["set"] == nil, declares(base, of: owner)
    else { return nil }
    let above = project.ancestors(of: type).classes
    let key = base.key ?? base.name
    let affecting = ([type] + above).lazy.compactMap {
      self.statement(ofWhatAffects: key, in: $0)
    }.first
    let by = affecting.map { ", affectedBy: \($0.value)" } ?? ""
    return "keys.computed(\"\(key)\", \\.\(property.name)\(by))"
  }

  /// The property of the nearest superclass that a property overrides, with that class.
  private func overridden(
    by property: PropertyDeclaration, in type: TypeDeclaration
  ) -> (owner: TypeDeclaration, PropertyDeclaration)? {
    guard property.modifiers.contains("override") else { return nil }
    return project.ancestors(of: type).classes.lazy.compactMap { type in
      type.variables.first { $0.name == property.name }.map { (type, $0) }
    }.first
  }

  /// Whether a class declares the key of a property that has accessors or an override.
  private func declares(_ property: PropertyDeclaration, of type: TypeDeclaration) -> Bool {
    property.isDynamic || isUsed(property, in: type) && project.isExposed(property, in: type)
  }

  private func validatorEntries(
    of methods: [MethodDeclaration], _ type: TypeDeclaration
  ) -> [String] {
    let known = keys(of: type)
    return methods.compactMap { method in
      guard let key = key(in: method.name, after: "validate", of: type), known.contains(key),
        !isOfRoot(method)
      else { return nil }
      let call = "try object.\(method.name)(&value)"
      return "keys.validator(\"\(key)\") { object, value in \(call) }"
    }
  }
}
