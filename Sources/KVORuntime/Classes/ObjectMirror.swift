/// Mirrors of an object: the stored properties of each of its classes, as Swift shows them. But an
/// `@Observed` property appears under its own name and without the wrapper, and the root has no children,
/// because its storage is the runtime's.
///
/// So code that copies an object's properties by its mirror's labels copies keys and values.
enum ObjectMirror {
  /// The mirror that the root creates. If a subclass overrides the mirror and calls super, it represents the
  /// object as that subclass's superclass.
  static func make(of object: KVOObject) -> Mirror {
    let classes = sequence(first: type(of: object), next: { _getSuperclass($0) as? KVOObject.Type })
    let own = Array(classes).last { MethodOverride.reflects($0) }
    return mirror(object, own.flatMap { _getSuperclass($0) } ?? type(of: object))
  }

  private static func mirror(_ object: KVOObject, _ type: AnyClass) -> Mirror {
    guard type != KVOObject.self, let superclass = _getSuperclass(type) else {
      return Mirror(
        object, children: [], displayStyle: .class, ancestorRepresentation: .suppressed)
    }
    func open<Subject>(_ type: Subject.Type) -> Mirror {
      // The mirror must represent the object as an instance of that class.
      Mirror(
        unsafeBitCast(object, to: type), children: children(of: object, as: type),
        displayStyle: .class,
        ancestorRepresentation: .customized { mirror(object, superclass) })
    }
    // The metatype is converted through an address: optimised code that opens an existential class metatype
    // gets the static class.
    let metadata = unsafeBitCast(type, to: UnsafeRawPointer.self)
    return _openExistential(unsafeBitCast(metadata, to: Any.Type.self), do: open)
  }

  private static func children(of object: KVOObject, as type: Any.Type) -> [Mirror.Child] {
    guard (type as? KVOObject.Type)?.hidesStorage != true else { return [] }  // like the root
    return (0..<childCount(of: object, as: type)).map { child(of: object, as: type, at: $0) }
      .filter { $0.label.map(isUncoded) != true }
  }

  private static func child(of object: KVOObject, as type: Any.Type, at index: Int) -> Mirror.Child
  {
    var name: UnsafePointer<CChar>?
    var freeName: FreeName?
    let value = childValue(of: object, as: type, at: index, name: &name, freeName: &freeName)
    defer { freeName?(name) }
    let label = name.map { String(cString: $0) }
    if let label, !isUncoded(label), let name = withoutPrefix(Field.storagePrefix, label) {
      object.readsAnnouncedKey(RawIdentifier.bare(name))
      return (name, value)
    }
    guard let label, let storage = value as? any ObservedStorage,
      let name = withoutPrefix("_", label)
    else {
      return (label, value)
    }
    object.readsAnnouncedKey(RawIdentifier.bare(name))
    return (name, storage.content)
  }

  private static func isUncoded(_ label: String) -> Bool {
    withoutPrefix(Field.uncodedPrefix, label) != nil
  }

  // Gives "balance" for "_balance", and "`my name`" for "`_my name`".
  private static func withoutPrefix(_ prefix: String, _ label: String) -> String? {
    if label.hasPrefix("`" + prefix) { return "`" + label.dropFirst(prefix.count + 1) }
    return label.hasPrefix(prefix) ? String(label.dropFirst(prefix.count)).inSource : nil
  }
}

// Functions of the Swift runtime, on which the standard library's mirrors are built; part of its ABI.

private typealias FreeName = @convention(c) (UnsafePointer<CChar>?) -> Void

@_silgen_name("swift_reflectionMirror_count")
private func childCount<T>(of object: T, as type: Any.Type) -> Int

@_silgen_name("swift_reflectionMirror_subscript")
private func childValue<T>(
  of object: T, as type: Any.Type, at index: Int, name: UnsafeMutablePointer<UnsafePointer<CChar>?>,
  freeName: UnsafeMutablePointer<FreeName?>
) -> Any
