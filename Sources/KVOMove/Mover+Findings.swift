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
    } else if token.text == "kindKey", before == "." {
      if !moveKind(index) { lookAtKind(index) }
    } else if token.text == "indexesKey", before == "." {
      lookAtIndexes(index)
    } else if ["newValue", "oldValue"].contains(token.text), before == "." {
      lookAtChangedValue(index)
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

  /// `NSKeyValueChange(rawValue: change![.kindKey] as! UInt)!`, also by way of an `NSNumber`: what is made of the
  /// number is what is there.
  private mutating func moveKind(_ key: Int) -> Bool {
    guard let bracket = file.enclosing[key], tokens[key + 1].is("]"), tokens[key + 2].isWord("as"),
      tokens[key + 3].text == "!", let inner = file.enclosing[bracket]
    else { return false }
    let isInner = inner > 0 && tokens[inner - 1].is(":")
    guard let call = isInner ? file.enclosing[inner] : inner, call > 0,
      tokens[call - 1].text == "NSKeyValueChange", tokens[call + 1].text == "rawValue",
      let close = file.partner[call]
    else { return false }
    let last = isInner ? close - 4 : close - 1
    let isNumber = isInner && tokens[key + 4].text == "NSNumber"
    guard last == key + 4, isNumber || !isInner && ["UInt", "Int"].contains(tokens[last].text)
    else {
      return false
    }
    let isForced = tokens[close + 1].text == "!" && tokens[close + 1].leadingTrivia.isEmpty
    let first = isInner ? inner + 1 : call + 3
    edits.append(Edit(tokens[call - 1].offset..<tokens[first].offset, "("))
    replace(
      key + 3..<(isForced ? close + 2 : close + 1),
      by: (isForced ? "!" : "?") + " NSKeyValueChange)")
    needsRuntime = true
    return true
  }

  /// In a change of an optional property that is nil, the new value is there.
  private mutating func lookAtChangedValue(_ index: Int) {
    let next = tokens[index + 1]
    let isCompared = (next.is("==") || next.is("!=")) && tokens[index + 2].isWord("nil")
    guard isCompared || isBoundOnce(index), isOfOptional(index) else { return }
    find(
      index, "\(tokens[index].text) of an optional property is there if it is nil: .some(nil)",
      "change.\(tokens[index].text) ?? nil")
  }

  /// `if let new = change.newValue`, without a second test of what that is.
  private func isBoundOnce(_ index: Int) -> Bool {
    guard index > 5, tokens[index - 3].is("="),
      tokens[index - 5].isWord("let") || tokens[index - 5].isWord("var"),
      ["if", "guard", "while", ","].contains(tokens[index - 6].text)
    else { return false }
    let (next, name) = (tokens[index + 1], tokens[index - 4].text)
    guard next.is(",") || next.is("{") || next.isWord("else") else { return false }
    return
      !(next.is(",") && tokens[index + 2].isWord("let")
      && tokens[index + 3..<min(index + 6, tokens.count)].contains { $0.text == name })
  }

  /// Whether a place is in the handler of a typed observer whose value is optional, as far as the sources show it.
  private func isOfOptional(_ index: Int) -> Bool {
    var block = file.enclosing[index]
    while let brace = block, file.blocks[brace] != .closure { block = file.enclosing[brace] }
    guard let brace = block else { return false }
    let call = tokens[brace - 1].is(")") ? file.partner[brace - 1] : file.enclosing[brace]
    guard let call, call > 0, tokens[call].is("("), tokens[call - 1].text == "observe",
      tokens[call + 1].is("\\"), let close = file.partner[call]
    else { return false }
    let path = tokens[call + 2..<close].prefix { !$0.is(",") }
    if path.contains(where: { $0.text == "?" }) { return true }
    guard let name = path.last(where: { $0.kind == .identifier })?.name else { return false }
    return project.dynamicProperties.values.contains {
      let type = $0[name]?.type ?? ""
      return type.hasSuffix("?") || type.hasSuffix("!")
    }
  }

  private mutating func lookAtKind(_ index: Int) {
    let line = index..<min(index + 8, tokens.count)
    guard
      !line.contains(where: { tokens[$0].text == "NSKeyValueChange" && !tokens[$0 + 1].is("(") })
    else { return }
    find(
      index, "the kind is an NSKeyValueChange, no number", "change[.kindKey] as? NSKeyValueChange")
  }

  /// A cast of them to Foundation's set compiles, and is never so.
  private mutating func lookAtIndexes(_ index: Int) {
    let line = index..<min(index + 8, tokens.count)
    guard line.contains(where: { ["IndexSet", "NSIndexSet"].contains(tokens[$0].text) }) else {
      return
    }
    find(
      index, "the indexes are a RangeSet<Int>, no IndexSet",
      "change?.indexSet, with KVOFoundation, or change?[.indexesKey] as? RangeSet<Int>")
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
