/// A class of this package's libraries whose stored properties are its own: they are no keys of its subclasses, are
/// not in mirrors, and are not suggested by messages (B2). So a subclass may have a property of that name.
package protocol OpaqueStorage: KVOObject {
  /// The class, and those of its subclasses that are the library's as well.
  static var opaqueClasses: [KVOObject.Type] { get }
}

extension KVOObject {
  /// Whether what the class itself stores is the runtime's or a library's.
  static var hidesStorage: Bool {
    if self == KVOObject.self || self == KeyValueRecord.self { return true }
    return (self as? any OpaqueStorage.Type)?.opaqueClasses.contains { $0 == self } ?? false
  }
}
