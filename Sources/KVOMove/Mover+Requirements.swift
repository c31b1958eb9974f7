/// Findings of observations by a protocol's key path, to which a class's declarations do not apply: "What behaves
/// differently" of MovingOver. No rule of Behaviour is kept here.
import SwiftSource

extension Mover {
  /// Lists `t.observe(\.full)` where `t` is known by a protocol only, and a class of that protocol announces changes of
  /// the computed property in another way than by what its getter reads.
  mutating func lookAtRequirement(_ call: Int) {
    guard tokens[call].text == "observe", tokens[call + 2].is("\\") else { return }
    let keys = file.keys(ofCallAt: call).keys
    if let key = keys.first { lookAt(key, of: protocols(ofReceiverAt: call), observedAt: call) }
    for (link, key) in zip(keys, keys.dropFirst()) {
      lookAt(key, of: protocols(ofLink: link), observedAt: call)
    }
  }

  private mutating func lookAt(_ key: String, of protocols: [String], observedAt call: Int) {
    for name in protocols {
      let classes = project.types.joined().filter { $0.inherited.contains { $0.name == name } }
        .compactMap(project.declaration(of:))
      guard let type = classes.first(where: { announces(key, in: $0) }) else { continue }
      return report(
        call, .differs,
        "\(key) is observed by the protocol \(name), so what \(type.name) declares of it does not apply",
        "observe(keyPath: \"\(key)\"), or a key path of \(type.name)")
    }
  }

  /// The protocols of the project by which the object is known that a property holds.
  private func protocols(ofLink key: String) -> [String] {
    (project.valueTypes[key] ?? []).flatMap { type in
      type.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init)
    }.filter(project.protocols.contains).sorted()
  }

  private func announces(_ key: String, in type: TypeDeclaration) -> Bool {
    let parts = [type] + project.extensions(of: type)
    return parts.contains { part in
      part.properties.contains { $0.name == key && $0.isComputed && $0.accessors["set"] != nil }
    }
      || parts.flatMap(\.properties).contains { $0.name == key && $0.isComputed }
        && (namesWhatAffects(key, in: type)
          || parts.flatMap(\.statements).contains {
            $0.name == KeyStatement.automatic + capitalised(key)
          })
  }

  /// The protocols of the project by which a call's receiver is known.
  private func protocols(ofReceiverAt call: Int) -> [String] {
    guard call > 1, tokens[call - 1].is("."), !tokens[call - 2].isWord("self") else {
      let around = type(around: call)
      return around.map { [$0.name] }?.filter(project.protocols.contains) ?? []
    }
    let sources = project.names[index].sources[tokens[call - 2].name] ?? []
    return sources.flatMap { source -> [String] in
      guard case .type(let type) = source else { return [] }
      return project.names[index].generics.contains(type) ? constraints(of: type) : [type]
    }.filter(project.protocols.contains).sorted()
  }

  private func constraints(of generic: String) -> [String] {
    tokens.indices.filter { tokens[$0].name == generic && tokens[$0 + 1].is(":") }.flatMap {
      index in
      tokens[(index + 2)...].prefix {
        $0.kind == .identifier && !$0.isWord("where") || $0.text == "&" || $0.is(".")
      }.map(\.name)
    }
  }
}
