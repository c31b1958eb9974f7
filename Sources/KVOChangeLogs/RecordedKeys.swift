public import KVORuntime

// The keys of each class that a change log records (N1).

/// The keys that a `ChangeLog` records for the objects of a class and its subclasses.
///
/// ```swift
/// .keys(of: Company.self, \.name, \.employees)
/// .keys(of: Company.self, "name", "employees.salary", "employees.address.city")
/// ```
public struct RecordedKeys: Sendable {
  enum Key: @unchecked Sendable {
    case keyPath(AnyKeyPath)
    case string(String)
  }

  let type: KVOObject.Type
  let keys: [Key]
  let make: (@Sendable () -> KVOObject)?

  /// Selects properties by key paths. Changes are undone by the properties' own setters, including `didSet`
  /// and overrides. A to-many property is undone element by element.
  ///
  /// A key path that is not a property of the object itself is recorded like a string key path.
  ///
  /// - Parameters:
  ///   - type: The class whose objects are recorded.
  ///   - keyPaths: Properties of the class.
  ///   - make: Creates an object of the class. A log needs it to apply a transcript in which an object joins.
  public static func keys<Root: KVOObject>(
    of type: Root.Type, _ keyPaths: PartialKeyPath<Root>...,
    making make: (@Sendable () -> Root)? = nil
  ) -> RecordedKeys {
    RecordedKeys(type: type, keys: keyPaths.map { .keyPath($0) }, make: make)
  }

  /// Selects keys and key paths by strings. Changes are undone by `setValue(_:forKey:)`.
  ///
  /// A key path selects a key of each object on it: `"employees.salary"` records `employees`, and `salary` of
  /// the employees' class.
  ///
  /// - Parameters:
  ///   - type: The class whose objects are recorded.
  ///   - keyPath: A key or key path of the class.
  ///   - more: Further keys and key paths.
  ///   - make: Creates an object of the class. A log needs it to apply a transcript in which an object joins.
  public static func keys<Root: KVOObject>(
    of type: Root.Type, _ keyPath: String, _ more: String...,
    making make: (@Sendable () -> Root)? = nil
  ) -> RecordedKeys {
    RecordedKeys(type: type, keys: ([keyPath] + more).map { .string($0) }, make: make)
  }
}

/// One recorded key of a class. Immutable.
// Sendable like its property: only code that may use an object calls accessors with it.
final class RecordedKey: @unchecked Sendable {
  /// The kind of a property's values, as far as they contain objects that are recorded as well.
  enum Relation {
    case none, object, ordered, unordered
    /// Determined for each value.
    case anything
  }

  let key: String
  /// The key by which it is observed.
  let name: KeyName
  let property: Property
  /// The property's own setter, if a key path selected it.
  let setter: Accessors?
  private let isSetByKeyPath: Bool
  let relation: Relation
  let isWeak: Bool
  /// The type of the values, if they fit into a word and need no destruction.
  let wordType: ValueType?

  init(_ key: String, _ name: KeyName, _ property: Property, _ setter: Accessors?) {
    self.key = key
    self.name = name
    self.property = property
    self.setter = setter
    isSetByKeyPath = setter?.isWritable ?? false
    relation = Relation(property.observedType)
    isWeak = property.storage?.form == .weak
    wordType = property.observedType.wordType == nil ? nil : property.observedType
  }

  /// Whether it can be set as a whole.
  var isWritable: Bool { setter?.isWritable ?? property.isWritable }

  /// The type of the values that are recorded.
  var valueType: Any.Type { property.observedType.swiftType }

  /// Whether nil and `.some(nil)` are different values of the key, or of its elements.
  var hasNestedOptional: Bool {
    let type = property.observedType
    return [type, type.shape?.element].contains { isNestedOptional($0?.swiftType) }
  }

  private func isNestedOptional(_ type: Any.Type?) -> Bool {
    guard let type else { return false }
    return unwrapped(type) is any OptionalType.Type
  }

  /// Sets the key of an object by its own setter or by key-value coding.
  func set(_ value: Any?, of object: KVOObject) throws {
    guard let setter, isSetByKeyPath else { return try object.setValue(value, forKey: key) }
    try property.setValue(value, of: object, by: setter)
  }

  /// Converts a collection whose element type was lost to the key's own type.
  func typed(_ value: Any?) -> Any? {
    guard case .value(let converted) = property.observedType.convert(value) else { return value }
    func unbox<Value>(_ type: Value.Type) -> Any { converted.unbox(as: type) }
    return flattened(_openExistential(valueType, do: unbox))
  }

  /// The objects that a value brings into the graph, in the value's order.
  func objects(in value: Any?) -> [KVOObject] { isWeak ? [] : references(in: value) }

  /// The objects in a value, in the value's order.
  func references(in value: Any?) -> [KVOObject] {
    guard let value, relation != .none else { return [] }
    if let object = objectCast(value, to: KVOObject.self) { return [object] }
    if let elements = anyArray(value) {
      return elements.compactMap { objectCast($0, to: KVOObject.self) }
    }
    if let members = anySet(value) {
      return members.compactMap { objectCast($0.base, to: KVOObject.self) }
    }
    return []
  }
}

extension RecordedKey.Relation {
  fileprivate init(_ type: ValueType) {
    let single = unwrapped(type.swiftType)
    if single is KVOObject.Type {
      self = .object
    } else if let shape = type.shape {
      guard Self.holdsObjects(unwrapped(shape.element.swiftType)) else {
        self = .none
        return
      }
      self = shape.kind == .KVO_SET ? .unordered : .ordered
    } else {
      self = Self.holdsObjects(single) ? .anything : .none
    }
  }

