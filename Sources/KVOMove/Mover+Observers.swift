/// What a human has to look at in a `didSet`: "What compiles, but behaves differently" of MovingOver. No rule of Behaviour is
/// kept here.
import SwiftSource

extension Mover {
  /// Observers are called before a `didSet`, and a `didSet` that sets its own property runs again.
  mutating func lookAtObservers(_ property: PropertyDeclaration) {
    let isReference = property.modifiers.contains { $0 == "weak" || $0.hasPrefix("unowned") }
    let isLeftOut =
      style == .macro
      ? takesNone(property) : isReference || property.modifiers.contains("lazy")
    guard !isLeftOut, !property.isStatic, !property.modifiers.contains("@KVOIgnored") else {
      return
    }
    for binding in property.bindings {
      guard let name = binding.name, let accessors = binding.accessors, !accessors.isBare,
        let block = accessors.blocks.first(where: { $0.name == "didSet" }),
        let end = file.partner[block.open]
      else { continue }
      lookAtObserver(of: name.name, at: binding.place, block.open..<end)
    }
  }

  private mutating func lookAtObserver(of name: String, at place: Int, _ body: Range<Int>) {
    let own = body.dropFirst()
    let corrections = own.filter {
      tokens[$0].name == name && tokens[$0].kind == .identifier && isRoot($0) && isAssigned($0)
    }
    guard let correction = corrections.first else {
      guard !own.isEmpty else { return }
      find(
        place, "observers of \(name) are called before its didSet, not after it",
        "if they rely on what it does, do that in the observer, "
          + "or in the setter of a computed property before it sets the stored one")
      return
    }
    let endless = corrections.first { file.enclosing[$0] == body.lowerBound }
    let isTested = body.prefix(while: { $0 < endless ?? 0 }).contains {
      tokens[$0].isWord("guard") || tokens[$0].isWord("return")
    }
    if let endless, !isTested {
      find(
        endless, "the didSet of \(name) sets it without a test, and would never end",
        "set it only where it has to be corrected: if \(name) > limit { \(name) = limit }")
    } else {
      find(
        correction,
        "observers of \(name) are told of what its didSet corrects, and then of the corrected value",
        "correct it in the setter of a computed property: \"What behaves differently\" of MovingOver.md has one"
      )
    }
  }
}
