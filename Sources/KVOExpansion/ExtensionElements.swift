package import SwiftSource

/// Declares for `kvo-move` the keys whose elements are reached by methods of a class's extensions (Q4), which the macro
/// does not see.

/// The declarations that the macro would make for the keys of a class's elements.
///
/// - Parameters:
///   - type: the class.
///   - members: the class's own members, or those of its extensions, too.
/// - Returns: the keys, each with its declaration. A key with too few methods has none.
package func elementDeclarations(of type: TypeDeclaration, members: [Member]) -> [String: String] {
  var type = type
  type.members = members
  let found = ConventionMethods(of: type).collections.compactMap { declaration, actor in
    actor == nil ? declaration.line.map { (declaration.key, $0) } : nil
  }
  return Dictionary(found) { first, _ in first }
}
