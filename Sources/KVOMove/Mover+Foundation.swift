/// Replaces types of Foundation that notify no observer here: operations, and an observed `Progress` or `UserDefaults`. No
/// rule of Behaviour is kept here.
import SwiftSource

extension Project {
  /// The types of Foundation that every source of the run names by their counterparts in KVOFoundation.
  func findReplacedTypes() -> [String: String] {
    var replaced: [String: String] = [:]
    if hasOperations, !mentions("BlockOperation"), !casts(to: "Operation"),
      operations.allSatisfy({ root(of: $0) == .operation })
    {
      replaced["Operation"] = "KVOOperation"
    }
    for (name, other) in ["Progress": "KVOProgress", "UserDefaults": "KVOUserDefaults"]
    where isObserved(name) {
      replaced[name] = other
    }
    return replaced.filter { name, _ in
      aliases[name] == nil && !declaredNames.contains(name)
        && !types.joined().contains { $0.name == name && !$0.isExtension }
    }
  }

  private var operations: [TypeDeclaration] {
    types.joined().filter { $0.isClass && ancestors(of: $0).root == "Operation" }
  }

  /// Whether a source casts to a type, or tests for it: a queue's operations stay Foundation's.
  private func casts(to type: String) -> Bool {
    files.contains { file in
      file.tokens.indices.dropFirst(2).contains {
        guard file.tokens[$0].text == type else { return false }
        let mark = ["?", "!"].contains(file.tokens[$0 - 1].text) ? $0 - 2 : $0 - 1
        return file.tokens[mark].isWord("as") || file.tokens[mark].isWord("is")
      }
    }
  }

  private func mentions(_ name: String) -> Bool {
    files.contains { file in file.tokens.contains { $0.text == name } }
  }

  /// Whether a variable of the type is observed, or the type observes itself in an extension. The source that observes
  /// does not use the runtime yet: its author would have chosen the type on purpose.
  private func isObserved(_ type: String) -> Bool {
    files.indices.contains { index in
      let file = files[index]
      return !file.imports.contains { $0.module == "KVORuntime" || $0.module == type }
        && file.tokens.indices.contains { call in
          guard
            file.isObservation(call)
              || file.isStringCall(call) && file.tokens[call].text == "addObserver",
            case .foreign(let types) = receiver(ofCallAt: call, in: index)
          else { return false }
          return types == [type]
        }
    }
  }
}

extension Mover {
  /// Whether the source names one of the types that are replaced.
  var namesReplacedType: Bool { tokens.indices.contains { replacement(at: $0) != nil } }

  mutating func moveFoundationTypes() {
    for index in tokens.indices {
      if project.replacedTypes[project.aliases[tokens[index].text] ?? tokens[index].text]
        == "KVOProgress",
        tokens[index + 1].is("("), tokens[index + 2].is(")")
      {
        insert("parent: nil", after: index + 1)
      }
      guard let other = replacement(at: index) else { continue }
      let isQualified = index > 1 && tokens[index - 1].is(".")
      (needsRuntime, needsFoundation) = (true, true)
      lookAtNotification(castTo: index)
      replace(isQualified ? index - 2..<index + 1 : index..<index + 1, by: other)
    }
  }

  /// Lists the cast of a notification's object, which Foundation sends: `note.object as? UserDefaults`.
  private mutating func lookAtNotification(castTo index: Int) {
    var word = index - 1
    while word > 3, ["?", "!", ".", "Foundation"].contains(tokens[word].text) { word -= 1 }
    guard word > 3, tokens[word].isWord("as") || tokens[word].isWord("is"),
      tokens[word - 1].text == "object", tokens[word - 2].is(".")
    else { return }
    report(
      index, .differs,
      "a notification's object is a \(tokens[index].text), and no \(project.replacedTypes[tokens[index].text]!)",
      "ask nothing of it, or use the KVO… object that the program has")
  }

