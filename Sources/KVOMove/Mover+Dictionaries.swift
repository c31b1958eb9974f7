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
    let key = tokens[close - 1].name
    let replaced = (close..<end).filter { isReplaced(comparedAt: $0, to: key, in: type) }.map {
      tokens[$0].text
    }
    guard !replaced.isEmpty else { return }
    insert("if ![\(replaced.joined(separator: ", "))].contains(\(key)) { ", before: call)
    insert(" }", after: close)
  }

  /// Whether a string is a key that is compared with the argument, in whose block the property gets an object of a class of
  /// the sources.
  private func isReplaced(comparedAt index: Int, to key: String, in type: TypeDeclaration) -> Bool {
    guard tokens[index].kind == .string, tokens[index - 1].text == "==",
      tokens[index - 2].name == key,
      tokens[index + 1].is("{"), let close = file.partner[index + 1],
      case let name = tokens[index].text.filter({ $0 != "\"" }),
      let property = type.properties.first(where: { $0.name == name }),
      project.classesByName[property.type.filter { $0 != "?" && $0 != "!" }] != nil
    else { return false }
    return (index + 2..<close).contains { tokens[$0].name == name && isRoot($0) && isAssigned($0) }
  }
}
