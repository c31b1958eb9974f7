internal import CKVORuntime
internal import CSwiftRuntime

/// The callbacks through which the C core retains, describes and notifies Swift objects, and finds the class
/// of an unobserved one. They are registered once.
enum CoreBinding {
  /// The core's class for `KVOObject`.
  // Safe without isolation: a kvo_class may be used on any thread and lives forever.
  nonisolated(unsafe) static let root: OpaquePointer = {
    ObjectHeader.check()
    var root: OpaquePointer?
    let error = failure {
      root = kvo_class_create_root("KVOObject", operations, $0)
      guard let root else { return $0.pointee.status }
      kvo_set_read_listener(ReadRecorder.listener)
      kvo_set_cookie_end(KeyName.end)
      kvo_set_key_speller(spellKey)
      kvo_set_current_task { kvo_swift_current_task() }
      _ = HandlerName.isAskedFor
      let status = kvo_set_class_of_unobserved(classOfUnobserved, $0)
      return status == .KVO_OK ? addHooks(to: root, $0) : status
    }
    guard let root, error == nil else { KVODiagnostics.stop(error?.text ?? "") }
    return root
  }()

  // Safe without isolation: initialised once, never changed, never freed.
  private nonisolated(unsafe) static let operations: UnsafePointer<kvo_class_operations> = {
    let operations = UnsafeMutablePointer<kvo_class_operations>.allocate(capacity: 1)
    operations.initialize(
      to: kvo_class_operations(
        retain: { _ = Unmanaged<KVOObject>.fromOpaque(ObjectHeader.object(of: $0)).retain() },
        release: { Unmanaged<KVOObject>.fromOpaque(ObjectHeader.object(of: $0)).release() },
        try_retain: { kvo_swift_try_retain(ObjectHeader.object(of: $0)) },
        unowned_retain: { kvo_swift_unowned_retain(ObjectHeader.object(of: $0)) },
        unowned_release: { kvo_swift_unowned_release(ObjectHeader.object(of: $0)) },
        describe: describe, observe: observe, affecting: affecting,
        will: { KVOObject.at($0).announce(KeyName.of(interned: $1).string, $2, .will) },
        did: { KVOObject.at($0).announce(KeyName.of(interned: $1).string, $2, .did) },
        check_read: { kvo_swift_check_access($0, false) }))
    return UnsafePointer(operations)
  }()

  private static func addHooks(
    to root: OpaquePointer, _ error: UnsafeMutablePointer<kvo_error>
  ) -> kvo_status {
    var status = addHook(
      "valueForUndefinedKey:", unsafeBitCast(valueForUndefinedKey, to: kvo_imp.self), to: root,
      error)
    guard status == .KVO_OK else { return status }
    status = addHook(
      "setValue:forUndefinedKey:", unsafeBitCast(setValueForUndefinedKey, to: kvo_imp.self),
      to: root, error)
    guard status == .KVO_OK else { return status }
    return addHook(
      "validateValue:forKey:error:", unsafeBitCast(validateValueForKey, to: kvo_imp.self),
      to: root, error)
  }

  /// Installs hooks for the methods that the class overrides: reading by key, setting by key, and manual
  /// change notification. The core calls them instead of its own implementation.
  static func addCodingHooks(to cClass: OpaquePointer, of type: KVOObject.Type) -> kvo_status {
    var status = kvo_status.KVO_OK
    if MethodOverride.reads(type) {
      status = addHook(
        "valueForKey:", unsafeBitCast(valueForKey, to: kvo_imp.self), to: cClass, nil)
    }
    if status == .KVO_OK, MethodOverride.sets(type) {
      status = addHook(
        "setValue:forKey:", unsafeBitCast(setValueForKey, to: kvo_imp.self), to: cClass, nil)
    }
    let announced = MethodOverride.announcedKinds(of: type)
    if !announced.isEmpty { kvo_class_set_announces(cClass, announced) }
    return status
  }

  // The C core casts each hook to the type that its documentation gives for the selector.
  private static func addHook(
    _ selector: String, _ imp: kvo_imp, to cClass: OpaquePointer,
    _ error: UnsafeMutablePointer<kvo_error>?
  ) -> kvo_status {
    let layout = kvo_layout(encoding: KeyName.of("").interned, size: 0, alignment: 0)
    let hook = kvo_signature(form: .KVO_FORM_HOOK, layout: layout)
    return kvo_class_add_method(cClass, selector, imp, hook, nil, error)
  }
}

// MARK: Callbacks of the core

private let classOfUnobserved: @convention(c) (UnsafePointer<kvo_object>) -> OpaquePointer = {
  KVOClass.cClass(of: $0)
}

