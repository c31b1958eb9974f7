internal import CKVORuntime
internal import CSwiftRuntime

/// What the C core is told about Swift's objects, once: how they are held, described and notified,
/// and how the class of an unobserved one is found.
enum Binding {
  /// The core's class of `KVOObject`.
  // A kvo_class is used by the core's own rules on any thread, and lives for ever.
  nonisolated(unsafe) static let root: OpaquePointer = {
    ObjectHeader.check()
    var root: OpaquePointer?
    let error = failure {
      root = kvo_class_create_root("KVOObject", operations, $0)
      guard let root else { return $0.pointee.status }
      let status = kvo_set_class_of_unobserved(classOfUnobserved, $0)
      return status == .KVO_OK ? addHooks(to: root, $0) : status
    }
    guard let root, error == nil else { KVODiagnostics.stop(error?.text ?? "") }
    return root
  }()

  // Made once, never changed, for ever.
  private nonisolated(unsafe) static let operations: UnsafePointer<kvo_class_operations> = {
    let operations = UnsafeMutablePointer<kvo_class_operations>.allocate(capacity: 1)
    operations.initialize(
      to: kvo_class_operations(
        retain: { _ = Unmanaged<KVOObject>.fromOpaque(ObjectHeader.object(of: $0)).retain() },
        release: { Unmanaged<KVOObject>.fromOpaque(ObjectHeader.object(of: $0)).release() },
        try_retain: { kvo_swift_try_retain(ObjectHeader.object(of: $0)) },
        unowned_retain: { kvo_swift_unowned_retain(ObjectHeader.object(of: $0)) },
        unowned_release: { kvo_swift_unowned_release(ObjectHeader.object(of: $0)) },
        describe: describe, observe: observe))
    return UnsafePointer(operations)
  }()

  private static func addHooks(
    to root: OpaquePointer, _ error: UnsafeMutablePointer<kvo_error>
  ) -> kvo_status {
    let layout = kvo_layout(encoding: KeyName.of("").interned, size: 0, alignment: 0)
    let hook = kvo_signature(form: .KVO_FORM_HOOK, layout: layout)
    // The core calls it as what the hook's documentation says it is.
    let imp = unsafeBitCast(valueForUndefinedKey, to: kvo_imp.self)
    return kvo_class_add_method(root, "valueForUndefinedKey:", imp, hook, nil, error)
  }
}

// MARK: The functions that the core calls

private let classOfUnobserved: @convention(c) (UnsafePointer<kvo_object>) -> OpaquePointer = {
  KVOClass.of(ObjectHeader.type(of: $0)).cClass
}

private let describe:
  @convention(c) (UnsafePointer<kvo_object>, UnsafeMutablePointer<CChar>, Int) -> Int = {
    write(ObjectHeader.describe($0), to: $1, capacity: $2)
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

// An object may answer keys that its class does not have.
private let valueForUndefinedKey:
  @convention(c) (
    UnsafeMutablePointer<kvo_object>, OpaquePointer, UnsafePointer<CChar>,
    UnsafeMutablePointer<kvo_value>, UnsafeMutablePointer<kvo_error>?
  ) -> kvo_status = { header, _, key, value, _ in
    let answer: Any?
    do {
      answer = try KVOObject.at(header).value(forUndefinedKey: String(cString: key))
    } catch {
      return .KVO_UNDEFINED_KEY
    }
    let type = ValueType.of(Any?.self).cType
    return withUnsafePointer(to: answer) { kvo_value_init(value, type, $0) }
  }