  // A value of an existential type, and what an `AnyHashable` contains, may be an object.
  private static func holdsObjects(_ type: Any.Type) -> Bool {
    type is KVOObject.Type || type == AnyHashable.self || ValueType.isExistential(type)
  }
}

/// The recorded keys of one class. If the class could not be recorded, it has no keys and stores the error.
final class RecordedClass: Sendable {
  let type: KVOObject.Type
  let keys: [RecordedKey]
  let error: KeyValueError?

  init(_ type: KVOObject.Type, _ keys: [RecordedKey], _ error: KeyValueError? = nil) {
    self.type = type
    self.keys = keys
    self.error = error
  }
}

/// The recorded keys of all classes. Each class is resolved when its first object joins.
final class RecordedSelection: Sendable {
  private struct Chosen {
    let type: KVOObject.Type
    let key: RecordedKeys.Key
  }

  private let chosen: [Chosen]
  private let makers: [(type: KVOObject.Type, make: @Sendable () -> KVOObject)]
  private let classes = LockedValue<[ObjectIdentifier: RecordedClass]>([:])

  init(_ keys: [RecordedKeys]) throws {
    chosen = try keys.flatMap { keys in try keys.keys.flatMap { try Self.steps($0, of: keys.type) }
    }
    makers = keys.compactMap { keys in keys.make.map { (keys.type, $0) } }
  }

  // A key path selects a key of each class on it.
  private static func steps(_ key: RecordedKeys.Key, of type: KVOObject.Type) throws -> [Chosen] {
    switch key {
    case .keyPath(let keyPath):
      guard let path = KVOClass.of(type).spelling(of: keyPath), path.contains(".") else {
        return [Chosen(type: type, key: key)]
      }
      return try steps(along: path, of: type)
    case .string(let path): return try steps(along: path, of: type)
    }
  }

  private static func steps(along path: String, of type: KVOObject.Type) throws -> [Chosen] {
    var steps: [Chosen] = []
    var type: KVOObject.Type? = type
    for key in path.split(separator: ".", omittingEmptySubsequences: false).map(String.init) {
      guard let owner = type else {
        throw KeyValueError.invalidKeyPath(
          keyPath: path, component: key, className: className(of: steps[0].type))
      }
      guard let property = KVOClass.of(owner).property(key) else {
        throw KeyValueError.undefinedKey(key: key, className: className(of: owner))
      }
      steps.append(Chosen(type: owner, key: .string(key)))
      type = elementClass(of: property.observedType)
    }
    return steps
  }

  private static func elementClass(of type: ValueType) -> KVOObject.Type? {
    let type = type.shape?.element.swiftType ?? type.swiftType
    return unwrapped(type) as? KVOObject.Type
  }

  /// The recorded keys of an object's class.
  func recordedClass(of object: KVOObject) -> RecordedClass {
    let type = Swift.type(of: object)
    let id = ObjectIdentifier(type)
    if let known = classes.withLock({ $0[id] }) { return known }
    let made = resolve(object, type)
    return classes.withLock { classes in
      if let known = classes[id] { return known }
      classes[id] = made
      return made
    }
  }

  /// The class with that name whose keys were selected, or of which an object has joined.
  func type(named name: String) -> KVOObject.Type? {
    chosen.first { className(of: $0.type) == name }?.type
      ?? makers.first { className(of: $0.type) == name }?.type
      ?? classes.withLock { $0.values.first { className(of: $0.type) == name }?.type }
  }

  /// Creates an object of exactly the class with that name.
  func make(_ name: String) throws -> KVOObject {
    guard let maker = makers.first(where: { className(of: $0.type) == name }) else {
      throw ChangeLogError.cannotMake(className: name)
    }
    return maker.make()
  }

  private func resolve(_ object: KVOObject, _ type: KVOObject.Type) -> RecordedClass {
    var keys: [RecordedKey] = []
    do {
      for chosen in chosen where type.isSubclass(of: chosen.type) {
        let key = try resolve(chosen.key, of: object)
        if !keys.contains(where: { $0.name === key.name }) { keys.append(key) }
      }
    } catch {
      return RecordedClass(type, [], error as? KeyValueError)
    }
    return RecordedClass(type, keys)
  }

  private func resolve(_ key: RecordedKeys.Key, of object: KVOObject) throws -> RecordedKey {
    let known = KVOClass.of(object)
    switch key {
    case .string(let key):
      guard let property = known.property(key) else {
        throw KeyValueError.undefinedKey(key: key, className: known.name)
      }
      return try checked(
        RecordedKey(key, property.name, object.observable(property, in: known), nil), known)
    case .keyPath(let keyPath):
      // A leased key is no property's.
      guard let name = object.knownKey(of: keyPath)?.name,
        let property = known.property(name.string)
      else {
        throw KeyValueError.notObservable(
          key: keyPath.text, className: known.name,
          reason: """
            a computed value is not a key that can be recorded and set again. Record the properties that it is computed from, \
            or declare it in registerKeys(), or by @KVO.
            """)
      }
      return try checked(RecordedKey(name.string, name, property, .keyPath(keyPath)), known)
    }
  }

  private func checked(_ key: RecordedKey, _ known: KVOClass) throws -> RecordedKey {
    guard key.isWritable || key.relation != .none || key.property.observedType.shape != nil else {
      throw KeyValueError.readOnly(key: key.key, className: known.name)
    }
    if key.hasNestedOptional {
      throw KeyValueError.notObservable(
        key: key.key, className: known.name,
        reason: """
          a change log can't restore values of type \(swiftName(of: key.valueType)), because key-value coding does not \
          tell nil from .some(nil). Give it a type with one optional.
          """)
    }
    return key
  }
}
