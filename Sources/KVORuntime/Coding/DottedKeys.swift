internal import CKVORuntime

// Keys with dots: a string with a dot is a key path, so such a key is used through its property's key path or
// a `KeyValueKey` (C12, R8).

/// A class that has keys which it does not declare, some of them with dots.
package protocol DottedKeys: KVOObject {
  func hasKey(withDots key: String) -> Bool
}

extension KVOObject {
  /// Throws if a key path was probably meant as one key with dots: the class does not have its first key, but
  /// has a key with the whole text.
  func checkDots(in keyPath: String) throws {
    let first = keyPath.prefix { $0 != "." }
    let known = KVOClass.of(self)
    guard first.endIndex < keyPath.endIndex, known.property(String(first)) == nil else { return }
    let isKey =
      known.property(keyPath) != nil || (self as? any DottedKeys)?.hasKey(withDots: keyPath) == true
    guard isKey else { return }
    throw KeyValueError.invalidKeyPath(
      keyPath: keyPath, component: keyPath, className: className(of: type(of: self)))
  }
}

extension KVOObject {
  /// Gives a hint at a key with dots that is set while its text is observed as a key path.
  package func hintAtDots(in key: String) {
    guard key.utf8.contains(UInt8(ascii: ".")), kvo_binding_is_observed(header), Hint.areWanted,
      !isObserved(forKey: key),
      observationInfo.registrations.contains(where: { $0.keyPath == key })
    else { return }
    let name = className(of: type(of: self))
    Hint.give(
      """
      \(quoted(key)) of \(name) is set, and observed by a string, in which a dot separates the keys of a key path: no \
      observer is notified. Declare a property for the key, declareKeys { $0.computed(\(quoted(key)), \\.name) }, and \
      observe its key path.
      """)
  }
}
