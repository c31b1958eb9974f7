// Which keys of which classes a change log records (N1).

/// The keys that a `ChangeLog` records of the objects of one class and its subclasses.
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

  /// Properties by key paths, which are undone by their setters, `didSet` and overrides included; of to-many ones the
  /// elements one by one. What is no property of the object itself is recorded as it is by a string.
  ///
  /// - Parameters:
  ///   - type: the class whose objects are recorded.
  ///   - keyPaths: which of its properties.
  ///   - make: makes an object of the class, for logs that apply a transcript in which one joins.
  public static func keys<Root: KVOObject>(
    of type: Root.Type, _ keyPaths: PartialKeyPath<Root>...,
    making make: (@Sendable () -> Root)? = nil
  ) -> RecordedKeys {
    RecordedKeys(type: type, keys: keyPaths.map { .keyPath($0) }, make: make)
  }

  /// Keys and key paths, which are undone by `setValue(_:forKey:)`. A key path stands for a key of each object on
  /// it: `"employees.salary"` records `employees`, and `salary` of the employees' class.
  ///
  /// - Parameters:
  ///   - type: the class whose objects are recorded.
  ///   - keyPath: a key or key path of it.
  ///   - more: others.
  ///   - make: makes an object of the class, for logs that apply a transcript in which one joins.
  public static func keys<Root: KVOObject>(
    of type: Root.Type, _ keyPath: String, _ more: String...,
    making make: (@Sendable () -> Root)? = nil
  ) -> RecordedKeys {
    RecordedKeys(type: type, keys: ([keyPath] + more).map { .string($0) }, make: make)
  }
}

/// One recorded key of a class. Immutable.
// Sendable as its property is: accessors are called with an object only by code that may use it.
final class RecordedKey: @unchecked Sendable {
  /// What the values of a property may hold that is recorded in its turn.
  enum Relation {
    case none, object, ordered, unordered
    /// Known by looking at each value.
    case anything
  }

  let key: String
  /// What it is observed by.
  let name: KeyName
  let property: Property
  /// The property's own setter, where it was chosen by a key path.
  let setter: Accessors?
  let relation: Relation
  let isWeak: Bool

  init(_ key: String, _ name: KeyName, _ property: Property, _ setter: Accessors?) {
    self.key = key
    self.name = name
    self.property = property
    self.setter = setter
    relation = Relation(property.observedType)
    isWeak = property.storage?.form == .weak
  }

  /// The type of the values that are recorded.
  var valueType: Any.Type { property.observedType.swiftType }

  /// Sets the key of an object by its own setter, or by key-value coding.
  func set(_ value: Any?, of object: KVOObject) throws {
    guard let setter, setter.isWritable else { return try object.setValue(value, forKey: key) }
    try property.setValue(value, of: object, by: setter)
  }

  /// A value, of whose elements the type was lost, as one of the key's own type.
  func typed(_ value: Any?) -> Any? {
    guard case .value(let converted) = property.observedType.convert(value) else { return value }
    func unbox<Value>(_ type: Value.Type) -> Any { converted.unbox(as: type) }
    return flattened(_openExistential(valueType, do: unbox))
  }

  /// The objects that a value brings into the graph, in its order.
  func objects(in value: Any?) -> [KVOObject] { isWeak ? [] : references(in: value) }

  /// The objects in a value, in its order.
  func references(in value: Any?) -> [KVOObject] {
    guard let value, relation != .none else { return [] }
    if let object = value as? KVOObject { return [object] }
    if let elements = anyArray(value) { return elements.compactMap { $0 as? KVOObject } }
    if let members = anySet(value) {
      return members.compactMap { $0.base as? KVOObject }
    }
    return []
  }
}

extension RecordedKey.Relation {
  fileprivate init(_ type: ValueType) {
    let single = Self.wrapped(type.swiftType)
    if single is KVOObject.Type {
      self = .object
    } else if let shape = type.shape {
      guard Self.holdsObjects(Self.wrapped(shape.element.swiftType)) else {
        self = .none
        return
      }
      self = shape.kind == .KVO_SET ? .unordered : .ordered
    } else {
      self = Self.holdsObjects(single) ? .anything : .none
    }
  }

  private static func wrapped(_ type: Any.Type) -> Any.Type {
    (type as? any OptionalType.Type)?.wrappedType ?? type
  }

  // Existentials: any of them may be an object.
  private static func holdsObjects(_ type: Any.Type) -> Bool {
    type is KVOObject.Type || ValueType.isExistential(type)
  }
}

/// The recorded keys of one class. Of an error it has none, and the error.
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

/// What a log records: asked for each class when its first object comes.
final class RecordedSelection: Sendable {
  private struct Chosen {
    let type: KVOObject.Type
    let key: RecordedKeys.Key
  }

  private let chosen: [Chosen]
  private let makers: [(type: KVOObject.Type, make: @Sendable () -> KVOObject)]
  private let classes = Locked<[ObjectIdentifier: RecordedClass]>([:])

  init(_ keys: [RecordedKeys]) throws {
    chosen = try keys.flatMap { keys in try keys.keys.flatMap { try Self.steps($0, of: keys.type) }
    }
    makers = keys.compactMap { keys in keys.make.map { (keys.type, $0) } }
  }

  // A key path is a key of each class on it.
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
    return ((type as? any OptionalType.Type)?.wrappedType ?? type) as? KVOObject.Type
  }

  /// What is recorded of an object.
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

  /// The class that has been met under a name, or whose keys were chosen.
  func type(named name: String) -> KVOObject.Type? {
    chosen.first { className(of: $0.type) == name }?.type
      ?? makers.first { className(of: $0.type) == name }?.type
      ?? classes.withLock { $0.values.first { className(of: $0.type) == name }?.type }
  }

  /// A new object of just the class of that name.
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
      guard let name = object.knownKeyName(of: keyPath), let property = known.property(name.string)
      else {
        throw KeyValueError.notObservable(
          key: keyPath.text, className: known.name,
          reason: """
            what is computed is no key of it that can be recorded and set again. Record what it is computed of, \
            or declare it in registerKeys(), or by @KVO.
            """)
      }
      return try checked(RecordedKey(name.string, name, property, .keyPath(keyPath)), known)
    }
  }

  private func checked(_ key: RecordedKey, _ known: KVOClass) throws -> RecordedKey {
    let isSet = key.setter?.isWritable ?? key.property.isWritable
    guard isSet || key.relation != .none || key.property.observedType.shape != nil else {
      throw KeyValueError.readOnly(key: key.key, className: known.name)
    }
    return key
  }
}
