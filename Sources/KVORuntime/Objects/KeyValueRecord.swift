public import CKVORuntime

/// The root class of objects whose keys are data and whose values the runtime stores: settings, rows of a
/// table, cells of a spreadsheet.
///
/// ```swift
/// class Settings: KeyValueRecord {
///   override class func registerKeys() {
///     declareKeys { keys in
///       for name in settingNames { keys.value(name, 0.5) }
///     }
///   }
/// }
///
/// let volume = try KeyValueKey<Settings, Double>("volume")
/// let token = settings.observe(key: volume, options: .new) { _, change in print(change.newValue!) }
/// settings[volume] = 0.7
/// ```
///
/// An object has a value for each key that its class and superclasses declare in `registerKeys`, initially
/// the declared one. These keys work like any others: key-value coding reads and sets them, they are observed
/// by string, key and key path, and other keys may affect them. Setting one costs as much as setting an
/// `@Observed` property.
///
/// All values are in one block of memory, which an object allocates when it is created. As with stored
/// properties, threads may set different keys of one object at a time, but not the same key.
open class KeyValueRecord: KVOObject {
  // The first word is not 0 if a subclass may have redeclared a key of its superclass. The values follow, in
  // the order of the class's layout. The object owns the memory until it dies.
  @usableFromInline final let values: UnsafeMutableRawPointer

  /// Creates an object whose keys have their declared values.
  ///
  /// - Complexity: O(*n*) in the number of keys.
  override public init() {
    values = RecordLayout.of(type(of: self)).makeValues()
    super.init()
  }

  deinit {
    RecordLayout.of(type(of: self)).end(values)
  }
}

extension KeyDeclarations where Root: KeyValueRecord {
  /// Declares a key whose value the runtime stores, with its initial value. Call it in `registerKeys` only.
  ///
  /// Once the class is in use, objects may exist that have no room for the value. A later declaration is
  /// reported as misuse and ignored.
  ///
  /// ```swift
  /// for name in names { keys.value(name, 0.0) }
  /// ```
  public mutating func value<Value>(_ key: String, _ initial: Value) {
    accessors[key] = TypedStoredValue<Value>(initial)
  }
}

extension KeyValueObserving where Self: KeyValueRecord {
  /// Accesses the value of a key. Setting it notifies the key's observers once.
  ///
  /// If a subclass declares accessors for the key, they are called. An accessor that throws stops the
  /// program; use `value(for:)` and `setValue(_:for:)` for such a key.
  ///
  /// - Complexity: O(1). Changing a collection in place copies it, since it is read, changed and set.
  @inlinable
  public subscript<Value>(key: KeyValueKey<Self, Value>) -> Value {
    get {
      if let address = address(of: key.slot) {
        if _slowPath(kvo_is_recording()) { reportRead(key.interned) }
        return address.assumingMemoryBound(to: Value.self).pointee
      }
      return declaredValue(for: key)
    }
    set {
      guard let address = address(of: key.slot) else {
        setDeclaredValue(newValue, for: key)
        return
      }
      let header = headerAddress(of: self)
      let change =
        _slowPath(kvo_binding_is_observed(header))
        ? kvo_stored_property_will_change_key(header, key.interned) : nil
      address.assumingMemoryBound(to: Value.self).pointee = newValue
      withExtendedLifetime(self) {
        if let change {
          kvo_stored_property_did_change_key(change, key.interned)
        } else if _slowPath(kvo_binding_came_to_be_observed(header)) {
          kvo_stored_property_notify_late_observers_key(header, key.interned)
        }
      }
    }
  }

  @usableFromInline
  func declaredValue<Value>(for key: KeyValueKey<Self, Value>) -> Value {
    do { return try value(for: key) } catch { KVODiagnostics.stop("\(error)") }
  }

  @usableFromInline
  func setDeclaredValue<Value>(_ value: Value, for key: KeyValueKey<Self, Value>) {
    do { try setValue(value, for: key) } catch { KVODiagnostics.stop("\(error)") }
  }
}

extension KeyValueRecord {
  /// The address of a key's value. It is nil if the key has no stored value, or if the class has redeclared
  /// any key.
  @inlinable @inline(__always)
  final func address(of slot: Int) -> UnsafeMutableRawPointer? {
    let isPlain = values.load(as: UInt.self) == 0
    return _fastPath(slot != 0 && isPlain) ? values + slot : nil
  }
}

// MARK: Layout

