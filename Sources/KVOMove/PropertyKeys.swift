/// Finds the properties that a name means in a class, and the classes of their values. No rule of Behaviour is kept here.
import SwiftSource

extension Project {
  /// The properties of a name in classes; for an override, the overridden property, which has the key.
  func properties(named name: String, in classes: [TypeDeclaration]) -> [PropertyDeclaration] {
    classes.compactMap { type in
      let all = ([type] + ancestors(of: type).classes).flatMap { [$0] + extensions(of: $0) }
        .flatMap(\.variables).filter { $0.name == name && !$0.isStatic }
      return all.first { !$0.modifiers.contains("override") } ?? all.first
    }
  }

  /// The classes of the sources that a property's type names.
  func classes(ofValueOf property: PropertyDeclaration) -> [TypeDeclaration] {
    property.type.split { !$0.isLetter && !$0.isNumber && $0 != "_" }
      .flatMap { classesByName[String($0)] ?? [] }
  }
}
