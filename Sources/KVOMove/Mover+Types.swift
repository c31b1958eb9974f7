/// Edits of classes: the base class, observable properties, and `registerKeys` for what Apple's runtime finds by
/// name. Edits 2, 3 and 8 of MovingOver.md.
import SwiftSource

extension Mover {
  mutating func moveType(_ type: TypeDeclaration) {
    let root = project.root(of: type)
    let isMoved = root != .other && (type.isClass || type.isExtension)
    if type.isClass, root != .other { moveHead(type, root) }
    if isMoved { conform(type) }
    if tellsOfSeveral(type) { return }
    for property in type.properties { moveProperty(property, in: type, isMoved) }
    for property in type.properties { moveProxy(property) }
    guard isMoved else { return lookAtForeign(type) }
    for property in type.properties { split(property, in: type) }
    if type.isClass, startsHere(type) { needsRuntime = true }
    for method in type.methods {
      moveValidator(method)
      moveSetter(method, in: type)
      moveRegistration(method)
      moveSettingOfSeveral(method)
      moveSetting(method, in: type)
    }
    for statement in type.statements { moveKeyPaths(statement) }
    moveAnnouncements(of: type)
    lookAtOverrides(type)
    lookAtRenamed(type)
    lookAtEarlyReads(type)
    moveIdentity(type)
    lookAtIsolation(type)
    if usesMacro(type) { leaveOut(type) }
    relocateCoding(of: type)
    lookAtCoding(type)
    if type.isClass { registerKeys(type, root) }
  }

  private func startsHere(_ type: TypeDeclaration) -> Bool {
    ["NSObject", "Operation"].contains(project.superclassName(of: type))
      || type.properties.contains { $0.isDynamic }
  }

  /// Reports that several classes have the name of the superclass, or of the extended class, and have different
  /// superclasses.
  private mutating func tellsOfSeveral(_ type: TypeDeclaration) -> Bool {
    let several = project.several(above: type)
    guard let one = several.first, several.contains(where: project.hasKnownRoot),
      project.participants.files.contains(index)
    else {
      return false
    }
    report(
      type.keyword, .refused,
      "there are several classes \(one.name), and which is meant can't be seen",
      "move the sources of each target by themselves")
    return true
  }

  // MARK: - The class's head

  /// Imports what conforms `KVOObject` to `NSObjectProtocol`, if a protocol of the class requires that.
  private mutating func conform(_ type: TypeDeclaration) {
    guard type.inherited.contains(where: { project.isObjectProtocol($0.name) }) else { return }
    (needsRuntime, needsFoundation) = (true, true)
  }

  private mutating func moveHead(_ type: TypeDeclaration, _ root: Project.Root) {
    guard let superclass = type.inherited.first else { return }
    if project.superclassName(of: type) == "NSObject" {
      let rest = type.inherited.dropFirst().map(\.name)
      if rest.contains(where: { ["NSCoding", "NSSecureCoding", "NSCopying"].contains($0) }) {
        report(
          superclass.tokens.lowerBound, .refused,
          "\(type.name) is archived or copied by Foundation",
          "see that Foundation's protocol is met without NSObject")
      }
      replace(superclass.tokens, by: "KVOObject")
      addMacro(type)
    } else if project.superclassName(of: type) == "Operation", root == .operation,
      project.ancestors(of: type).classes.isEmpty
    {
      replace(superclass.tokens, by: "KVOOperation")
      needsFoundation = true
      shareAmongThreads(type)
      addMacro(type)
    } else if project.ancestors(of: type).root == "Operation", root == .operation {
      if project.participants.files.contains(index) { shareAmongThreads(type) }
      addMacro(type)
    } else if root != .other {
      addMacro(type)
    }
  }

  /// Each operation class must declare itself `Sendable`, since queues pass operations to other threads.
  private mutating func shareAmongThreads(_ type: TypeDeclaration) {
    guard
      !type.inherited.contains(where: {
        $0.name == "Sendable" || tokens[$0.tokens.lowerBound].is("@")
      })
    else {
      return
    }
    insert(", @unchecked Sendable", after: endOfHead(type))
  }

  /// The last token of the head, before the brace and before a `where` clause.
  func endOfHead(_ type: TypeDeclaration) -> Int {
    let requirements = (type.keyword..<type.open).first { tokens[$0].isWord("where") }
    return (requirements ?? type.open) - 1
  }

