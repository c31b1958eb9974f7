/// Declares the methods by which key-value coding reaches a key's elements, in extensions and in classes without the
/// macro. Edit 8 of MovingOver.md. No rule of Behaviour is kept here.
import KVOExpansion
import SwiftSource

extension Mover {
  /// Whether the class declares a key by a call of this method.
  func isDeclared(_ method: MethodDeclaration, in part: TypeDeclaration) -> Bool {
    guard let type = project.declaration(of: part) else { return false }
    return elementDeclarations(of: type).contains { $0.contains(".\(method.name)(") }
  }

  /// Whether the macro finds the method as the accessor of a key, by its name in Swift.
  func isSeen(_ method: MethodDeclaration, in type: TypeDeclaration) -> Bool {
    guard let (whole, own) = read(type) else { return false }
    return KVOExpansion.elementDeclarations(of: whole, members: own).values
      .contains { $0.contains(".\(method.name)(") }
  }

  /// Lists an accessor that changes elements, announces nothing, and is called by the sources. If Objective-C dispatches
  /// the call there, it notifies observers.
  mutating func lookAtCalls(of method: MethodDeclaration, in part: TypeDeclaration) {
    guard part.isExtension || method.modifiers.contains("dynamic"),
      Self.changingPrefixes.contains(where: method.name.hasPrefix), let brace = method.brace,
      let end = file.partner[brace], !(brace..<end).contains(where: file.isAnnouncement),
      project.files.contains(where: { $0.calls(method.name, labels(of: method)) })
    else { return }
    report(
      method.keyword, .differs, "a call of \(method.name) notifies observers there, and not here",
      "put its body into withChange(.insertion, at: RangeSet(integer: index), forKey: …) { … }, or .removal"
    )
  }

  /// Lists a cast to an array or a set of a collection that a class gives by accessors alone. It is read as a proxy, which
  /// is a collection there, too, and here is none of these types.
  mutating func lookAtProxy(castTo type: Int, ofCallAt call: Int) -> Bool {
    let collections: Set = ["[", "Array", "NSArray", "Set", "NSSet", "NSOrderedSet"]
    guard collections.contains(tokens[type].text), throwsHere(call),
      let close = file.closing(of: call + 1),
      !tokens[call..<close].contains(where: { $0.text.contains("@") }),
      let key = file.keys(ofCallAt: call).keys.last, let proxy = project.proxies[key]
    else { return false }
    let array = proxy == "ArrayProxy" ? "Array" : "Set"
    report(
      type, .differs,
      "\(key) is given by accessors, and read as \(proxy == "ArrayProxy" ? "an" : "a") \(proxy), which is no \(array.lowercased())",
      "(… as? \(proxy)).map(\(array).init)")
    return true
  }

  private static let changingPrefixes = ["insert", "remove", "replace", "add", "intersect"]

  /// The declarations of keys that are reached by such methods, in the order of the keys.
  func elementDeclarations(of type: TypeDeclaration) -> [String] {
    let parts = [type] + project.extensions(of: type)
    let isSeen = usesMacro(type) || type.attributes.contains("KVO")
    guard !isSeen || parts.count > 1, let (whole, own) = read(type),
      !type.methods.contains(where: { $0.name == "registerKeys" })
    else { return [] }
    let all = parts.flatMap { members(of: $0, callableFrom: type) }
    let seen = isSeen ? KVOExpansion.elementDeclarations(of: whole, members: own) : [:]
    return KVOExpansion.elementDeclarations(of: whole, members: all)
      .filter { seen[$0.key] != $0.value }.sorted { $0.key < $1.key }
      .flatMap { key, line in (isSeen ? propertyEntry(of: key, in: type) : []) + [line] }
  }

  // A declaration that is written by hand replaces all that the macro generates for the key.
  private func propertyEntry(of key: String, in type: TypeDeclaration) -> [String] {
    guard
      let property = type.variables.first(where: { $0.name == key && !$0.isStatic }),
      property.isComputed || project.isExposed(property, in: type)
    else { return [] }
    if !property.isComputed, !property.isConstant { return ["keys.stored(\"\(key)\", \\.\(key))"] }
    let affecting = statement(ofWhatAffects: key, in: type)
    let affectedBy = affecting.map { ", affectedBy: \($0.value)" } ?? ""
    return ["keys.computed(\"\(key)\", \\.\(key)\(affectedBy))"]
  }

  private func read(_ part: TypeDeclaration) -> (SwiftSource.TypeDeclaration, [Member])? {
    var reader = DeclarationReader(project.files[part.id.file].tokens, at: part.keyword)
    guard let read = reader.readType() else { return nil }
    // Stored properties that were not observable are left out of the macro.
    let plain = Set(part.properties.filter { !part.observes($0) }.map(\.keyword))
    let members = read.members.map { member in
      var member = member
      if plain.contains(member.keyword) {
        member.attributes.append(Attribute(name: "KVOIgnored", offset: member.offset))
      }
      return member
    }
    return (read, members)
  }

  /// The members that Objective-C can see, and that can be called from the class's body.
  private func members(
    of part: TypeDeclaration, callableFrom type: TypeDeclaration
  ) -> [Member] {
    guard let (_, members) = read(part) else { return [] }
    return members.filter { member in
      guard case .function = member.kind else { return true }
      let isHidden = !Set(member.modifiers).isDisjoint(with: ["private", "fileprivate"])
      let modifiers = Set(member.modifiers + member.attributes.map { "@" + $0.name })
      return (part.id.file == type.id.file || !isHidden) && project.isExposed(modifiers, in: part)
    }
  }
}

extension SourceFile {
  /// Whether the source calls a method of this name with one of these labels.
  fileprivate func calls(_ name: String, _ labels: [String]) -> Bool {
    tokens.indices.contains { index in
      guard tokens[index].name == name, tokens[index + 1].is("("),
        let close = closing(of: index + 1),
        index == 0 || !tokens[index - 1].isWord("func")
      else { return false }
      let written = (index + 2..<close).filter {
        tokens[$0 + 1].is(":") && enclosing[$0] == index + 1
      }
      return written.allSatisfy { labels.contains(tokens[$0].text) }
    }
  }
}
