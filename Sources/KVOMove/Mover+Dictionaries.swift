/// Edits of setters for all keys that make objects of dictionaries. There, any object can be set for a property that holds
/// an object; here, only one of the property's type. No rule of Behaviour is kept here.
import SwiftSource

extension Mover {
  /// In `setValue(_:forKey:)`, makes super set only the keys that are not given an object behind that call: `if key ==
  /// "owner" { owner = Owner(value as! [String: Any]) }`.
  mutating func moveSetting(_ method: MethodDeclaration, in type: TypeDeclaration) {
    guard method.name == "setValue", let brace = method.brace, let end = file.partner[brace],
      let call = (brace..<end).first(where: {
        tokens[$0].isWord("super") && tokens[$0 + 2].text == "setValue"
      }),
      file.isStatementStart(call) || tokens[call - 1].is("{"),
      let close = file.closing(of: call + 3),
      file.endsStatement(close), tokens[close - 2].is(":"), tokens[close - 3].text == "forKey"
    else { return }
    let names = (value: tokens[call + 4].name, key: tokens[close - 1].name)
    let replaced = Set(
      (close..<end).filter {
        file.enclosing[$0] == brace && isReplaced(comparedAt: $0, names, in: type)
      }
      .map { tokens[$0].text })
    let made = Set((close..<end).compactMap { assignedObject(at: $0, in: type) })
    guard made.count == replaced.count else {
      return report(
        call, .differs, "a property that holds an object takes only one of its type by key",
        "call super only for the other keys")
    }
    guard !replaced.isEmpty else { return }
    insert(
      "if ![\(replaced.sorted().joined(separator: ", "))].contains(\(names.key)) { ", before: call)
    insert(" }", after: close)
  }

  /// Whether a string is a key that is compared with the argument, and the first statement of its block makes an object of
  /// the value: `owner = Owner(value as! [String: Any])`.
  private func isReplaced(
    comparedAt index: Int, _ names: (value: String, key: String), in type: TypeDeclaration
  ) -> Bool {
    let first = tokens[index + 2].isWord("self") ? index + 4 : index + 2
    guard tokens[index].kind == .string, tokens[index - 1].text == "==",
      tokens[index - 2].name == names.key, tokens[index + 1].is("{"),
      let name = assignedObject(at: first, in: type),
      name == tokens[index].text.filter({ $0 != "\"" }),
      tokens[first + 3].is("("), let close = file.closing(of: first + 3), file.endsStatement(close)
    else { return false }
    return (first + 3..<close).contains { tokens[$0].name == names.value }
  }

  /// The name of a property that holds an object of a class of the sources, and gets one made by that class.
  private func assignedObject(at index: Int, in type: TypeDeclaration) -> String? {
    guard isRoot(index), isAssigned(index),
      let property = type.properties.first(where: { $0.name == tokens[index].name }),
      case let held = property.type.filter({ $0 != "?" && $0 != "!" }),
      project.classesByName[held] != nil
    else { return nil }
    return property.name
  }
}
