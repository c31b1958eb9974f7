/// A key path that is nothing but stored properties, as far as it can tell: of each property of an object that it goes
/// through the getter that it knows it by. What it reads depends on the references on its way alone, so the C core need
/// not read it again where those are what they were (`route.c`).
///
/// Optional links, and at the end stored parts of a value (`\.point.x`), read nothing that could be another thing. What
/// has arguments, is computed behind a value, or is not known by a getter, is no such path.
struct StoredPath {
  private let getters: [UnsafeRawPointer]

  /// How many properties of objects there are.
  var count: Int { getters.count }

  init?(_ keyPath: AnyKeyPath) {
    guard var components = KeyPathComponents(keyPath) else { return nil }
    var (getters, hasParts) = ([UnsafeRawPointer](), false)
    while let component = components.next() {
      switch component {
      case .computed(let getter?) where !hasParts: getters.append(getter)
      case .part: hasParts = true
      case .optional: break
      case .computed, .stored: return nil
      }
    }
    guard !getters.isEmpty, !components.hasArguments else { return nil }
    self.getters = getters
  }

  /// Whether the property that was read of the object, after so many others, is the path's own at that place: read
  /// by the getter that the path names, which the object's class has not overridden, and where the path goes
  /// on a plain reference to an object.
  func isStep(_ index: Int, _ accessor: AnyKeyPath, of object: KVOObject) -> Bool {
    guard index < count, accessor.firstGetter == getters[index],
      accessor.isSurelyOriginal(in: type(of: object))
    else { return false }
    return index == count - 1 || Self.isReference(type(of: accessor).valueType)
  }

  private static func isReference(_ type: Any.Type) -> Bool {
    ((type as? any OptionalType.Type)?.wrappedType ?? type) is KVOObject.Type
  }
}
