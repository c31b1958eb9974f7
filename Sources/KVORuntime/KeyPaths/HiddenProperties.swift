internal import CKVORuntime
internal import Synchronization

/// Properties of superclasses that the class's own properties hide (Q2).
///
/// A class may declare a property of a name that its superclass has already, if it does not see the superclass's, which
/// may be private or in another module. Then the two are separate properties. The name is the key of the subclass's.
/// The superclass's has a key that no program can spell: its key path maps to it, and its accessors announce changes
/// of it.
extension KVOClass {
  /// A property that is hidden, with a key path of it. If a class overrides it, it has several.
  struct HiddenProperty {
    let keyPath: AnyKeyPath
    let property: Property
  }

  /// Whether there is a hidden property in any class.
  private static let anyClassHidesOne = Atomic(false)

  /// The key of the hidden property to which this key path, that of a property's own accessors, belongs; nil if the
  /// property is not hidden. O(1) unless the class has hidden properties. Any thread.
  static func hiddenKey(of keyPath: () -> AnyKeyPath, in object: KVOObject) -> KeyName? {
    guard anyClassHidesOne.load(ordering: .relaxed) else { return nil }
    let hidden = KVOClass.of(object).hidden
    guard !hidden.isEmpty else { return nil }
    let keyPath = keyPath()
    return hidden.first { $0.keyPath == keyPath }?.property.name
  }

  /// The hidden property that a key path names.
  func hiddenProperty(of keyPath: AnyKeyPath) -> Property? {
    hidden.first { keyPath.isSame(as: $0.keyPath) }?.property
  }

  /// The hidden property with this getter.
  func hiddenProperty(by getter: UnsafeRawPointer) -> Property? {
    hidden.first { $0.keyPath.onlyGetter == getter }?.property
  }

  /// Finds the hidden properties, and adds their keys to the C core. The caller holds `lock`, and the class has
  /// answered.
  func findHidden() -> [HiddenProperty] {
    var (own, hidden): (Set<String>, [HiddenProperty]) = ([], [])
    for known in sequence(first: self, next: \.superclass) {
      let generated = known.preparation.generated
      for (key, accessors) in generated.accessors where own.contains(key) {
        guard let keyPath = accessors.keyPath else { continue }
        let property = hidden.first { $0.keyPath.isSame(as: keyPath) }?.property
        hidden.append(
          HiddenProperty(keyPath: keyPath, property: property ?? hide(key, accessors, of: known)))
      }
      own.formUnion(known.separateKeys)
    }
    if !hidden.isEmpty { KVOClass.anyClassHidesOne.store(true, ordering: .relaxed) }
    return hidden
  }

  /// The class and its superclasses, each with whether the macro's declarations of the key that it has are those of a
  /// hidden property. The caller holds `lock`.
  func declarers(of key: String) -> some Sequence<(known: KVOClass, isHidden: Bool)> {
    sequence(first: (known: self, isHidden: false)) { last in
      last.known.superclass.map {
        ($0, last.isHidden || last.known.separateKeys.contains(key))
      }
    }
  }

  /// The keys of the class's own properties that override none of the superclass's. A stored property never does.
  private var separateKeys: Set<String> {
    let generated = preparation.generated
    return Set(generated.accessors.keys).subtracting(generated.overridden)
      .union(ownFields.filter(\.isObserved).map(\.key))
  }

  private func hide(_ key: String, _ accessors: Accessors, of known: KVOClass) -> Property {
    let field = known.ownFields.first { $0.isObserved && $0.type.hasRoom && $0.key == key }
    let name = field.map(nameOfHidden) ?? unspellable("\(name)-\(known.name):\(key)")
    let property = Property(
      name: name, storage: field, accessors: field == nil ? accessors : nil,
      isManual: !known.isAutomatic(key))
    if let affecting = known.preparation.generated.dependencies[key] {
      preparation.declared.dependencies[name.string] = affecting
    }
    property.add(to: cClass, of: type)
    if let field { _ = storedKeys.insert(name, at: UnsafeRawPointer(bitPattern: field.offset)!) }
    return property
  }
}
