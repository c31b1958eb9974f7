internal import CKVORuntime

/// Key-value coding by key path. The C core follows paths and applies operators. It reads each key by the
/// class of its own object, and calls `value(forKey:)` if that is overridden.
enum KeyPathCoding {
  /// Whether a string is more than a single key.
  static func isPath(_ text: String) -> Bool {
    text.isEmpty || text == "self" || text.utf8.contains { $0 == UInt8(ascii: ".") }
      || text.utf8.first == UInt8(ascii: "@")
  }

  static func value(_ keyPath: String, of object: any CoreObject) throws -> Any? {
    let value = try read(keyPath, from: object) {
      kvo_value_for_key_path(object.coreHeader, $0, $1, $2)
    }
    if value == nil { try checkDots(in: keyPath, of: object) }
    return value
  }

  /// Sets the last key of a path. Does nothing if the path leads to nil before that key.
  static func setValue(_ value: Any?, _ keyPath: String, of object: any CoreObject) throws {
    let (target, key) = try lastKey(of: keyPath, from: object)
    guard let holder = target.flatMap(flattened) else { return }
    if let object = objectCast(holder, to: (any KeyedObject).self) {
      return try object.setValue(value, forKey: key)
    }
    let setting = PathSetting(keyPath: keyPath, className: name(of: object), value: value)
    // A dictionary is a value: each container on the path is replaced by a changed copy, beginning with the
    // object's own property.
    _ =
      try PathSetting.hasDictionaries(holder)
      ? setting.change(object, setting.keys) : setting.change(holder, [key])
  }

  /// Sets each element of a collection, and of those in it. Nil elements are skipped.
  static func setEach(
    of collection: Any, _ keyPath: String, _ set: (any KeyedObject) throws -> Void
  ) throws {
    for element in AnyElements(collection)?.all ?? [] {
      guard let element = flattened(element) else { continue }
      if let object = objectCast(element, to: (any KeyedObject).self) {
        try set(object)
      } else if AnyElements(element) != nil {
        try setEach(of: element, keyPath, set)
      } else {
        // The error names the dictionary's type, by which the message knows the cause.
        let name =
          keyedValue(element).map { _ in "[\(typeName(of: element))]" }
          ?? swiftName(of: type(of: collection))
        throw KeyValueError.invalidKeyPath(
          keyPath: keyPath, component: keyPath, className: name)
      }
    }
  }

  /// Returns the holder of a path's last key, and that key.
  static func lastKey(
    of keyPath: String, from object: any CoreObject
  ) throws -> (target: Any?, key: String) {
    // The core's own result points into the borrowed string, so the key is found again in the Swift string.
    var last: UnsafePointer<CChar>?
    let target = try read(keyPath, from: object) {
      kvo_value_with_last_key(object.coreHeader, $0, $1, &last, $2)
    }
    if target == nil { try checkDots(in: keyPath, of: object) }
    let key = keyPath.utf8.lastIndex(of: UInt8(ascii: ".")).map { keyPath.utf8.index(after: $0) }
    return (target, key.map { String(keyPath[$0...]) } ?? keyPath)
  }

  private static func read(
    _ keyPath: String, from object: any CoreObject,
    _ body: (
      UnsafePointer<CChar>, UnsafeMutablePointer<kvo_value>, UnsafeMutablePointer<kvo_error>
    ) -> kvo_status
  ) throws -> Any? {
    do { return try read(keyPath, name(of: object), body) } catch {
      try checkDots(in: keyPath, of: object)
      throw error
    }
  }

  private static func checkDots(in keyPath: String, of object: any CoreObject) throws {
    try (object as? KVOObject)?.checkDots(in: keyPath)
  }

  // MARK: Starting at any value

  static func value(_ keyPath: String, ofElementsOf collection: some Any) throws -> Any? {
    try CoreValue.with(collection) { start in
      try read(keyPath, className(of: type(of: collection))) {
        kvo_value_value_for_key_path(start, $0, $1, $2)
      }
    }
  }

  /// Reads a single key; a dot in it is an ordinary character.
  static func value(forKey key: String, ofElementsOf collection: some Any) throws -> Any? {
    if key.utf8.first == UInt8(ascii: "@") { return try value(key, ofElementsOf: collection) }
    return try CoreValue.with(collection) { start in
      try read(key, className(of: type(of: collection))) {
        kvo_value_value_for_key(start, $0, $1, $2)
      }
    }
  }

  static func name(of object: any CoreObject) -> String {
    (object as? ForeignObject)?.className ?? className(of: type(of: object))
  }

  private static func read(
    _ keyPath: String, _ className: String,
    _ body: (
      UnsafePointer<CChar>, UnsafeMutablePointer<kvo_value>, UnsafeMutablePointer<kvo_error>
    ) -> kvo_status
  ) throws -> Any? {
    // An element may be the first Swift object that the core sees.
    _ = CoreBinding.root
    var value = kvo_value()
    try keyPath.withKey(className) { text in
      try ThrownError.passing(keyPath, of: className) { body(text, &value, $0) }
    }
    defer { kvo_value_destroy(&value) }
    return ValueType.any(of: &value)
  }
}
