internal import SwiftSource

// Getters that cache their values (Q6), in a property that is not observed. While the value is cached, such a getter
// reads nothing that it is made from, so tracking can't find that.
//
// The class alone does not always show it. Calling a method of a property, or a function that the class does not
// declare, may store something. So may passing the object on, or setting a part of an observed variable, which may be an
// object. In doubt a getter caches its value if it also reads something unobserved, which it would return. Then the
// observed properties that it names affect it even while it does not read them.
//
// A name that the class does not declare may be an observed property of a superclass. It is a source then; the runtime
// drops the names that are no keys. Unless the getter sets it, it leaves no doubt by itself: otherwise most getters of
// subclasses, which call methods of their superclass's properties, would count.

extension SetterCheck {
  /// The value that a getter caches.
  struct CachedValue {
    /// The unobserved property in which it is stored; nil in doubt.
    var cache: String? { written.first(where: read.contains) }
    /// The observed properties that the getter names, from which it may make the value.
    var sources: [String] = []
    /// The names that may be properties of a superclass.
    fileprivate var inherited: [String] = []
    /// The unobserved properties that are set, in this order, and those that are read. One that is only set, such as a
    /// counter, caches no value.
    fileprivate var written: [String] = []
    fileprivate var read: Set<String> = []
    fileprivate var mayBeStored = false
    fileprivate var mayBeRead = false

    fileprivate var isCached: Bool { cache != nil || mayBeStored && mayBeRead }
    fileprivate var mayBeCached: Bool { isCached || mayBeStored && !inherited.isEmpty }

    fileprivate mutating func mayBeStoredAndRead() { (mayBeStored, mayBeRead) = (true, true) }
  }

  /// The value that a key's getter caches, by itself or by the class's methods that it calls; nil if it caches none.
  func cachedValue(in getter: Accessors.Block, of key: String) -> CachedValue? {
    var (value, next, followed) = (CachedValue(), [Body(Array(getter.body))], Set<String>())
    while let body = next.popLast() {
      for (index, token) in body.tokens.enumerated() {
        next += token.interpolations.map { Body($0, body.locals(at: index)) }
        if body.tokens.isHandedOn(index) { value.mayBeStoredAndRead() }
        guard let name = body.member(at: index), name != key else { continue }
        note(name, at: index, in: body.tokens, &value)
        let bodies = bodies(of: name, isSet: body.tokens.isSet(index))
        if !bodies.isEmpty, followed.insert(name).inserted { next += bodies }
      }
    }
    guard value.mayBeCached else { return nil }
    if value.isCached { value.sources += value.inherited }
    return value
  }

  /// The bodies that run if a name is used. The getter of an observed property finds its sources by itself, unless it
  /// is that of a cache.
  private func bodies(of name: String, isSet: Bool) -> [Body] {
    let getter = isSet || silent.contains(name) ? getters[name] : nil
    return (methods[name] ?? []) + [getter, isSet ? setters[name] : nil].compactMap { $0 }
  }

  private func note(_ name: String, at index: Int, in body: [Token], _ value: inout CachedValue) {
    if observed.contains(name) { note(observed: name, at: index, in: body, &value) }
    if silent.contains(name) || unobserved.contains(name) {
      note(silent: name, at: index, in: body, &value)
    } else if !observed.contains(name) {
      note(undeclared: name, at: index, in: body, &value)
    }
  }

  private func note(
    observed name: String, at index: Int, in body: [Token], _ value: inout CachedValue
  ) {
    if !value.sources.contains(name) { value.sources.append(name) }
    if body.isSet(index), !body.isSetAsAWhole(index) { value.mayBeStoredAndRead() }
  }

  private func note(
    silent name: String, at index: Int, in body: [Token], _ value: inout CachedValue
  ) {
    if body.isSet(index) { value.written.append(name) }
    if !body.isSet(index) || body.isPassedInOut(index) {
      value.read.insert(name)
      value.mayBeRead = true
    }
    if body.isCalled(index) || body.isCalledInside(index) { value.mayBeStored = true }
  }

  /// A method, a type, or a variable of a superclass, an extension or the module.
  private func note(
    undeclared name: String, at index: Int, in body: [Token], _ value: inout CachedValue
  ) {
    let isOwnType = name == "Self" || name == className
    if body.isSet(index) { value.mayBeStoredAndRead() }
    if body[index].isTypeName, !isOwnType {
      if body.isCalledInMember(ofType: index) { value.mayBeStoredAndRead() }
    } else if body.isCalled(index) {
      if methods[name] == nil { value.mayBeStored = true }
    } else {
      if body.isCalledInside(index) { value.mayBeStored = true }
      if isOwnType || !mayInherit {
        value.mayBeRead = true
      } else if !body.isSetAsAWhole(index), !value.inherited.contains(name) {
        value.inherited.append(name)
      }
    }
  }
}

extension SetterCheck.Body {
  /// The name at an index, if it may be one of the object's members or of the module. `$cache` counts as `cache`.
  fileprivate func member(at index: Int) -> String? {
    let token = tokens[index]
    guard token.kind == .identifier || token.isWord("Self"),
      tokens.isRoot(index) || tokens.isOfSuper(index), !tokens.isLabel(index), !isLocal(index)
    else { return nil }
    let name = token.name.drop { $0 == "$" }
    return name.isEmpty || name.first?.isNumber == true || name == "_" ? nil : String(name)
  }
}
