/// What a human has to look at in classes of the main actor: "On the main actor" of MovingOver. No rule of Behaviour is kept
/// here.
import SwiftSource

extension Mover {
  /// Methods that override the root's are not isolated, and neither is `deinit`. Where Swift 6 is not asked for there,
  /// nothing says so.
  mutating func lookAtIsolation(_ type: TypeDeclaration) {
    guard project.isOnMainActor(type) else { return }
    for method in type.methods where method.name == "observeValue" {
      guard let brace = method.brace, let end = file.partner[brace],
        !tokens[brace..<end].contains(where: { $0.text == "assumeIsolated" })
      else { continue }
      find(
        method.keyword, .differs, "observeValue is not isolated to the main actor",
        "MainActor.assumeIsolated { … }: \"On the main actor\" of MovingOver.md has an example")
    }
    for index in type.open..<type.close
    where file.enclosing[index] == type.open && file.isDeclaration(index, of: ["deinit"])
      && tokens[index + 1].is("{") && !tokens[index - 1].isWord("isolated")
    {
      guard let end = file.partner[index + 1],
        tokens[index..<end].contains(where: { ["removeObserver", "invalidate"].contains($0.text) })
      else { continue }
      find(
        index, .refused, "deinit is not isolated to the main actor",
        "leave out what ends observations, since they end with the object; or isolated deinit { … }"
      )
    }
  }
}
