/// Findings about `didSet` and `willSet`: "What behaves differently" of MovingOver. No rule of
/// Behaviour is kept here.
import SwiftSource

extension Mover {
  /// In a `@KVO` class, a property's `willSet` and `didSet` also run for assignments in the class's own `init` and
  /// `deinit`. In other classes they run after the key's observers have been called, and again if they set the
  /// property.
  mutating func lookAtObservers(_ property: PropertyDeclaration, in type: TypeDeclaration) {
    if usesMacro(type) { return lookAtInitialisers(property, in: type) }
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

  private mutating func lookAtInitialisers(
    _ property: PropertyDeclaration, in type: TypeDeclaration
  ) {
    guard !property.isStatic, !takesNone(property), !property.modifiers.contains("@KVOIgnored")
    else { return }
    for binding in property.bindings {
      guard let name = binding.name?.name, let accessors = binding.accessors,
        let observer = accessors.blocks.first(where: { ["didSet", "willSet"].contains($0.name) }),
        let place = assignment(to: name, whereObserversRunIn: type)
      else { continue }
      report(
        place, .differs,
        "the \(observer.name) of \(name) runs here, in its class's own init or deinit",
        "Apple's platforms run no observer of a property there: set what it does apart, "
          + "or give the property its value before super.init()")
    }
  }

  // Finds an assignment that runs them: in an initialiser after the call of the superclass's, or in the
  // deinitialiser.
  private func assignment(to name: String, whereObserversRunIn type: TypeDeclaration) -> Int? {
    let bodies = (type.open..<type.close).compactMap { index -> Range<Int>? in
      guard file.enclosing[index] == type.open,
        tokens[index].isWord("init") || file.isKeyword(index, among: ["deinit"]),
        !tokens[index - 1].is("."),
        let open = (index..<type.close).first(where: {
          tokens[$0].is("{") && file.enclosing[$0] == type.open
        }), let end = file.partner[open]
      else { return nil }
      guard tokens[index].isWord("init") else { return open..<end }
      let call = (open..<end).first {
        tokens[$0].isWord("super") && tokens[$0 + 1].is(".") && tokens[$0 + 2].isWord("init")
      }
      return call.map { $0..<end }
    }
    return bodies.joined().first {
      tokens[$0].kind == .identifier && tokens[$0].name == name && isRoot($0) && isAssigned($0)
    }
  }

  private mutating func lookAtObserver(of name: String, at place: Int, _ body: Range<Int>) {
    let own = body.dropFirst()
    let corrections = own.filter {
      tokens[$0].name == name && tokens[$0].kind == .identifier && isRoot($0) && isAssigned($0)
    }
    guard let correction = corrections.first else {
      guard !own.isEmpty else { return }
      report(
        place, .differs, "observers of \(name) are called before its didSet, not after it",
        "if they rely on what it does, do that in the observer, "
          + "or in the setter of a computed property before it sets the stored one")
      return
    }
    let endless = corrections.first { file.enclosing[$0] == body.lowerBound }
    let isTested = body.prefix(while: { $0 < endless ?? 0 }).contains {
      tokens[$0].isWord("guard") || tokens[$0].isWord("return")
    }
    if let endless, !isTested {
      report(
        endless, .differs, "the didSet of \(name) sets it without a test, and would never end",
        "set it only where it has to be corrected: if \(name) > limit { \(name) = limit }")
    } else {
      report(
        correction, .differs,
        "observers of \(name) are notified of the value that its didSet corrects, and then of the corrected value",
        "give the class @KVO, or correct it in the setter of a computed property"
      )
    }
  }
}
