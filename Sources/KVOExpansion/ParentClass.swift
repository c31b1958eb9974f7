internal import SwiftSource

/// The class of a member that the macro looks at, as far as the member's attribute depends on it.
struct ParentClass {
  /// Whether it can't be observed, as its first line shows.
  let lacksSuperclass: Bool
  /// Whether properties of it are `dynamic` (Q1).
  let marksProperties: Bool

  init?(_ source: String) {
    var reader = DeclarationReader(source)
    guard let type = reader.readType() else { return nil }
    lacksSuperclass = type.keyword == "class" && Superclass.isMissing(in: type)
    marksProperties = type.marksProperties
  }
}

extension TypeDeclaration {
  /// Whether a property is `dynamic`, which is how classes on Apple's platforms mark those that can be observed.
  var marksProperties: Bool { members.contains { $0.isProperty && $0.isDynamic } }

  /// With `@KVOIgnored` on stored properties that aren't marked, if others are.
  func ignoringUnmarked() -> TypeDeclaration {
    guard marksProperties else { return self }
    var type = self
    type.members = members.map { $0.ignoredUnlessMarked() }
    return type
  }
}

extension Member {
  fileprivate var isDynamic: Bool { modifiers.contains("dynamic") }

  fileprivate var isProperty: Bool {
    if case .variable = kind { !isOfType } else { false }
  }

  /// Itself if it is computed, or says in another way whether it is observed.
  func ignoredUnlessMarked() -> Member {
    guard case .variable(true, let bindings) = kind, !isOfType, !isDynamic, !isOverride,
      !bindings.contains(where: \.isComputed),
      !["Observed", "KVOAccessed", "KVOIgnored"].contains(where: has)
    else { return self }
    var member = self
    member.attributes.append(Attribute(name: "KVOIgnored", offset: offset))
    return member
  }
}
