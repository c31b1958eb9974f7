/// Findings: places without a counterpart here, and places that compile but behave differently. They are the silent
/// differences listed in MovingOver that a source shows. No rule of Behaviour is kept here.
import SwiftSource

extension Mover {
  /// Names that are enough for a finding, with the reason and the advice.
  private static let telling: [String: (Harm, String, String)] = [
    "Mirror": (
      .differs,
      "a mirror's labels are those of observable properties, without what the wrapper adds",
      "see that it reads nothing of NSObject's"
    ),
    "objc_setAssociatedObject": (
      .missing, "there are no associated objects", "object[key], by a KVOAssociation"
    ),
    "objc_getAssociatedObject": (
      .missing, "there are no associated objects", "object[key], by a KVOAssociation"
    ),
    "objc_removeAssociatedObjects": (
      .missing, "there are no associated objects", "set each value to nil: object[key] = nil"
    ),
    "NSPredicate": (
      .missing, "there are no predicates by key",
      "filter(\"key\", as: Int.self) { … }, of KVOFoundation"
    ),
    "NSSortDescriptor": (
      .missing, "it asks Objective-C's runtime for keys", "KeyValueSort(\"key\"), of KVOFoundation"
    ),
    "NSExpression": (
      .missing, "it asks Objective-C's runtime for keys", "value(forKeyPath:) with an operator"
    ),
    "_kvcKeyPathString": (
      .differs, "it is nil without Objective-C's runtime", "Account.key(of: keyPath)"
    ),
    "UndoManager": (
      .missing, "Foundation has no undo manager on Linux", "a ChangeLog, of KVOChangeLogs"
    ),
    "NSManagedObject": (.missing, "Core Data is not there", "a KVOObject"),
    "class_copyPropertyList": (
      .missing, "there is no Objective-C runtime", "keyValueProperties, of the class"
    ),
    "object_getClass": (.missing, "there is no Objective-C runtime", "type(of:)"),
    "NSClassFromString": (.missing, "there is no Objective-C runtime", "a table of the classes"),
    "NSKeyValueChangeKindKey": (
      .differs, "the kind is an NSKeyValueChange, not a number",
      "change[.kindKey] as? NSKeyValueChange"
    ),
  ]
  /// Attributes that are reported once for each source.
  private static let outlets: [String: String] = [
    "IBOutlet": "outlet", "IBAction": "action", "IBInspectable": "outlet",
  ]
  static let typesThatNotify: [String: String] = [
    "UserDefaults": "KVOUserDefaults", "Progress": "KVOProgress",
    "OperationQueue": "KVOOperationQueue", "Operation": "KVOOperation",
    "BlockOperation": "KVOBlockOperation",
  ]
  private static let accessorPrefixes = [
    "countOf", "objectIn", "insert", "insertObject", "removeObject", "remove", "replaceObject",
    "replace",
    "add", "memberOf", "enumeratorOf", "intersect",
  ]

  mutating func findLeftovers() {
    for index in tokens.indices where tokens[index].kind != .string && !file.isImported(index) {
      look(at: index)
    }
    for type in types where project.root(of: type) != .other {
      lookAtAnswers(of: type)
      for method in type.methods where project.isExposed(method.modifiers, in: type) {
        lookAtAccessor(method, in: type)
        lookAtValidator(method, in: type)
      }
    }
  }

  private mutating func look(at index: Int) {
    let (token, before) = (tokens[index], index > 0 ? tokens[index - 1].text : "")
    if isHidden(variableAt: index) {
      report(
        index, .refused, "a KVOObject has a member \(token.text), which hides this variable in it",
        "rename the variable")
    } else if token.isWord("optional"), DeclarationReader(tokens, at: index).isModifier(at: index) {
      report(
        index, .refused, "what a protocol has optionally is there with Objective-C only",
        "require it, with a default in an extension of the protocol")
    } else if token.is("#selector") || token.text == "Selector" && tokens[index + 1].is("(") {
      if !answered.contains(index) { count(index, as: "selector") }
    } else if let name = Self.outlets[token.text], before == "@" {
      count(index, as: name)
    } else if token.text == "observationInfo" {
      lookAtObservationInfo(index)
    } else if before == ".", lookAtChange(index) {
      return
    } else if token.text == "responds", tokens[index + 1].is("("), tokens[index + 2].text == "to" {
      if !moveQuestion(index) { count(index, as: "selector") }
    } else if ["bind", "unbind"].contains(token.text), tokens[index + 1].is("("),
      tokens[index + 2].is(".") || tokens[index + 2].text == "NSBindingName"
    {
      report(
        index, .missing, "bindings of AppKit are not there",
        "keep the token of bind(\\.key, to: object, \\.key), and let go of it to unbind")
    } else if associated.contains(index) {
      return
    } else if let (harm, reason, advice) = Self.telling[token.text], token.kind == .identifier {
      report(index, harm, "\(token.text): \(reason)", advice)
    } else if token.text == "BlockOperation", isDependency(index) {
      report(
        index, .refused, "a KVOOperation can't wait for a BlockOperation of Foundation",
        "KVOBlockOperation, of KVOFoundation")
    } else if file.isObservation(index) || file.isStringCall(index) && token.text == "addObserver" {
      lookAtObserved(index)
      lookAtRequirement(index)
    } else {
      lookAtMember(ofReplacedAt: index)
      lookAtWhole(changeAt: index)
      lookAtEnumeration(ofCallAt: index)
      lookAtText(index)
      lookAtPath(ofCallAt: index)
      movePath(ofConversionAt: index)
      lookAtTypeArgument(index)
    }
  }