private let describe:
  @convention(c) (UnsafePointer<kvo_object>, UnsafeMutablePointer<CChar>, Int) -> Int = {
    write(ObjectHeader.describe($0), to: $1, capacity: $2)
  }

private let spellKey: @convention(c) (UnsafeRawPointer?, UnsafeMutablePointer<CChar>, Int) -> Bool =
  {
    guard let text = Property.at($0).keyInSource else { return false }
    _ = write(text, to: $1, capacity: $2)
    return true
  }

private let observe:
  @convention(c) (
    UnsafeMutablePointer<kvo_object>, UnsafePointer<CChar>, UnsafeMutablePointer<kvo_object>,
    OpaquePointer, UnsafeMutableRawPointer?
  ) -> Void = { observer, keyPath, object, change, context in
    KVOObject.at(observer).observeValue(
      forKeyPath: KeyName.of(interned: keyPath).string, of: ForeignObject.swiftValue(of: object),
      change: ChangeDictionary.make(change), context: context)
  }

private typealias ReadingHook =
  @convention(c) (
    UnsafeMutablePointer<kvo_object>, OpaquePointer, UnsafePointer<CChar>,
    UnsafeMutablePointer<kvo_value>, UnsafeMutablePointer<kvo_error>?
  ) -> kvo_status

private typealias SettingHook =
  @convention(c) (
    UnsafeMutablePointer<kvo_object>, OpaquePointer, UnsafePointer<kvo_value>?,
    UnsafePointer<CChar>, UnsafeMutablePointer<kvo_error>?
  ) -> kvo_status

private let valueForKey: ReadingHook = { header, _, key, value, error in
  ThrownError.catching(error) {
    CoreValue.make(of: try KVOObject.at(header).value(forKey: String(cString: key)), into: value)
  }
}

private let setValueForKey: SettingHook = { header, _, value, key, error in
  ThrownError.catching(error) {
    let value = value.flatMap { ValueType.any(of: $0) }
    try KVOObject.at(header).setValue(value, forKey: String(cString: key))
  }
}

private let affecting:
  @convention(c) (
    OpaquePointer, UnsafeMutablePointer<kvo_object>, UnsafePointer<CChar>, OpaquePointer
  ) -> Void = { _, header, key, paths in
    let (object, key) = (KVOObject.at(header), String(cString: key))
    let affecting = KVOClass.of(object).keyPathsAffecting(key, of: object)
    for path in affecting {
      guard path.withKey({ kvo_key_paths_add(paths, $0) }) == nil else { continue }
      KVODiagnostics.report(
        misuse: """
          "\(key)" of \(className(of: type(of: object))) can't depend on \
          \(String(reflecting: path)): a key has no NUL.
          """)
    }
  }

// The core knows only the keys of a class's fields and declarations. `KVOClass` finds the other keys and
// describes them to the core. An object may also answer keys that its class does not have.
private let valueForUndefinedKey: ReadingHook = { header, _, key, value, error in
  ThrownError.catching(error) {
    let object = KVOObject.at(header)
    let key = String(cString: key)
    let property = KVOClass.of(object).property(key)
    let answer =
      if let property { try property.value(of: object) } else {
        try object.value(forUndefinedKey: key)
      }
    CoreValue.make(of: answer, into: value)
  }
}

private let setValueForUndefinedKey: SettingHook = { header, _, value, key, error in
  ThrownError.catching(error) {
    let object = KVOObject.at(header)
    let key = String(cString: key)
    let value = value.flatMap { ValueType.any(of: $0) }
    if let property = KVOClass.of(object).property(key) {
      try property.setValue(value, of: object)
    } else {
      try object.setValue(value, forUndefinedKey: key)
    }
  }
}

private typealias ValidatingHook =
  @convention(c) (
    UnsafeMutablePointer<kvo_object>, OpaquePointer, UnsafeMutablePointer<kvo_value>,
    UnsafePointer<CChar>, UnsafeMutablePointer<kvo_error>?
  ) -> kvo_status

// If the validator leaves the value unchanged, the C value is kept, without a round trip through Swift.
private let validateValueForKey: ValidatingHook = { header, _, value, key, error in
  ThrownError.catching(error) {
    let given = ValueType.any(of: value)
    var proposed = given
    try KVOObject.at(header).validateValue(&proposed, forKey: String(cString: key))
    if let given = given as? AnyHashable, given == proposed as? AnyHashable { return }
    kvo_value_destroy(value)
    value.initialize(to: proposed.flatMap { ForeignValue.make(from: $0) } ?? CoreValue.of(proposed))
  }
}
