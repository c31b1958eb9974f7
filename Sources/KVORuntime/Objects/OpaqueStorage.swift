/// A class of this package whose stored properties are private to it. They are not keys of its subclasses,
/// not in mirrors, and not suggested in messages (B2), so that a subclass may have properties of the same
/// names.
package protocol OpaqueStorage: KVOObject {
  /// The class, and those of its subclasses that belong to the library as well.
  static var opaqueClasses: [KVOObject.Type] { get }
}

extension KVOObject {
  /// Whether the class's own stored properties belong to the runtime or a library.
  static var hidesStorage: Bool {
    if self == KVOObject.self || self == KeyValueRecord.self { return true }
    return (self as? any OpaqueStorage.Type)?.opaqueClasses.contains { $0 == self } ?? false
  }
}
