/// A key path that consists of stored properties only, as far as the key path itself shows: it contains the
/// getter of each property. Its value depends only on the references along it. So the C core need not
/// evaluate it again while these are unchanged (`path_cache.c`).
///
/// Optional links, and stored parts of a value at the end (`\.point.x`), are allowed, since they read nothing
/// else. A key path is no such path if it has arguments, a computed property of a value, or a property that
/// is not identified by a getter.
struct StoredPath {
  private let getters: [UnsafeRawPointer]

  /// The number of properties of objects on the path.
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

  /// Whether a recorded read is this path's step at `index`. The read must be by the getter that the path
  /// contains, and the object's class must not override that. Except at the end, the value must be a plain
  /// reference to an object.
  func isStep(_ index: Int, _ accessor: AnyKeyPath, of object: KVOObject) -> Bool {
    guard index < count, accessor.firstGetter == getters[index],
      accessor.isSurelyOriginal(in: type(of: object))
    else { return false }
    return index == count - 1 || Self.isReference(type(of: accessor).valueType)
  }

  private static func isReference(_ type: Any.Type) -> Bool {
    unwrapped(type) is KVOObject.Type
  }
}
