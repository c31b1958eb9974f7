/// The edits of classes: the base class, observable properties, and `registerKeys` for what Apple's runtime finds by
/// its name. They keep to "The edits", 2, 3 and 8, of MovingOver.
import SwiftSource

extension Mover {
  mutating func moveType(_ type: TypeDeclaration) {
    let root = project.root(of: type)
    let isMoved = root != .other && (type.isClass || type.isExtension)
    if type.isClass { moveHead(type, root) }
    if tellsOfSeveral(type) { return }
    for property in type.properties { moveProperty(property, in: type, isMoved) }
    guard isMoved else { return }
    for property in type.properties { split(property, in: type) }
    if type.isClass, root != .other, startsHere(type) { needsRuntime = true }
    for method in type.methods { moveValidator(method) }
    moveIdentity(type)
    lookAtIsolation(type)
    if usesMacro(type) { leaveOut(type) }
    if type.isClass { registerKeys(type, root) }
  }

  private func startsHere(_ type: TypeDeclaration) -> Bool {
    ["NSObject", "Operation"].contains(type.inherited.first?.name)
      || type.properties.contains { $0.isDynamic }
  }

  /// Where several classes have the name of a superclass, or of an extension's class, and differ in what they are.
  private mutating func tellsOfSeveral(_ type: TypeDeclaration) -> Bool {
    let several = project.several(above: type)
    guard let one = several.first, several.contains(where: { project.root(of: $0) != .other })
    else {
      return false
    }
    find(
      type.keyword, "there are several classes \(one.name), and which is meant can't be seen",
      "move the sources of each target by themselves")
    return true
  }

  // MARK: - The class's head

  private mutating func moveHead(_ type: TypeDeclaration, _ root: Project.Root) {
    guard let superclass = type.inherited.first else { return }
    if superclass.name == "NSObject" {
      let rest = type.inherited.dropFirst().map(\.name)
      if rest.contains(where: { ["NSCoding", "NSSecureCoding", "NSCopying"].contains($0) }) {
        find(
          superclass.tokens.lowerBound, "\(type.name) is archived or copied by Foundation",
          "see that Foundation's protocol is met without NSObject")
      }
      // Protocols of Foundation's delegates inherit from NSObjectProtocol, which KVOFoundation has KVOObject meet.
      if rest.contains(where: {
        $0.hasSuffix("Delegate") || $0 == "NSObjectProtocol"
          || $0.hasPrefix("NS") && $0 != "NSKeyValueObservingCustomization"
      }) {
        needsFoundation = true
      }
      replace(superclass.tokens, by: "KVOObject")
      addMacro(type)
    } else if superclass.name == "Operation", root == .operation {
      replace(superclass.tokens, by: "KVOOperation")
      needsFoundation = true
      shareAmongThreads(type)
      addMacro(type)
    } else if project.ancestors(of: type).root == "Operation", root == .operation {
      shareAmongThreads(type)
      addMacro(type)
    } else if root != .other {
      addMacro(type)
    }
  }

  /// Operations say of themselves that queues may have them, class by class.
  private mutating func shareAmongThreads(_ type: TypeDeclaration) {
    guard
      !type.inherited.contains(where: {
        $0.name == "Sendable" || tokens[$0.tokens.lowerBound].is("@")
      })
    else {
      return
    }
    insert(", @unchecked Sendable", after: type.open - 1)
  }

  private mutating func addMacro(_ type: TypeDeclaration) {
    guard usesMacro(type), !type.attributes.contains("KVO") else { return }
    insert("@KVO ", before: file.start(ofDeclarationAt: type.keyword))
  }

  // MARK: - Properties

  private mutating func moveProperty(
    _ property: PropertyDeclaration, in type: TypeDeclaration, _ isMoved: Bool
  ) {
    guard property.isDynamic else {
      // As the one that it overrides.
      if isMoved, property.modifiers.contains("override"), isObservable(property.name, above: type)
      {
        lookAtObservers(property, in: type)
      }
      return
    }
    guard isMoved else {
      if project.declaration(of: type) != nil || type.isExtension {
        let superclass = project.ancestors(of: type).root ?? type.name
        find(
          property.keyword,
          "\(property.name) is observable in a class that is no KVOObject (\(superclass))",
          "move the observable state into a KVOObject of its own")
      }
      return
    }
    if property.modifiers.contains("@NSManaged") {
      find(
        property.keyword, "Core Data keeps \(property.name)", "store it in an observable property")
      return
    }
    if style == .wrapper, !property.isComputed, !property.isStatic,
      tokens[property.keyword].isWord("var")
    {
      if ["weak", "lazy", "unowned"].first(where: property.modifiers.contains) != nil {
        find(
          property.keyword, "\(property.name) is weak or lazy, and takes no @Observed",
          "change it inside withChange(forKey: \"\(property.name)\") { … }")
      } else {
        mark(property)
      }
    }
    lookAtObservers(property, in: type)
    lookAtSetter(property, in: type)
  }