  /// Lists a member that gives an object of Foundation's, or that the counterpart of a type lacks.
  mutating func lookAtMember(ofReplacedAt index: Int) {
    let (name, replaced) = (tokens[index].text, project.replacedTypes)
    guard index > 1, tokens[index - 1].is(".") else { return }
    if name == "operations", project.hasOperations, isForeign(index),
      !(tokens[index + 1].is(".") && ["count", "isEmpty"].contains(tokens[index + 2].text)),
      !file.imports.contains(where: { $0.module == "KVORuntime" })
    {
      report(
        index, .differs, "a queue's operations are Foundation's, of which none is a KVOOperation",
        "a KVOOperationQueue, or keep the operations in an array")
    } else if name == "progress", replaced["Progress"] != nil, isForeign(index) {
      report(
        index, .refused, "this progress is one of Foundation's, which notifies no observer",
        "a KVOProgress that has it as a child: addChild(_:withPendingUnitCount:)")
    } else if name == "didChangeNotification", replaced["UserDefaults"] != nil,
      tokens[index + 1].is(","), tokens[index + 2].text == "object",
      !tokens[index + 4].isWord("nil")
    {
      report(
        index, .differs,
        "the notification's object is no KVOUserDefaults, and on Linux it is not posted",
        "observe the keys of the KVOUserDefaults")
    } else if let type = Self.lacking[name], let other = replaced[type],
      case .foreign([type]) = project.receiver(ofCallAt: index, in: self.index)
    {
      report(index, .refused, "a \(other) has no \(name)", "use the \(type) of Foundation for it")
    }
  }

  /// Whether a member is none that the sources declare, or its object is one of Foundation's.
  private func isForeign(_ member: Int) -> Bool {
    if case .foreign = project.receiver(ofCallAt: member, in: index) { return true }
    return !project.declaredNames.contains(tokens[member].name)
  }

  private static let lacking = Dictionary(
    uniqueKeysWithValues: [
      "addSuite", "removeSuite", "volatileDomainNames", "volatileDomain", "setVolatileDomain",
      "removeVolatileDomain", "persistentDomainNames", "persistentDomain", "objectIsForced",
      "resetStandardUserDefaults", "globalDomain", "argumentDomain", "registrationDomain",
    ].map { ($0, "UserDefaults") }
      + [
        "estimatedTimeRemaining", "throughput", "fileTotalCount", "fileCompletedCount",
        "fileOperationKind", "fileURL", "userInfo", "setUserInfoObject", "publish", "unpublish",
        "addSubscriber", "removeSubscriber", "isOld",
      ].map { ($0, "Progress") })

  /// The counterpart of a type of Foundation, if the token names one that is replaced.
  private func replacement(at index: Int) -> String? {
    guard let other = project.replacedTypes[tokens[index].text], tokens[index].kind == .identifier,
      !file.isImported(index), !tokens[index + 1].is(":"),
      !file.imports.contains(where: { $0.module == "KVORuntime" || $0.module == tokens[index].text }
      )
    else { return nil }
    // The names of Foundation's notifications, and a member that has the name of the type.
    if tokens[index + 1].is("."), tokens[index + 2].text.hasSuffix("Notification") { return nil }
    guard index > 1, tokens[index - 1].is(".") else { return other }
    return TypeDeclaration.Inherited.modules.contains(tokens[index - 2].text) ? other : nil
  }
}

extension Mover {
  /// Makes `willChangeValue(for: \.isFinished)` name the operation's key: in a class that gives the property a setter, the
  /// key path means the override, and the queue observes the key.
  mutating func moveAnnouncements(of type: TypeDeclaration) {
    guard project.root(of: type) == .operation else { return }
    let names = Set(
      type.properties.filter { $0.modifiers.contains("override") && $0.accessors["set"] != nil }
        .map(\.name))
    for index in type.open..<type.close
    where file.isAnnouncement(index) && tokens[index + 2].text == "for" {
      guard let close = file.closing(of: index + 1), tokens[index + 4].is("\\"),
        file.text(ofTokens: index + 5..<close - 2).isEmpty || tokens[index + 5].text == type.name,
        tokens[close - 2].is("."), close - 2 <= index + 6,
        !tokens[index - 1].is(".") || tokens[index - 2].isWord("self"),
        names.contains(tokens[close - 1].name)
      else { continue }
      replace(index + 2..<close, by: "forKey: \"\(tokens[close - 1].name)\"")
    }
  }
}