  private mutating func addMacro(_ type: TypeDeclaration) {
    guard usesMacro(type), !type.attributes.contains("KVO") else { return }
    insert("@KVO ", before: file.start(ofDeclarationAt: type.keyword))
  }

  // MARK: - Properties

  /// Reports observable properties of a class that inherits from a class other than the root.
  private mutating func lookAtForeign(_ type: TypeDeclaration) {
    let observable = type.variables.filter(\.isDynamic)
    guard let first = observable.first, project.declaration(of: type) != nil || type.isExtension
    else { return }
    let superclass = project.ancestors(of: type).root ?? type.name
    let names = observable.map(\.name).joined(separator: ", ")
    report(
      first.keyword, .missing,
      "\(names) \(observable.count == 1 ? "is" : "are") observable in a class that is not a KVOObject (\(superclass))",
      "move the observable state into a KVOObject of its own")
  }

  private mutating func moveProperty(
    _ property: PropertyDeclaration, in type: TypeDeclaration, _ isMoved: Bool
  ) {
    guard property.isDynamic else {
      // It is observable if the property that it overrides is.
      if isMoved, property.modifiers.contains("override"), isObservable(property.name, above: type)
      {
        lookAtObservers(property, in: type)
        bracketSetter(property, in: type)
        lookAtGetter(property, in: type)
      }
      return
    }
    guard isMoved else { return }
    if property.modifiers.contains("@NSManaged") {
      report(
        property.keyword, .missing, "Core Data keeps \(property.name)",
        "store it in an observable property")
      return
    }
    if style == .wrapper, !property.isComputed, !property.isStatic,
      tokens[property.keyword].isWord("var")
    {
      if ["weak", "lazy", "unowned"].first(where: property.modifiers.contains) != nil {
        report(
          property.keyword, .differs, "\(property.name) is weak or lazy, and takes no @Observed",
          "change it inside withChange(forKey: \"\(property.name)\") { … }; "
            + "to observe \\.\(property.name), declare keys.stored(\"\(property.name)\", \\.\(property.name))"
        )
      } else if property.modifiers.contains("override"), !isObservable(property.name, above: type) {
        report(
          property.keyword, .differs,
          "\(property.name) overrides a property that is not observable, and is not observed",
          "@Observed before the superclass's")
      } else {
        mark(property)
      }
    }
    lookAtObservers(property, in: type)
    bracketSetter(property, in: type)
    lookAtGetter(property, in: type)
    closeAccess(property, in: type)
  }

  /// Makes an `open` property of a final class `public`: Swift treats it so there, but requires it to be written so
  /// here.
  private mutating func closeAccess(_ property: PropertyDeclaration, in type: TypeDeclaration) {
    let head = file.start(ofDeclarationAt: type.keyword)..<type.keyword
    guard head.contains(where: { tokens[$0].isWord("final") }),
      let word = (property.start..<property.keyword).first(where: { tokens[$0].isWord("open") })
    else { return }
    replace(word, by: "public")
  }

  /// Inserts `@Observed` before `@objc` and before all modifiers, which no attribute may follow.
  private mutating func mark(_ property: PropertyDeclaration) {
    guard property.modifiers.isDisjoint(with: ["@Observed", "override"]) else { return }
    let reader = DeclarationReader(tokens, at: property.keyword)
    let first = (property.start..<property.keyword).first { index in
      file.enclosing[index] == file.enclosing[property.keyword] && reader.isModifier(at: index)
        || tokens[index].is("@") && tokens[index + 1].text == "objc"
    }
    if let first { insert("@Observed ", before: first) }
  }

  /// On Apple's platforms, assigning to an observable property notifies its observers once, whatever its setter does.
  private mutating func bracketSetter(_ property: PropertyDeclaration, in type: TypeDeclaration) {
    guard property.isComputed, !property.isStatic, let brace = property.accessors["set"],
      let end = file.partner[brace]
    else { return }
    let keys = [property.name, property.key ?? property.name]
    if (brace..<end).contains(where: { call in keys.contains { announcesByHand(call, of: $0) } }) {
      lookAtAnnouncements(of: property, in: type)
    } else if !(brace..<end).contains(where: { announces($0, property.name, by: [automatic]) }) {
      if bodies(reachedFrom: brace, in: type).contains(where: { body in
        body.contains { call in keys.contains { announcesByHand(call, of: $0) } }
      }) {
        lookAtAnnouncements(of: property, in: type)
      }
      lookAtAssignments(brace..<end, inSetterOf: property, in: type)
      bracket(brace, by: "\(automatic)(of: \\.\(property.name))")
    }
  }

