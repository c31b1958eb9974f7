internal import SwiftSource

/// Checks whether the head of a `@KVO` class names a superclass that can be observed (Q5). The compiler's own
/// messages about a class that is no `KVOObject` have no source location.
enum Superclass {
  /// Protocols that are often written first, in the place of a superclass.
  private static let protocols: Set<String> = [
    "Codable", "Encodable", "Decodable", "Equatable", "Hashable", "Comparable", "Identifiable",
    "Sendable", "ObservableObject", "Error", "CustomStringConvertible",
    "CustomDebugStringConvertible", "CustomReflectable", "CaseIterable", "Sequence", "AnyObject",
    "NSCopying", "NSCoding", "NSSecureCoding", "NSObjectProtocol",
  ]

  /// Whether the class's superclass is `KVOObject` itself.
  static func isRoot(of type: TypeDeclaration) -> Bool {
    type.inherited.first.map { name(of: $0) == "KVOObject" } ?? false
  }

  /// Whether the head of a class names no protocol that may be `Encodable` or `Decodable`, or refine them.
  static func isSurelyUncoded(_ type: TypeDeclaration) -> Bool {
    let uncoded = protocols.subtracting(["Codable", "Encodable", "Decodable"])
    return type.inherited.dropFirst().allSatisfy { inherited in
      LexedSource(inherited).tokens.allSatisfy {
        $0.kind != .identifier || $0.text == "unchecked" || uncoded.contains($0.name)
      }
    }
  }

  private static func name(of inherited: String) -> String {
    let words = LexedSource(inherited).tokens.filter { $0.kind == .identifier }
    return words.last?.name ?? inherited
  }

  /// `NSObject` in the inheritance clause, or nil.
  private static func foreign(in type: TypeDeclaration) -> Supertype? {
    type.supertypes.first.flatMap { name(of: $0.text) == "NSObject" ? $0 : nil }
  }

  /// Whether the class has no superclass that can be observed.
  static func isMissing(in type: TypeDeclaration) -> Bool {
    foreign(in: type) != nil || type.inherited.allSatisfy { protocols.contains(name(of: $0)) }
  }

  static func problem(of type: TypeDeclaration, _ request: AttachedMacro) -> Diagnostic? {
    guard isMissing(in: type) else { return nil }
    let end = request.offset + type.endOfName
    let edit: Diagnostic.Edit
    if let foreign = foreign(in: type) {
      let token = LexedSource(request.source).tokens[foreign.place]
      let start = request.offset + token.offset
      edit = .init(start: start, end: start + foreign.text.utf8.count, text: "KVOObject")
    } else {
      let text = type.inherited.isEmpty ? ": KVOObject" : ": KVOObject,"
      let length = type.inherited.isEmpty ? 0 : 1
      edit = .init(start: end, end: end + length, text: text)
    }
    return Diagnostic(
      severity: .error,
      message: "@KVO: \(type.name.text) has to inherit from KVOObject, or from a class that does.",
      offset: request.offset + type.name.offset,
      fixIts: [.init(message: "inherit from KVOObject", edits: [edit])])
  }
}
