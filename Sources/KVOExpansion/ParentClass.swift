internal import SwiftSource

/// The class of a member, reduced to the properties that decide the member's attribute.
struct ParentClass {
  /// Whether its first line shows that it does not inherit from `KVOObject`.
  let lacksSuperclass: Bool
  /// Whether it has `dynamic` properties (Q1).
  let marksProperties: Bool

  init?(_ source: String) {
    var reader = DeclarationReader(source)
    guard let type = reader.readType() else { return nil }
    lacksSuperclass = type.keyword == "class" && Superclass.isMissing(in: type)
    marksProperties = type.marksProperties
  }
}

extension TypeDeclaration {
  /// Whether a property is `dynamic`: classes on Apple's platforms mark observable properties so.
  var marksProperties: Bool { members.contains { $0.isProperty && $0.isDynamic } }

  /// The declaration with `@KVOIgnored` on unmarked stored properties, if other properties are marked.
  func ignoringUnmarked() -> TypeDeclaration {
    guard marksProperties else { return self }
    var type = self
    type.members = members.map { $0.ignoredUnlessMarked() }
    return type
  }
}

extension Member {
  fileprivate var isDynamic: Bool { modifiers.contains("dynamic") }

  /// The name of a single variable of the object.
  var variableName: String? {
    guard case .variable(_, let bindings) = kind, !isOfType, bindings.count == 1 else { return nil }
    return bindings[0].name?.name
  }

  fileprivate var isProperty: Bool {
    if case .variable = kind { !isOfType } else { false }
  }

  /// The member with `@KVOIgnored`; unchanged if it is marked, computed, or has an attribute that decides this.
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