  /// Puts a call with a closure around the body that begins at a brace.
  mutating func bracket(_ brace: Int, by call: String) {
    guard let end = file.partner[brace] else { return }
    let isOneLine = !tokens[end].isFirstOnLine
    insert(" \(call) {", after: brace)
    insert(isOneLine ? "} " : "}\(file.lineEnd)\(file.indentation(of: brace))", before: end)
  }

  /// Two notifications there, the setter's own and Objective-C's, are one here.
  private mutating func lookAtAnnouncements(
    of property: PropertyDeclaration, in type: TypeDeclaration
  ) {
    let own = project.declaration(of: type).map { [$0] + project.extensions(of: $0) } ?? [type]
    let isOff = ["", "Of" + capitalised(property.key ?? property.name)].contains { key in
      let name = "automaticallyNotifiesObservers" + key
      return own.contains { part in
        part.methods.contains { $0.name == name } || part.statements.contains { $0.name == name }
      }
    }
    let isDynamic =
      property.isDynamic
      || project.ancestors(of: type).classes.contains {
        project.dynamicProperties[$0.id]?[property.name]?.isDynamic == true
      }
    guard isDynamic, !isOff else { return }
    report(
      property.keyword, .differs,
      "the setter of \(property.name) announces manually what Objective-C announces as well: twice there, once here",
      "nothing, if once is right")
  }

  /// A setter that sets a property on which its key depends: there, that property's change and the setter's own are two.
  private mutating func lookAtAssignments(
    _ body: Range<Int>, inSetterOf property: PropertyDeclaration, in type: TypeDeclaration
  ) {
    let name = KeyStatement.affecting + capitalised(property.key ?? property.name)
    guard property.isDynamic, let affecting = type.statements.first(where: { $0.name == name })
    else { return }
    let named = Set(affecting.body.compactMap { file.key(at: $0)?.key })
    let observable = Set(observableNames(in: type)).intersection(named)
    guard
      let place = body.first(where: {
        tokens[$0].kind == .identifier && observable.contains(tokens[$0].name) && isRoot($0)
          && isAssigned($0)
      })
    else { return }
    report(
      property.keyword, .differs,
      "the setter of \(property.name) sets \(tokens[place].name), which affects it: it notifies twice there, once here",
      "nothing, if once is right")
  }

  /// There, a getter depends on the keys that a method names. Here it also depends on whatever it reads.
  private mutating func lookAtGetter(_ property: PropertyDeclaration, in type: TypeDeclaration) {
    let key = property.key ?? property.name
    guard property.isComputed, !property.isStatic,
      !project.participants.observedKeys.isDisjoint(with: [property.name, key]),
      !namesWhatAffects(key, in: type),
      let first = observableNames(readBy: property, in: type).first
    else { return }
    report(
      property.keyword, .differs,
      "no method names what affects \(property.name): its observers are notified here when \(first) changes, and not there",
      "class func keyPathsForValuesAffecting\(capitalised(key))() -> Set<String> { [] }, if they must not be"
    )
  }

  /// Whether a class, or a superclass, names what affects a key: for that key alone, or among others. A method that
  /// contains no key may answer for each.
  func namesWhatAffects(_ key: String, in type: TypeDeclaration) -> Bool {
    let classes =
      (project.declaration(of: type).map { [$0] } ?? []) + project.ancestors(of: type).classes
    let own = KeyStatement.affecting + capitalised(key)
    return ([type] + classes + classes.flatMap(project.extensions)).contains { part in
      part.statements.contains { $0.name == own }
        || part.methods.contains { method in
          Self.methodsForAllKeys.contains(method.name) && mayName(key, method, in: part)
        }
    }
  }

  private static let methodsForAllKeys: Set = [
    "keyPathsForValuesAffectingValue", "keyPathsForValuesAffecting", "keyPathsAffectingValue",
  ]

  private func mayName(
    _ key: String, _ method: MethodDeclaration, in part: TypeDeclaration
  ) -> Bool {
    let source = project.files[part.id.file]
    guard let brace = method.brace, let end = source.partner[brace] else { return true }
    let body = source.tokens[brace..<end]
    return body.contains { $0.text == "\"\(key)\"" || $0.name == key }
      || !body.contains { $0.kind == .string || $0.is("\\") || $0.text == "#keyPath" }
  }

