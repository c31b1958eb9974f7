/// What `@KVO` needs beside the class's head: properties that it can't observe are marked, and those of one declaration
/// are declared each by itself. No rule of Behaviour is kept here; what the macro takes is said in Documentation/KVO.md.
import SwiftSource

extension Mover {
  /// Whether a class, or the class of an extension, is marked `@KVO`.
  func usesMacro(_ type: TypeDeclaration) -> Bool {
    guard style == .macro, project.root(of: type.name) != .other else { return false }
    return project.declaration(of: type.name)?.properties.contains(where: \.isDynamic) ?? false
  }

  /// Whether a stored property takes neither `@Observed` nor another of the macro's attributes.
  func takesNone(_ property: PropertyDeclaration) -> Bool {
    property.modifiers.contains("lazy") || wrapper(of: property) != nil
      || property.modifiers.contains("weak") && property.brace != nil
  }

  /// Attributes whose names begin with a capital letter are wrappers or macros, but for these.
  private static let harmless: Set = [
    "@MainActor", "@IBOutlet", "@IBInspectable", "@GKInspectable", "@NSManaged", "@NSCopying",
    "@KVOIgnored", "@KVOTracked", "@Observed", "@KVOReference",
  ]

  private func wrapper(of property: PropertyDeclaration) -> String? {
    property.modifiers.sorted().first {
      $0.first == "@" && $0.dropFirst().first?.isUppercase == true && !Self.harmless.contains($0)
    }
  }

  /// Marks what the macro would warn of.
  mutating func leaveOut(_ type: TypeDeclaration) {
    for property in type.properties
    where !property.isStatic && !property.isConstant && !property.modifiers.contains("@KVOIgnored")
    {
      if !property.isComputed, takesNone(property) {
        ignore(property)
        if property.isDynamic {
          find(
            property.keyword,
            "\(property.name) \(wrapper(of: property).map { "has \($0)" } ?? "is weak or lazy"), and is not observed",
            "change it inside withChange(forKey: \"\(property.name)\") { … }")
        }
      }
    }
  }

  private mutating func ignore(_ property: PropertyDeclaration) {
    insert("@KVOIgnored ", before: property.start)
  }
}
