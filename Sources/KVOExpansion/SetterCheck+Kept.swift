internal import SwiftSource

// Getters that keep their values (Q6), in a property that is not observed. While the value is kept, such a getter reads
// nothing that it is made from, so tracking can't find that.
//
// The class alone does not always show it. Calling a method of a property, or a function that the class does not
// declare, may store something. So may passing the object on, or setting a part of an observed variable, which may be an
// object. In doubt a getter keeps its value if it also reads something unobserved, which it would return. Then the
// observed properties that it names affect it even while it does not read them.

extension SetterCheck {
  /// The value that a getter keeps.
  struct KeptValue {
    /// The unobserved property in which it is stored; nil in doubt.
    var cache: String?
    /// The observed properties that the getter names, from which it may make the value.
    var sources: [String] = []
    fileprivate var mayBeStored = false
    fileprivate var mayBeRead = false

    fileprivate var isKept: Bool { cache != nil || mayBeStored && mayBeRead }
  }

  /// The value that a key's getter keeps, by itself or by the class's methods that it calls; nil if it keeps none.
  func keeping(_ getter: Accessors.Block, of key: String) -> KeptValue? {
    var (value, next, followed) = (KeptValue(), [Body(Array(getter.body))], Set<String>())
    while let body = next.popLast() {
      for (index, token) in body.tokens.enumerated() {
        next += token.interpolations.map { Body($0, body.locals(at: index)) }
        if body.tokens.isHandedOn(index) { (value.mayBeStored, value.mayBeRead) = (true, true) }
        guard token.kind == .identifier || token.isWord("Self"), body.tokens.isRoot(index),
          !body.tokens.isLabel(index), !body.isLocal(index), token.name != key
        else { continue }
        if observed.contains(token.name) {
          note(observed: index, in: body.tokens, &value)
        } else if silent.contains(token.name) {
          note(silent: index, in: body.tokens, &value)
        } else if !token.name.hasPrefix("$"), token.name != "_" {
          note(undeclared: index, in: body.tokens, &value)
        }
        let bodies = (methods[token.name] ?? []) + [silentGetter(token.name)].compactMap { $0 }
        if !bodies.isEmpty, followed.insert(token.name).inserted { next += bodies }
      }
    }
    return value.isKept ? value : nil
  }

  private func silentGetter(_ name: String) -> Body? {
    silent.contains(name) ? getters[name] : nil
  }

  private func note(observed index: Int, in body: [Token], _ value: inout KeptValue) {
    let name = body[index].name
    if !value.sources.contains(name) { value.sources.append(name) }
    if body.isSet(index), !body.isSetAsAWhole(index) {
      (value.mayBeStored, value.mayBeRead) = (true, true)
    }
  }

  private func note(silent index: Int, in body: [Token], _ value: inout KeptValue) {
    value.mayBeRead = true
    if body.isSet(index) { value.cache = value.cache ?? body[index].name }
    if body.isCalled(index) || body.isCalledInside(index) { value.mayBeStored = true }
  }

  /// A method, a type, or a variable of a superclass, an extension or the module.
  private func note(undeclared index: Int, in body: [Token], _ value: inout KeptValue) {
    let name = body[index].name
    let isOtherType = name != "Self" && isType(body[index])
    if body.isSet(index) {
      (value.mayBeStored, value.mayBeRead) = (true, true)
    } else if body.isCalled(index) {
      if methods[name] == nil, !isOtherType { value.mayBeStored = true }
    } else if !isOtherType {
      value.mayBeRead = true
      if body.isCalledInside(index) { value.mayBeStored = true }
    }
  }
}