  /// Whether a variable outside of types has the name of a member that KVOObject has, and NSObject has not, and is used in a
  /// class that is moved.
  func isHidden(variableAt index: Int) -> Bool {
    guard ["key", "bind", "access", "changes"].contains(tokens[index].text), index > 0,
      tokens[index - 1].isWord("var") || tokens[index - 1].isWord("let"),
      file.enclosing[index] == nil
    else { return false }
    return tokens.indices.dropFirst().contains { use in
      tokens[use].text == tokens[index].text && isRoot(use) && !tokens[use - 1].is(".")
        && !tokens[use + 1].is(":")
        && type(around: use).map { becomesObject($0) } ?? false
    }
  }

  private func becomesObject(_ type: TypeDeclaration) -> Bool {
    project.root(of: type) == .object
      || type.isExtension && type.name == "NSObject" && becomesRoot(extensionAt: type.keyword)
  }

  /// Edits `responds(to: NSSelectorFromString(key))`, where `key` is then used as a key in the same function.
  private mutating func moveQuestion(_ index: Int) -> Bool {
    guard tokens[index + 3].is(":"), let close = file.closing(of: index + 1),
      case let name = close - 2, tokens[name].kind == .identifier,
      tokens[name - 2].text == "NSSelectorFromString" || tokens[name - 2].text == "Selector",
      name - 2 == index + 4, throwsHere(index),
      let body = function(around: index),
      body.contains(where: {
        tokens[$0].text == "forKey" && tokens[$0 + 2].text == tokens[name].text
      })
    else { return false }
    answered.insert(name - 2)
    let isMember = tokens[index - 1].is(".")
    guard !isMember || tokens[index - 2].kind == .identifier || tokens[index - 2].isWord("self")
    else { return false }
    let (first, object) = isMember ? (index - 2, tokens[index - 2].text) : (index, "self")
    guard !isMember || !tokens[index - 3].is(".") else { return false }
    let isNegated = first > 0 && tokens[first - 1].text == "!"
    replace(
      first..<name, by: (isNegated ? "(" : "") + "type(of: \(object)).keyValueProperty(forKey: ")
    replace(name + 1..<close + 1, by: ") != nil" + (isNegated ? ")" : ""))
    return true
  }

  /// Whether a class becomes a KVOOperation, and operations of this source depend on one another.
  private func isDependency(_ index: Int) -> Bool {
    project.hasOperations && !project.hasType(named: "BlockOperation")
      && tokens.contains { $0.text == "addDependency" }
  }

  /// Observed objects of Foundation's own classes, including those held in variables.
  private mutating func lookAtObserved(_ call: Int) {
    for link in file.keys(ofCallAt: call).keys.dropLast() {
      let sources = project.names[index].sources[link] ?? []
      for case .type(let type) in sources where !project.hasType(named: type) {
        guard let other = Self.typesThatNotify[type], project.replacedTypes[type] == nil else {
          continue
        }
        report(
          call, .missing, "\(link) holds a \(type) of Foundation, which notifies no observer",
          "\(other), of KVOFoundation")
      }
    }
    guard case .foreign(let types) = project.receiver(ofCallAt: call, in: index) else { return }
    for (type, other) in Self.typesThatNotify.sorted(by: { $0.key < $1.key })
    where types.contains(type) && project.replacedTypes[type] == nil {
      report(
        call, .missing, "\(type) of Foundation notifies no observer", "\(other), of KVOFoundation")
    }
  }

  private mutating func lookAtObservationInfo(_ index: Int) {
    guard index > 0, index + 2 < tokens.count else { return }
    let (next, after) = (tokens[index + 1], tokens[index + 2])
    let isTest = (next.is("==") || next.is("!=")) && after.isWord("nil")
    if tokens[index - 1].isWord("var") { return lookAtOverride(ofObservationInfoAt: index) }
    if isTest { return }
    report(
      index, .differs, "observationInfo is not a pointer, but a snapshot of the registrations",
      "compare it with nil, or take it from the object itself: if let info = object.observationInfo"
    )
  }

  /// There, an override gives the registrations a faster storage. Here they have one, and the type is another.
  private mutating func lookAtOverride(ofObservationInfoAt index: Int) {
    let start = file.start(ofDeclarationAt: index - 1)
    guard tokens[start..<index].contains(where: { $0.isWord("override") }),
      (index..<min(index + 4, tokens.count)).contains(where: {
        tokens[$0].text == "UnsafeMutableRawPointer"
      })
    else { return }
    report(
      index, .refused,
      "observationInfo is an ObservationInfo, and needs no storage of its own here",
      "delete the override, and the variable that it uses")
  }

