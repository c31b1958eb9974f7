/// Properties that meet the requirement of an Objective-C protocol: they have its names there, and a key, also without an
/// attribute of their own. No rule of Behaviour is kept here.
import SwiftSource

extension Project {
  /// Gives such properties the attribute and the names of what they meet.
  func meetingRequirements(_ types: [[TypeDeclaration]]) -> [[TypeDeclaration]] {
    let protocols = Dictionary(
      grouping: types.joined().filter { $0.isProtocol && $0.attributes.contains("objc") },
      by: \.name)
    guard !protocols.isEmpty else { return types }
    return types.map { types in
      types.map { type in
        guard type.isClass || type.isExtension else { return type }
        var type = type
        let requirements = requirements(of: type, protocols)
        for index in type.properties.indices {
          let property = type.properties[index]
          guard let required = requirements[property.name], !property.isStatic,
            !property.modifiers.contains("@nonobjc")
          else { continue }
          type.properties[index].modifiers.insert("@objc")
          type.properties[index].key = property.key ?? required.key
          type.properties[index].accessorNames = property.accessorNames ?? required.accessorNames
        }
        return type
      }
    }
  }

  /// The properties that a class's protocols require, by name.
  private func requirements(
    of type: TypeDeclaration, _ protocols: [String: [TypeDeclaration]]
  ) -> [String: PropertyDeclaration] {
    let parts = declaration(of: type).map { [$0] + extensions(of: $0) } ?? [type]
    var (next, seen) = (parts.flatMap(\.inherited).map(\.name), Set<String>())
    var found: [String: PropertyDeclaration] = [:]
    while let name = next.popLast() {
      guard seen.insert(name).inserted else { continue }
      for type in protocols[name] ?? [] {
        next += type.inherited.map(\.name)
        found.merge(type.properties.map { ($0.name, $0) }) { first, _ in first }
      }
    }
    return found
  }
}
