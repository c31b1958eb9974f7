/// Declares keys that are names in Objective-C only: of properties, of accessors and of methods. Edit 8 of
/// MovingOver.md. No rule of Behaviour is kept here.
import SwiftSource

extension Mover {
  /// The statement in a class, or in an extension of it, that lists what affects a key.
  func statement(ofWhatAffects key: String, in type: TypeDeclaration) -> KeyStatement? {
    let name = KeyStatement.affecting + capitalised(key)
    return ([type] + project.extensions(of: type)).lazy.flatMap(\.statements)
      .first { $0.name == name }
  }

  /// Declarations of accessors that have names of their own in Objective-C, `@objc(isOn) get` and `@objc(setIsOn:) set`, if
  /// the sources use these as a key.
  func accessorEntries(of part: TypeDeclaration) -> [String] {
    part.properties.flatMap { property -> [String] in
      guard !property.isStatic, let names = property.accessorNames else { return [] }
      func isUsed(_ key: String) -> Bool {
        key != property.key ?? property.name && project.spells(key)
      }
      if let key = names.settableKeys.first(where: isUsed) {
        return entries(for: property, as: key, in: part)
      }
      guard let key = names.getter, isUsed(key) else { return [] }
      return ["keys.accessors(\"\(key)\", get: { $0.\(property.name) })"]
    }
  }

  /// Declarations of a key that is not the property's name.
  private func entries(
    for property: PropertyDeclaration, as key: String, in part: TypeDeclaration
  ) -> [String] {
    let type = project.declaration(of: part) ?? part
    if property.isConstant { return ["keys.stored(\"\(key)\", \\.\(property.name))"] }
    let (path, affecting) = ("\\.\(property.name)", statement(ofWhatAffects: key, in: type))
    if let affecting, property.isComputed, property.accessors["set"] == nil {
      return ["keys.computed(\"\(key)\", \(path), affectedBy: \(affecting.value))"]
    }
    return ["keys.computed(\"\(key)\", \(path), affectedBy: [\"\(property.name)\"])"]
      + (affecting.map { ["keys.dependency(\"\(key)\", on: \($0.value))"] } ?? [])
  }

  /// Declarations that the macro does not make: for Objective-C names, and for setters and overrides of properties that are
  /// not observable.
  func ownEntries(of type: TypeDeclaration) -> [String] {
    type.variables.flatMap { property -> [String] in
      guard !property.isStatic, project.isExposed(property, in: type) else { return [] }
      if let key = property.key, key != property.name {
        return entries(for: property, as: key, in: type)
      }
      guard !property.isConstant, !property.isDynamic, isUsed(property, in: type),
        !type.attributes.contains("KVO"), !property.modifiers.contains("override")
      else { return [] }
      if property.isComputed {
        return property.accessors["set"] == nil
          ? [] : ["keys.computed(\"\(property.name)\", \\.\(property.name))"]
      }
      let isPlain = property.accessors.isEmpty && !isOverridden(property.name, beneath: type)
      return isPlain && !isObservedPlainly(property)
        ? [] : ["keys.stored(\"\(property.name)\", \\.\(property.name))"]
    }
  }

  /// Whether a subclass in the sources overrides a property.
  func isOverridden(_ name: String, beneath type: TypeDeclaration) -> Bool {
    project.types.joined().contains { other in
      other.variables.contains { $0.name == name && $0.modifiers.contains("override") }
        && project.ancestors(of: other).classes.contains { $0.id == type.id }
    }
  }

  /// Declarations of methods that the sources call by key, as a property's getter.
  func methodEntries(of part: TypeDeclaration, _ type: TypeDeclaration) -> [String] {
    guard project.participants.coded.contains(type.id) else { return [] }
    return part.methods.flatMap { method in
      keys(gotBy: method, in: part).map { key in
        let name = "set" + capitalised(key)
        let parts = [type] + project.extensions(of: type)
        let isSet = parts.contains { part in
          part.methods.contains { $0.name == name && isSetter($0, in: part) }
        }
        return "keys.accessors(\"\(key)\", get: { $0.\(method.name)() }"
          + (isSet ? ", set: { $0.\(name)($1) })" : ")")
      }
    }
  }

  /// The keys that the sources use, and whose getter a method is for Objective-C.
  private func keys(gotBy method: MethodDeclaration, in part: TypeDeclaration) -> [String] {
    let (tokens, close) = (project.files[part.id.file].tokens, method.parameters + 1)
    guard project.isExposed(method.modifiers, in: part),
      method.modifiers.isDisjoint(with: ["static", "class", "override"]),
      tokens[close].is(")"), tokens[close + 1].is("->")
    else { return [] }
    return method.keys.filter {
      project.participants.keys.contains($0) && project.valueTypes[$0] == nil
    }
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
      for key in part.methods.flatMap({ keys(gotBy: $0, in: part) })
      where "set" + capitalised(key) == method.name { return key }
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
}