  /// The observable properties of the object that a property's getter reads, the nearest first.
  func observableNames(readBy property: PropertyDeclaration, in type: TypeDeclaration) -> [String] {
    guard let getter = property.accessors["get"] ?? property.brace else { return [] }
    let observable = Set(observableNames(in: type)).subtracting([property.name])
    return members(reachedFrom: getter, in: type).filter(observable.contains)
  }

  /// The members of the object that the body at a brace names, and those that the type's own methods and getters
  /// name which it calls.
  func members(reachedFrom brace: Int, in type: TypeDeclaration) -> [String] {
    bodies(reachedFrom: brace, in: type).flatMap { members(in: Array(tokens[$0])) }
  }

  private func bodies(reachedFrom brace: Int, in type: TypeDeclaration) -> [Range<Int>] {
    var (bodies, next, seen) = ([Range<Int>](), [brace][...], Set<Int>())
    while let brace = next.popFirst() {
      guard let end = file.partner[brace], seen.insert(brace).inserted else { continue }
      bodies.append(brace..<end)
      for name in Set(members(in: Array(tokens[brace..<end]))) {
        next += type.methods.filter { $0.name == name }.compactMap(\.brace)
        next += type.properties.filter { $0.name == name && $0.isComputed }
          .compactMap { $0.accessors["get"] ?? $0.brace }
      }
    }
    return bodies
  }

  /// The names that begin an expression or follow `self.`, also in the interpolations of strings.
  private func members(in body: [Token]) -> [String] {
    body.indices.flatMap { index -> [String] in
      let token = body[index]
      let isRoot =
        index == 0 || !body[index - 1].is(".") || index > 1 && body[index - 2].isWord("self")
      return (token.kind == .identifier && isRoot ? [token.name] : [])
        + token.interpolations.flatMap(members)
    }
  }

  /// An observable property has accessors: before `super.init()` it can be set, but not read.
  private mutating func lookAtEarlyReads(_ type: TypeDeclaration) {
    guard type.isClass else { return }
    let observable = Set(
      type.variables.filter {
        type.observes($0) && !$0.isComputed && !$0.isStatic && !$0.isConstant
      }
      .map(\.name))
    guard !observable.isEmpty else { return }
    for index in type.open..<type.close
    where file.enclosing[index] == type.open && tokens[index].isWord("init")
      && !tokens[index - 1].is(".")
    {
      guard
        let open = (index..<type.close).first(where: {
          tokens[$0].is("{") && file.enclosing[$0] == type.open
        }),
        let end = file.partner[open]
      else { continue }
      let prefix = file.start(ofDeclarationAt: index)..<index
      if prefix.contains(where: { tokens[$0].isWord("convenience") }) { continue }
      let call = (open..<end).first { tokens[$0].isWord("super") && tokens[$0 + 1].is(".") } ?? end
      let locals = (open..<call).filter {
        tokens[$0 - 1].isWord("let") || tokens[$0 - 1].isWord("var")
      }
      let parameters = Set(tokens[index..<open].map(\.name)).union(locals.map { tokens[$0].name })
      let early = (open + 1..<call).first { place in
        guard tokens[place].kind == .identifier, observable.contains(tokens[place].name),
          isRoot(place),
          !tokens[place + 1].is(":"),
          tokens[place - 1].is(".") || !parameters.contains(tokens[place].name)
        else { return false }
        return !tokens[place + 1].is("=")
      }
      guard let early else { continue }
      report(
        early, .refused, "\(tokens[early].name) is read or changed in place before super.init()",
        "use the value that it is given, or call super.init() before")
    }
  }

  /// Whether a superclass has an observable property of this name, which a property of the name overrides.
  func isObservable(_ name: String, above type: TypeDeclaration) -> Bool {
    project.ancestors(of: type).classes.contains { type in
      guard let property = project.dynamicProperties[type.id]?[name] else { return false }
      return property.isDynamic || !property.isComputed || property.accessors["set"] != nil
    }
  }

  func observableNames(in type: TypeDeclaration) -> [String] {
    let own = project.declaration(of: type) ?? type
    return ([own] + project.ancestors(of: type).classes).flatMap { type in
      let dynamic = project.dynamicProperties[type.id].map { Array($0.keys) } ?? []
      return dynamic
    }
  }
}