/// A key whose value the runtime stores; the base class without the value's type.
class StoredValue: Accessors {
  /// The offset from the start of the values; 0 until the class is laid out. Protected by `KVOClass.lock`
  /// until then.
  fileprivate(set) var offset = 0

  override final var isWritable: Bool { true }

  fileprivate var size: Int { 0 }
  fileprivate var alignment: Int { 1 }
  fileprivate func initialize(_ values: UnsafeMutableRawPointer) {}
  fileprivate func deinitialize(_ values: UnsafeMutableRawPointer) {}
}

private final class TypedStoredValue<Value>: StoredValue {
  private let initial: Value

  init(_ initial: Value) {
    self.initial = initial
    super.init(type: .of(Value.self), keyPath: nil, .accessors)
  }

  override var size: Int { MemoryLayout<Value>.size }
  override var alignment: Int { MemoryLayout<Value>.alignment }

  override func initialize(_ values: UnsafeMutableRawPointer) {
    at(values).initialize(to: initial)
  }

  override func deinitialize(_ values: UnsafeMutableRawPointer) {
    at(values).deinitialize(count: 1)
  }

  override func evaluate(_ object: KVOObject) {}

  override func value(of object: KVOObject) throws -> Any { address(object).pointee }

  override func set(_ value: ConvertedValue, of object: KVOObject) throws {
    address(object).pointee = value.unbox(as: Value.self)
  }

  override func read(_ object: KVOObject, into value: UnsafeMutablePointer<kvo_value>) throws {
    _ = kvo_value_init(value, type.cType, address(object))
  }

  private func at(_ values: UnsafeMutableRawPointer) -> UnsafeMutablePointer<Value> {
    (values + offset).assumingMemoryBound(to: Value.self)
  }

  // Safe, because a declaration reaches only objects of the declaring class and its subclasses.
  private func address(_ object: KVOObject) -> UnsafeMutablePointer<Value> {
    at(unsafeDowncast(object, to: KeyValueRecord.self).values)
  }
}

/// The memory layout of the values of a class's objects. Immutable, and kept forever like its class.
final class RecordLayout: @unchecked Sendable {
  // For each value, the declaration of the most derived class, which has the initial value.
  private let places: [StoredValue]
  private let size: Int
  private let alignment: Int
  private let isPlain: Bool

  private static let none = RecordLayout(places: [], size: 8, alignment: 8, isPlain: true)

  private init(places: [StoredValue], size: Int, alignment: Int, isPlain: Bool) {
    self.places = places
    self.size = size
    self.alignment = alignment
    self.isPlain = isPlain
  }

  /// Extends a superclass's layout by a class's declarations. The caller holds `KVOClass.lock`.
  static func make(
    _ inherited: RecordLayout?, _ declared: [String: Accessors],
    _ inheritedAccessors: (String) -> Accessors?
  ) -> RecordLayout {
    let inherited = inherited ?? none
    var (places, size) = (inherited.places, inherited.size)
    var (alignment, isPlain) = (inherited.alignment, inherited.isPlain)
    let indices = Dictionary(uniqueKeysWithValues: places.enumerated().map { ($1.offset, $0) })
    for (key, accessors) in declared.sorted(by: { $0.key < $1.key }) {
      let earlier = inheritedAccessors(key) as? StoredValue
      guard let value = accessors as? StoredValue else {
        if earlier != nil { isPlain = false }
        continue
      }
      if let earlier, earlier.type === value.type, let place = indices[earlier.offset] {
        value.offset = earlier.offset
        places[place] = value
      } else {
        if earlier != nil { isPlain = false }
        // A zero-sized value takes a byte, so that no two values share an offset.
        value.offset = (size + value.alignment - 1) / value.alignment * value.alignment
        size = value.offset + max(value.size, 1)
        alignment = max(alignment, value.alignment)
        places.append(value)
      }
    }
    return RecordLayout(places: places, size: size, alignment: alignment, isPlain: isPlain)
  }

  static func of(_ type: KeyValueRecord.Type) -> RecordLayout {
    let known = KVOClass.of(type)
    guard let layout = known.layout else {
      KVODiagnostics.stop("A \(known.name) can't be made while its class declares its keys.")
    }
    return layout
  }

  func makeValues() -> UnsafeMutableRawPointer {
    let values = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: alignment)
    values.storeBytes(of: isPlain ? 0 : 1, as: UInt.self)
    for place in places { place.initialize(values) }
    return values
  }

  func end(_ values: UnsafeMutableRawPointer) {
    for place in places { place.deinitialize(values) }
    values.deallocate()
  }
}
