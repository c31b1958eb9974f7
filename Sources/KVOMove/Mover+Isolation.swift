/// Findings in classes on the main actor: "On the main actor" of MovingOver. No rule of Behaviour is kept here.
import SwiftSource

extension Mover {
  /// Methods that override the root class's methods are not isolated here, and neither is `deinit`. With language
  /// modes before Swift 6, the compiler does not report that.
  mutating func lookAtIsolation(_ type: TypeDeclaration) {
    guard project.isOnMainActor(type) else { return }
    lookAtOverriddenInitialiser(type)
    for method in type.methods where method.name == "observeValue" {
      guard let brace = method.brace, let end = file.partner[brace],
        !tokens[brace..<end].contains(where: { $0.text == "assumeIsolated" })
      else { continue }
      report(
        method.keyword, .differs, "observeValue is not isolated to the main actor",
        "MainActor.assumeIsolated { … }: \"On the main actor\" of MovingOver.md has an example")
    }
    for index in type.open..<type.close
    where file.enclosing[index] == type.open && file.isKeyword(index, among: ["deinit"])
      && tokens[index + 1].is("{") && !tokens[index - 1].isWord("isolated")
    {
      guard let end = file.closing(of: index + 1),
        tokens[index..<end].contains(where: { ["removeObserver", "invalidate"].contains($0.text) })
      else { continue }
      report(
        index, .refused, "deinit is not isolated to the main actor",
        "leave out what ends observations, since they end with the object; or isolated deinit { … }"
      )
    }
  }

  /// `override init()` is not isolated either, so it can't set observable properties.
  private mutating func lookAtOverriddenInitialiser(_ type: TypeDeclaration) {
    let observable = Set(type.properties.filter { type.observes($0) && !$0.isComputed }.map(\.name))
    for index in type.open..<type.close
    where file.enclosing[index] == type.open && tokens[index].isWord("init")
      && tokens[index + 1].is("(") && tokens[index + 2].is(")")
    {
      let prefix = file.start(ofDeclarationAt: index)..<index
      guard prefix.contains(where: { tokens[$0].isWord("override") }),
        let open = file.blocks.keys.filter({ $0 > index }).min(),
        let end = file.partner[open],
        let place = (open..<end).first(where: {
          observable.contains(tokens[$0].name) && isRoot($0) && isAssigned($0)
        })
      else { continue }
      report(
        place, .refused,
        "an init() that overrides NSObject's is not isolated to the main actor, and can't set \(tokens[place].name)",
        "give the property its value where it is declared")
    }
  }
}
