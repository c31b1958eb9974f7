/// Edits and findings of overrides: of the root's methods that register observers, and in extensions. Edit 5 of
/// MovingOver.md. No rule of Behaviour is kept here.
import SwiftSource

extension Mover {
  /// The root's methods that register observers take a `KVOObject` here, and throw.
  mutating func moveRegistration(_ method: MethodDeclaration) {
    guard isRegistration(method), let close = file.partner[method.parameters] else { return }
    for index in method.parameters..<close
    where tokens[index].text == "NSObject" && file.enclosing[index] == method.parameters {
      let isQualified = tokens[index - 1].is(".")
      replace(isQualified ? index - 2..<index + 1 : index..<index + 1, by: "KVOObject")
    }
    guard let brace = method.brace,
      !(close..<brace).contains(where: { tokens[$0].isWord("throws") })
    else { return }
    insert(" throws", after: close)
  }

  /// The root's `setValuesForKeys` takes a dictionary of optionals.
  mutating func moveSettingOfSeveral(_ method: MethodDeclaration) {
    guard method.name == "setValuesForKeys", method.modifiers.contains("override"),
      let close = file.partner[method.parameters],
      let value = (method.parameters..<close).first(where: { tokens[$0].isWord("Any") }),
      tokens[value + 1].is("]")
    else { return }
    insert("?", after: value)
  }

  private func isRegistration(_ method: MethodDeclaration) -> Bool {
    guard ["addObserver", "removeObserver"].contains(method.name),
      method.modifiers.contains("override"), let close = file.partner[method.parameters]
    else { return false }
    return (method.parameters..<close).contains { tokens[$0].text == "forKeyPath" }
  }

  /// Whether an edit makes the function throw whose body begins at a brace.
  func becomesThrowing(_ brace: Int) -> Bool {
    type(around: brace).map { type in
      type.methods.contains { $0.brace == brace && isRegistration($0) }
        && project.root(of: type) != .other
    } ?? false
  }

  private static let methodsOfKeys: Set = [
    "automaticallyNotifiesObservers", "willChangeValue", "didChangeValue",
  ]

  /// Lists a property that Objective-C knows by another name, if an override gets its key: here that is the name in Swift.
  mutating func lookAtRenamed(_ type: TypeDeclaration) {
    guard let own = project.declaration(of: type) else { return }
    let classes = [own] + project.ancestors(of: own).classes + subclasses(of: own)
    let overrides = classes.flatMap { [$0] + project.extensions(of: $0) }.flatMap(\.methods)
      .filter { Self.methodsOfKeys.contains($0.name) && $0.modifiers.contains("override") }
    guard let override = overrides.first else { return }
    for property in type.properties where property.isDynamic && !property.isStatic {
      guard let key = property.key, key != property.name else { continue }
      report(
        property.keyword, .differs,
        "\(override.name)(forKey:) is called with \"\(property.name)\" here, and only with \"\(key)\" there",
        "let it treat both as the same key")
    }
  }

  private func subclasses(of type: TypeDeclaration) -> [TypeDeclaration] {
    project.types.joined().filter { other in
      other.isClass && project.ancestors(of: other).classes.contains { $0.id == type.id }
    }
  }

  /// Without Objective-C, Swift does not allow overrides in extensions.
  mutating func lookAtOverrides(_ type: TypeDeclaration) {
    guard type.isExtension else { return }
    for method in type.methods where method.modifiers.contains("override") {
      if let brace = method.brace, let end = file.partner[brace],
        relocate(method.start, through: end, from: type)
      {
        continue
      }
      report(
        method.keyword, .refused, "\(method.name) is overridden in an extension",
        "move it into the class")
    }
    for property in type.properties
    where property.modifiers.contains("override") && !Self.descriptions.contains(property.name) {
      if let brace = property.brace, let end = file.partner[brace],
        relocate(property.start, through: end, from: type)
      {
        continue
      }
      report(
        property.keyword, .refused, "\(property.name) is overridden in an extension",
        "move it into the class")
    }
  }
}