  /// There, accessors of a collection are found by name, which may be given in `@objc(…)`. Here nothing looks for
  /// them.
  private mutating func lookAtAccessor(_ method: MethodDeclaration, in type: TypeDeclaration) {
    let labels =
      method.selector.isEmpty ? self.labels(of: method) + [method.name] : method.selector
    let name = method.selector.first ?? method.name
    let isConvention =
      Self.accessorPrefixes.contains { name.hasPrefix($0) && name != $0 && $0.hasSuffix("Of") }
      || labels.contains { $0.hasPrefix("in") && $0.dropFirst(2).first?.isUppercase == true }
      || labels.contains { $0.hasPrefix("from") && $0.dropFirst(4).first?.isUppercase == true }
      || labels.contains {
        $0.contains("ObjectFrom") || $0.contains("AtIndex") || $0.hasPrefix("atIndexes")
      }
      || Self.accessorPrefixes.contains { prefix in
        name.hasPrefix(prefix) && name.dropFirst(prefix.count).first?.isUppercase == true
          && labels.first == "_" && name.hasSuffix("Object")
      }
    // Every method of an @objcMembers class is exposed: there the name must begin as an accessor's does.
    let begins = name == "object" || Self.accessorPrefixes.contains { name.hasPrefix($0) }
    guard isConvention, begins || method.modifiers.contains("@objc"),
      !changesByHandle(method, labels)
    else { return }
    if isDeclared(method, in: type) { return lookAtCalls(of: method, in: type) }
    // The macro finds the accessors of a key that is not stored, in the class's own braces.
    if usesMacro(type), !type.isExtension,
      method.selector.isEmpty || method.selector.first == method.name || isSeen(method, in: type)
    {
      let stored = type.variables.filter { $0.isDynamic && !$0.isComputed }
      guard let property = stored.first(where: { isOf($0, labels) }) else {
        return lookAtCalls(of: method, in: type)
      }
      return report(
        method.keyword, .differs,
        "\(method.name) is found by its name there; here proxies change \(property.name) itself, because it is observed",
        "@KVOIgnored before \(property.name), so that the methods are found; mutableArray(\\.\(property.name)) if they do "
          + "nothing else")
    }
    report(
      method.keyword, .differs, "\(method.name) is found by its name there, and not here",
      "declare it (orderedToMany, unorderedToMany), or change the elements by mutableArray(\\.key)")
  }

  /// There, a subclass's answer replaces its superclass's, as it does with the macro. Declarations made by hand add up.
  private mutating func lookAtAnswers(of type: TypeDeclaration) {
    guard isNew(type) else { return }
    for statement in type.statements where statement.prefix == KeyStatement.affecting {
      let base = project.ancestors(of: type).classes.first {
        $0.statements.contains { $0.name == statement.name }
      }
      guard let base, !usesMacro(base), !base.attributes.contains("KVO"),
        !tokens[statement.body].contains(where: { $0.isWord("super") })
      else { continue }
      report(
        statement.type ?? statement.body.lowerBound, .differs,
        "\(statement.name) replaces the superclass's answer there, and adds to it here",
        "override keyPathsForValuesAffectingValue(forKey:), whose answer replaces the declarations")
    }
  }

  func labels(of method: MethodDeclaration) -> [String] {
    (method.parameters + 1..<file.partner[method.parameters]!).map { tokens[$0].text }
  }

  /// An accessor whose only statement changes an observable array's elements. The edit makes it change them through a
  /// handle, which notifies observers.
  private mutating func changesByHandle(_ method: MethodDeclaration, _ labels: [String]) -> Bool {
    guard let brace = method.brace, tokens[brace + 1].kind == .identifier,
      tokens[brace + 2].is("."), ["insert", "remove"].contains(tokens[brace + 3].text),
      let type = type(around: brace),
      let property = type.variables.first(where: { $0.name == tokens[brace + 1].name }),
      property.isDynamic, !property.isComputed
    else { return false }
    let body = brace + 1..<file.partner[brace]!
    guard file.isOneStatement(body), isOf(property, labels) else { return false }
    replace(brace + 1, by: "mutableArray(\\.\(property.name))")
    return true
  }

  /// Whether an accessor's labels name the property: `insertObject(_:inSongsAt:)`, `removeObjectFromSongsAtIndex:`.
  private func isOf(_ property: PropertyDeclaration, _ labels: [String]) -> Bool {
    let key = property.name.prefix(1).uppercased() + property.name.dropFirst()
    return labels.contains {
      $0.hasPrefix("in" + key) || $0.hasPrefix("from" + key)
        || $0.hasPrefix("removeObjectFrom" + key)
        || ["insert" + key, "remove" + key, "replace" + key].contains($0)
    }
  }
}
