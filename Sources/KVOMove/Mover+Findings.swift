/// What a human has to look at: what has no counterpart, and what compiles on and does otherwise. The silent
/// differences of MovingOver that can be seen in a source. No rule of Behaviour is kept here.
import SwiftSource

extension Mover {
  /// Names that are enough to tell, with why and what to do.
  private static let telling: [String: (String, String)] = [
    "Mirror": (
      "a mirror's labels are those of observable properties, without what the wrapper adds",
      "see that it reads nothing of NSObject's"
    ),
    "objc_setAssociatedObject": (
      "there are no associated objects", "object[key], by a KVOAssociation"
    ),
    "objc_getAssociatedObject": (
      "there are no associated objects", "object[key], by a KVOAssociation"
    ),
    "NSPredicate": (
      "there are no predicates by key", "filter(\"key\", as: Int.self) { … }, of KVOFoundation"
    ),
    "NSSortDescriptor": (
      "it asks Objective-C's runtime for keys", "KeyValueSort(\"key\"), of KVOFoundation"
    ),
    "NSExpression": (
      "it asks Objective-C's runtime for keys", "value(forKeyPath:) with an operator"
    ),
    "NSManagedObject": ("Core Data is not there", "a KVOObject"),
    "class_copyPropertyList": (
      "there is no Objective-C runtime", "keyValueProperties, of the class"
    ),
    "object_getClass": ("there is no Objective-C runtime", "type(of:)"),
    "NSClassFromString": ("there is no Objective-C runtime", "a table of the classes"),
    "NSKeyValueChangeKindKey": (
      "the kind is an NSKeyValueChange, no number", "change[.kindKey] as? NSKeyValueChange"
    ),
    "IBOutlet": ("there is no Interface Builder", "connect it in code"),
    "IBAction": ("there is no Interface Builder", "connect it in code"),
    "perform": ("there are no selectors", "call the method, or a closure"),
  ]
  private static let typesThatNotify: [String: String] = [
    "UserDefaults": "KVOUserDefaults", "Progress": "KVOProgress",
    "OperationQueue": "KVOOperationQueue",
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
      for method in type.methods where method.modifiers.contains("@objc") {
        lookAtAccessor(method, in: type)
      }
    }
  }

  private mutating func look(at index: Int) {
    let (token, before) = (tokens[index], index > 0 ? tokens[index - 1].text : "")
    if token.isWord("optional"), DeclarationReader(tokens, at: index).isModifier(at: index) {
      find(
        index, "what a protocol has optionally is there with Objective-C only",
        "require it, with a default in an extension of the protocol")
    } else if token.is("#selector") {
      find(index, "there are no selectors", "a closure, or observe(\\.key, target:action:)")
    } else if token.text == "observationInfo" {
      lookAtObservationInfo(index)
    } else if before == ".", lookAtChange(index) {
      return
    } else if token.text == "responds", tokens[index + 1].is("("), tokens[index + 2].text == "to" {
      find(index, "there are no selectors", "ask whether it conforms to a protocol")
    } else if ["bind", "unbind"].contains(token.text), tokens[index + 1].is("("),
      tokens[index + 2].is(".")
    {
      find(index, "bindings of AppKit are not there", "bind(\\.key, to: object, \\.key)")
    } else if let (reason, advice) = Self.telling[token.text], token.kind == .identifier,
      isUsed(index)
    {
      find(index, "\(token.text): \(reason)", advice)
    } else if let other = Self.typesThatNotify[token.text], token.kind == .identifier,
      isObserved(index)
    {
      find(index, "\(token.text) of Foundation tells nobody", "\(other), of KVOFoundation")
    } else if token.text == "Operation", token.kind == .identifier, isSuperclass(index) {
      find(
        index, "an Operation tells nobody of its states",
        "KVOOperation, of KVOFoundation, if they are observed")
    }
  }

  private func isUsed(_ index: Int) -> Bool {
    let isCall = tokens[index + 1].is("(")
    return tokens[index].text == "perform"
      ? index > 0 && isCall && tokens[index - 1].is(".") && tokens[index + 2].is("#selector") : true
  }

  private func isSuperclass(_ index: Int) -> Bool {
    types.contains { $0.inherited.first?.tokens.last == index && project.root(of: $0) == .other }
  }

  /// Whether the statement observes.
  private func isObserved(_ index: Int) -> Bool {
    var end = index + 1
    while end < tokens.count, !file.isStatementStart(end), !tokens[end].is("}") {
      if ["observe", "addObserver"].contains(tokens[end].text) { return true }
      end = (file.partner[end].map { $0 > end ? $0 : end } ?? end) + 1
    }
    return false
  }

  private mutating func lookAtObservationInfo(_ index: Int) {
    guard index > 0, index + 2 < tokens.count else { return }
    let (next, after) = (tokens[index + 1], tokens[index + 2])
    let isTest = (next.is("==") || next.is("!=")) && after.isWord("nil")
    if isTest || tokens[index - 1].isWord("var") { return }
    find(
      index, "observationInfo is no pointer, but a picture of the registrations",
      "compare it with nil, or take it from the object itself: if let info = object.observationInfo"
    )
  }

  /// Accessors of a collection are found by their names there, and by nobody here.
  private mutating func lookAtAccessor(_ method: MethodDeclaration, in type: TypeDeclaration) {
    let labels = (method.parameters + 1..<file.partner[method.parameters]!).map { tokens[$0].text }
    let isConvention =
      Self.accessorPrefixes.contains {
        method.name.hasPrefix($0) && method.name != $0 && $0.hasSuffix("Of")
      }
      || labels.contains { $0.hasPrefix("in") && $0.dropFirst(2).first?.isUppercase == true }
      || labels.contains { $0.hasPrefix("from") && $0.dropFirst(4).first?.isUppercase == true }
      || tokens[method.start..<method.keyword].contains {
        $0.text.contains("AtIndex") || $0.text.hasPrefix("indexesIn")
      }
      || Self.accessorPrefixes.contains { prefix in
        method.name.hasPrefix(prefix)
          && method.name.dropFirst(prefix.count).first?.isUppercase == true
          && labels.first == "_" && method.name.hasSuffix("Object")
      }
    guard isConvention, !changesByHandle(method, labels) else { return }
    // The macro finds those of a key that is not stored.
    if usesMacro(type) {
      let stored = type.properties.filter { $0.isDynamic && !$0.isComputed }
      guard stored.contains(where: { isOf($0, labels) }) else { return }
    }
    find(
      method.keyword, "\(method.name) is found by its name there, and by nobody here",
      "declare it (orderedToMany, unorderedToMany), or change the elements by mutableArray(\\.key)")
  }

  /// An accessor whose body is one change of an observable array's elements does that by a handle, which tells of it.
  private mutating func changesByHandle(_ method: MethodDeclaration, _ labels: [String]) -> Bool {
    guard let brace = method.brace, tokens[brace + 1].kind == .identifier,
      tokens[brace + 2].is("."),
      ["insert", "remove"].contains(tokens[brace + 3].text),
      let type = types.last(where: { $0.open < brace && brace < $0.close }),
      let property = type.properties.first(where: { $0.name == tokens[brace + 1].name }),
      property.isDynamic, !property.isComputed
    else { return false }
    let body = brace + 1..<file.partner[brace]!
    guard file.isOneStatement(body), isOf(property, labels) else { return false }
    replace(brace + 1, by: "mutableArray(\\.\(property.name))")
    return true
  }

  /// Whether an accessor's labels name a property: `insertObject(_:inSongsAt:)`.
  private func isOf(_ property: PropertyDeclaration, _ labels: [String]) -> Bool {
    let key = property.name.prefix(1).uppercased() + property.name.dropFirst()
    return labels.contains { $0.hasPrefix("in" + key) || $0.hasPrefix("from" + key) }
  }
}
