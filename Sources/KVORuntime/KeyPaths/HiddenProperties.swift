internal import CKVORuntime
internal import Synchronization

/// Properties of superclasses that the class's own properties hide (Q2).
///
/// A class may declare a property of a name that its superclass has already, if it does not see the superclass's, which
/// may be private or in another module. Then the two are separate properties. The name is the key of the subclass's.
/// The superclass's has a key that no program can spell.
///
/// So a name means what the class that uses it sees, in its declarations and in the accessors of its properties:
/// `name(_:seenBy:)` maps it to the key that objects of this class have for it. `declarers(of:)` is the reverse.
extension KVOClass {
  /// A hidden property.
  struct HiddenProperty {
    let key: String
    /// The property's key in objects of the class.
    let name: KeyName
    /// The classes that see the property under its key, from the superclass of the one that hides it to the one that
    /// declares it.
    let lowest, owner: KVOClass
  }

  /// The classes whose declarations of a key are about one property, lowest first.
  struct Declarers: Sequence {
    /// The name by which the classes declare it.
    let key: String
    let lowest: KVOClass
    /// The next superclass: its declarations are about another property.
    fileprivate let end: KVOClass?

    func makeIterator() -> AnyIterator<KVOClass> {
      var next = Optional(lowest)
      return AnyIterator {
        guard let known = next, known !== end else { return nil }
        next = known.superclass
        return known
      }
    }
  }

  /// Whether there is a hidden property in any class.
  private static let anyClassHidesOne = Atomic(false)
  static var hidesProperties: Bool { anyClassHidesOne.load(ordering: .relaxed) }

  /// The key by which this class has the property that `declarer`, the class or a superclass, sees under a name: its
  /// own or inherited one, or else the one of this class. O(1) unless the class has hidden properties.
  func name(_ key: String, seenBy declarer: KVOClass) -> String {
    hidden.first {
      $0.key == key && $0.owner.depth <= declarer.depth && declarer.depth <= $0.lowest.depth
    }?.name.string ?? key
  }

  /// Key paths by string, as `name(_:seenBy:)` gives their first keys.
  func paths(_ paths: Set<String>, seenBy declarer: KVOClass) -> Set<String> {
    guard !hidden.isEmpty else { return paths }
    return Set(
      paths.map { path in
        let first = path.prefix { $0 != "." }
        return name(String(first), seenBy: declarer) + path.dropFirst(first.count)
      })
  }

  /// The class and its superclasses, as far as their declarations are about the property that this class has under a
  /// name.
  func declarers(of name: String) -> Declarers {
    guard !hidden.isEmpty else { return Declarers(key: name, lowest: self, end: nil) }
    let place = hidden.firstIndex { $0.name.string == name }
    let key = place.map { hidden[$0].key } ?? name
    let next = hidden[(place.map { $0 + 1 } ?? 0)...].first { $0.key == key }
    return Declarers(
      key: key, lowest: place.map { hidden[$0].lowest } ?? self, end: next?.lowest)
  }

  /// The names, and those of the hidden properties that have one of them as their key.
  func names(_ keys: some Sequence<String>) -> Set<String> {
    let keys = Set(keys)
    return keys.union(hidden.filter { keys.contains($0.key) }.map(\.name.string))
  }

  /// Class and name of a hidden property, for messages; nil if the key is not that of a hidden property.
  func hiddenSpelling(of name: String) -> String? {
    hidden.first { $0.name.string == name }.map { "\($0.owner.name).\($0.key)" }
  }

  func spelling(of name: String) -> String { hiddenSpelling(of: name) ?? name }

  /// The name of a stored property of the class or a superclass.
  func name(of field: Field) -> String {
    guard !hidden.isEmpty else { return field.key }
    let declarer = sequence(first: self, next: \.superclass).first {
      $0.ownFields.contains { $0.offset == field.offset && $0.name == field.name }
    }
    return declarer.map { name(field.key, seenBy: $0) } ?? field.key
  }

  /// The key of a hidden property, which an accessor of it names by its key and key path; nil if the property is not
  /// hidden. O(1) unless the class has hidden properties. Any thread.
  static func hiddenKey(
    _ key: StaticString, _ property: () -> AnyKeyPath, in object: KVOObject
  ) -> KeyName? {
    guard hidesProperties else { return nil }
    let known = KVOClass.of(object)
    guard !known.hidden.isEmpty, let root = Swift.type(of: property()).rootType as? KVOObject.Type
    else { return nil }
    let key = "\(key)"
    let name = known.name(key, seenBy: KVOClass.of(root))
    return name == key ? nil : .of(name)
  }

  /// Finds the hidden properties, from the lowest one on. The caller holds `lock`, and the class has declared its keys.
  func findHidden() -> [HiddenProperty] {
    guard let superclass else { return [] }
    let own = separateKeys.sorted().compactMap { key in
      superclass.owner(of: key).map { owner in
        HiddenProperty(
          key: key, name: unspellable("\(owner.name)-\(owner.depth):\(key)"), lowest: superclass,
          owner: owner)
      }
    }
    if !own.isEmpty { KVOClass.anyClassHidesOne.store(true, ordering: .relaxed) }
    return own + superclass.hidden
  }

  /// The class that declares the property that this class sees under a key.
  private func owner(of key: String) -> KVOClass? {
    var owner: KVOClass?
    for known in sequence(first: self, next: \.superclass) {
      if known.declares(key) { owner = known }
      if known.separateKeys.contains(key) { break }
    }
    return owner
  }

  private func declares(_ key: String) -> Bool {
    separateKeys.contains(key) || preparation.generated.accessors[key] != nil
      || preparation.declared.accessors[key]?.keyPath != nil
  }

  /// The keys of the class's own properties that override none of the superclass's. A stored property never does.
  private var separateKeys: Set<String> {
    let generated = preparation.generated
    return Set(generated.accessors.keys).subtracting(generated.overridden)
      .union(ownFields.filter(\.isObserved).map(\.key))
  }
}

// MARK: Names in overridden methods

/// The names of hidden properties in methods that the program overrides (E5, Q2).
///
/// `willChangeValue(forKey:)` and the other methods that announce a change get a hidden property's own name, as the
/// class that declares it knows it. When the method passes the name on to super, it means the hidden property: once for
/// each call of the method, since another call of super with that name is about the subclass's property.
private struct NamedCall {
  let object: ObjectIdentifier
  let thread: BindingThread
  let name: String
  let key: String

  static let open = LockedValue<[NamedCall]>([])
}

extension KVOObject {
  /// Calls a method with the name of a key's property.
  func withName(ofKey key: String, _ method: (String) -> Void) {
    let known = KVOClass.of(self)
    guard !known.hidden.isEmpty, case let name = known.declarers(of: key).key, name != key else {
      return method(key)
    }
    let count = NamedCall.open.withLock { open in
      open.append(
        NamedCall(object: ObjectIdentifier(self), thread: .current, name: name, key: key))
      return open.count(where: isMine)
    }
    method(name)
    NamedCall.open.withLock { open in
      guard open.count(where: isMine) == count else { return }
      open.remove(at: open.lastIndex(where: isMine)!)
    }
  }

  /// The key that a method means by a name that it passes on to super.
  func key(named name: String) -> String {
    guard KVOClass.hidesProperties, !KVOClass.of(self).hidden.isEmpty else { return name }
    return NamedCall.open.withLock { open in
      guard let last = open.lastIndex(where: isMine), open[last].name == name else { return name }
      return open.remove(at: last).key
    }
  }

  private func isMine(_ call: NamedCall) -> Bool {
    call.object == ObjectIdentifier(self) && call.thread == .current
  }
}