  /// `@Observed` where the first of `@objc` and `dynamic` stood.
  private mutating func mark(_ property: PropertyDeclaration) {
    guard !property.modifiers.contains("@Observed") else { return }
    let first = (property.start..<property.keyword).first { index in
      tokens[index].isWord("dynamic") || tokens[index].is("@") && tokens[index + 1].text == "objc"
    }
    if let first { insert("@Observed ", before: first) }
  }

  /// A setter tells by what it sets that is observable; else it needs a bracket.
  mutating func lookAtSetter(_ property: PropertyDeclaration, in type: TypeDeclaration) {
    guard property.isComputed, let brace = property.accessors["set"], let end = file.partner[brace]
    else {
      return
    }
    let body = brace + 1..<end
    let names = Set(body.map { tokens[$0].text })
    guard names.isDisjoint(with: Self.callsThatTell) else { return }
    let observable = Set(observableNames(in: type)).subtracting([property.name])
    let assigned = assigned(in: body)
    if let assigned, !assigned.isPath, isStored(assigned.first, in: type) { return }
    guard observable.isDisjoint(with: names) else { return }
    if let root = assigned, !isObservable(root.last, beside: type), root.isOwn(type) {
      let bracket = "withChange(of: \\.\(property.name)) {"
      insert(" \(bracket)", after: brace)
      let isOneLine = !tokens[end].isFirstOnLine
      insert(isOneLine ? "} " : "}\(file.lineEnd)\(file.indentation(of: brace))", before: end)
    } else {
      find(
        property.keyword, "the setter of \(property.name) may tell nobody",
        "if it sets nothing that is observable and that the getter reads, "
          + "set { withChange(of: \\.\(property.name)) { … } }")
    }
  }

  /// Whether a class above has an observable property of that name, which another one of that name overrides.
  func isObservable(_ name: String, above type: TypeDeclaration) -> Bool {
    project.ancestors(of: type).classes.contains { project.dynamicProperties[$0.id]?[name] != nil }
  }

  /// Whether another class has an observable property of that name, which might be what is assigned to.
  private func isObservable(_ name: String, beside type: TypeDeclaration) -> Bool {
    project.dynamicProperties.contains { $0.key != type.id && $0.value[name] != nil }
  }

  func observableNames(in type: TypeDeclaration) -> [String] {
    let own = project.declaration(of: type) ?? type
    return ([own] + project.ancestors(of: type).classes).flatMap { type in
      let dynamic = project.dynamicProperties[type.id].map { Array($0.keys) } ?? []
      let stored = madeObservable(in: type).filter {
        // What is set of an object changes nothing of the property that leads to it.
        project.classes(named: $0.type.filter { $0 != "?" && $0 != "!" }, in: type).isEmpty
      }
      return dynamic + stored.map(\.name)
    }
  }

  /// What `@KVO` makes observable that was not, where the class gets it.
  private func madeObservable(in type: TypeDeclaration) -> [PropertyDeclaration] {
    guard let type = project.declaration(of: type), usesMacro(type) else { return [] }
    // Those are private, so that nothing in another source is about them.
    let ignored = types.contains { $0.id == type.id } ? Set(backing(type)) : []
    return type.properties.filter {
      !$0.isComputed && !$0.isConstant && !$0.isStatic && !takesNone($0)
        && !ignored.contains($0.name)
    }
  }

  private func isStored(_ name: String, in type: TypeDeclaration) -> Bool {
    madeObservable(in: type).contains { $0.name == name }
  }

  private struct Assigned {
    var first: String
    var last: String
    /// Whether it is a part of what the first name stands for.
    var isPath: Bool

    /// Whether the class stores what is assigned to, and nobody observes that.
    func isOwn(_ type: TypeDeclaration) -> Bool {
      type.properties.contains { $0.name == first && !$0.isComputed && !$0.isDynamic }
    }
  }

  /// What a body assigns to that is one assignment and nothing else.
  private func assigned(in body: Range<Int>) -> Assigned? {
    var index = body.lowerBound
    if tokens[index].text == "self", tokens[index + 1].is(".") { index += 2 }
    guard tokens[index].kind == .identifier else { return nil }
    let (first, start) = (tokens[index].name, index)
    while tokens[index + 1].is("."), tokens[index + 2].kind == .identifier { index += 2 }
    guard tokens[index + 1].is("="), index + 2 < body.upperBound else { return nil }
    guard file.isOneStatement(body) else { return nil }
    return Assigned(first: first, last: tokens[index].name, isPath: index > start)
  }
}
