internal import CKVORuntime
internal import CSwiftRuntime

/// The collection behind an `ObservedArray` or `ObservedSet`: a free one, or an object's property. Each
/// change of a property is announced before it is made, and observers are notified afterwards.
///
/// A property is changed in place, so that adding an element copies nothing. That needs its address: a key
/// path would read the collection, change the copy, and set it. The storage is accessed after the
/// announcement and before the notification, so that observers may read the property in both.
protocol CollectionHandle<Contents>: AnyObject {
  associatedtype Contents

  /// The current contents.
  var contents: Contents { get }

  /// Changes elements at indexes of an ordered collection.
  func change<R>(
    _ kind: KeyValueChange, at indexes: @autoclosure () -> RangeSet<Int>,
    _ body: (inout Contents) -> R
  ) -> R

  /// Changes elements at indexes of an ordered collection by a mutation that is worked out from them.
  /// - Parameter again: works the mutation out again. It is called if prior observers have changed the elements.
  func change<R>(
    _ kind: KeyValueChange, at indexes: @autoclosure () -> RangeSet<Int>,
    again: () throws -> Void, _ body: (inout Contents) -> R
  ) rethrows -> R

  /// Changes a set by an operation with these members.
  /// - Parameters:
  ///   - goes: the members that are removed, unless a setter of the program keeps them; nil if the operation removes none.
  ///   - comes: the members that are inserted, unless a setter drops them; nil if the operation inserts none.
  func change<R>(
    _ mutation: KeyValueSetMutation, _ members: @autoclosure () -> Contents,
    goes: @autoclosure () -> Contents?, comes: @autoclosure () -> Contents?,
    _ body: (inout Contents) -> R
  ) -> R

  /// Replaces all contents: a change of kind setting.
  func set(_ contents: Contents)

  /// Accesses the storage without changing the contents.
  func prepare(_ body: (inout Contents) -> Void)

  /// A phrase that names the collection in messages.
  var owner: String { get }
}

/// A collection that belongs to no object.
final class FreeCollection<Contents>: CollectionHandle {
  private(set) var contents: Contents
  let owner = "the array"

  init(_ contents: Contents) { self.contents = contents }

  func change<R>(
    _ kind: KeyValueChange, at indexes: @autoclosure () -> RangeSet<Int>,
    _ body: (inout Contents) -> R
  ) -> R { body(&contents) }

  func change<R>(
    _ kind: KeyValueChange, at indexes: @autoclosure () -> RangeSet<Int>,
    again: () throws -> Void, _ body: (inout Contents) -> R
  ) rethrows -> R { body(&contents) }

  func change<R>(
    _ mutation: KeyValueSetMutation, _ members: @autoclosure () -> Contents,
    goes: @autoclosure () -> Contents?, comes: @autoclosure () -> Contents?,
    _ body: (inout Contents) -> R
  ) -> R { body(&contents) }

  func set(_ contents: Contents) { self.contents = contents }

  func prepare(_ body: (inout Contents) -> Void) { body(&contents) }
}

/// A collection that is stored in a property of an object.
class PropertyCollection<Root: KVOObject, Stored> {
  private let object: Root
  private let keyPath: ReferenceWritableKeyPath<Root, Stored>
  private let key: ObservedKey
  private final var name: KeyName { key.name }
  /// Whether the key path names a key of the class. For others (computed, or over several objects), the key
  /// path is set, and the properties that this changes notify observers.
  private let isKey: Bool
  /// The address of the property in the object, which `object` retains; nil if accessors must be used.
  private let storage: UnsafeMutablePointer<Stored>?

  init(_ object: Root, _ keyPath: ReferenceWritableKeyPath<Root, Stored>) {
    self.object = object
    self.keyPath = keyPath
    key = object.observedKey(of: keyPath)
    let property = KVOClass.of(object).property(key.name.string)
    isKey = property != nil
    storage = property?.storage(in: object, as: Stored.self)
  }

  final var isInPlace: Bool { storage != nil }

  final var owner: String { "\"\(name.string)\" of \(className(of: type(of: object)))" }

  /// The property's value. Recorded reads go through the property itself, so that they are recorded.
  final var stored: Stored {
    guard let storage, !kvo_is_recording() else { return object[keyPath: keyPath] }
    kvo_swift_check_access(storage, false)
    return storage.pointee
  }

  final func change<R>(
    _ part: @autoclosure () -> ToManyChange, _ body: (inout Stored) -> R
  ) -> R { announcing(part(), isObserved: isObserved) { _ in access(body) } }

  // Whether the object is observed is asked only once: another thread may register an observer.
  final func changeElements<R>(
    _ kind: KeyValueChange, at indexes: @autoclosure () -> RangeSet<Int>,
    again: () throws -> Void, _ body: (inout Stored) -> R
  ) rethrows -> R {
    let isObserved = isObserved
    if isObserved, !isInPlace {
      return try set(.elements(kind, indexes(), isExact: false), again, body)
    }
    return try announcing(
      .elements(kind, indexes(), isExact: isInPlace), isObserved: isObserved
    ) { open in
      if open.becameSetting { try again() }
      return access(body)
    }
  }

  private var isObserved: Bool { isKey && kvo_binding_is_observed(object.header) }

  private func announcing<R>(
    _ part: @autoclosure () -> ToManyChange, isObserved: Bool, _ body: (OpenChange) throws -> R
  ) rethrows -> R {
    // An overlapping access stops the program, before observers are called.
    if isObserved, let storage { kvo_swift_check_access(storage, false) }
    let frame = isObserved ? part().announce(object.header, name) : nil
    defer { if isKey { closeChange(frame, of: object.header, name) } }
    return try body(OpenChange(frame))
  }

  // A setter of the program may store other elements than it is passed: then the change is a setting. Prior calls may
  // change the collection, so its old value is read before them.
  private func set<R>(
    _ part: @autoclosure () -> ToManyChange, _ again: () throws -> Void,
    _ body: (inout Stored) -> R
  ) rethrows -> R {
    let before = object[keyPath: keyPath]
    return try announcing(part(), isObserved: true) { open in
      if open.becameSetting { try again() }
      return set(body, before, isFirst: open.isFirst)
    }
  }

  private func set<R>(_ body: (inout Stored) -> R, _ before: Stored, isFirst: Bool) -> R {
    var passed = object[keyPath: keyPath]
    let result = body(&passed)
    object[keyPath: keyPath] = passed
    if !hasElements(object[keyPath: keyPath], passed: passed) {
      makeSetting(object, name, old: .of(before), isFirst: isFirst)
    }
    return result
  }

  // The old value is released after the access to the storage, since its deinit may use the property.
  fileprivate final func exchange(for new: Stored) {
    _ = change(.whole) { stored in
      let replaced = stored
      stored = new
      return replaced
    }
  }

  fileprivate final func access<R>(_ body: (inout Stored) -> R) -> R {
    guard let storage else { return body(&object[keyPath: keyPath]) }
    var record = kvo_swift_access()
    return withUnsafeMutablePointer(to: &record) { record in
      kvo_swift_begin_modify(storage, record)
      defer { kvo_swift_end_modify(record) }
      return body(&storage.pointee)
    }
  }
}

/// A property that is the collection itself.
final class WholeProperty<Root: KVOObject, Contents>:
  PropertyCollection<Root, Contents>, CollectionHandle
{
  var contents: Contents { stored }

  func change<R>(
    _ kind: KeyValueChange, at indexes: @autoclosure () -> RangeSet<Int>,
    _ body: (inout Contents) -> R
  ) -> R { changeElements(kind, at: indexes(), again: {}, body) }

  func change<R>(
    _ kind: KeyValueChange, at indexes: @autoclosure () -> RangeSet<Int>,
    again: () throws -> Void, _ body: (inout Contents) -> R
  ) rethrows -> R { try changeElements(kind, at: indexes(), again: again, body) }

  func change<R>(
    _ mutation: KeyValueSetMutation, _ members: @autoclosure () -> Contents,
    goes: @autoclosure () -> Contents?, comes: @autoclosure () -> Contents?,
    _ body: (inout Contents) -> R
  ) -> R {
    func part() -> ToManyChange {
      guard isInPlace else { return .mutation(mutation, .of(members())) }
      return .members(
        mutation.kind, goes: goes().map { .of($0) }, comes: comes().map { .of($0) })
    }
    return change(part(), body)
  }

  func set(_ contents: Contents) { exchange(for: contents) }

  func prepare(_ body: (inout Contents) -> Void) { access(body) }
}

/// A property that holds an optional collection. Nil reads as an empty collection, and is replaced by a
/// collection at the first insertion.
final class OptionalProperty<Root: KVOObject, Contents: Collection>:
  PropertyCollection<Root, Contents?>, CollectionHandle
{
  private let empty: Contents

  init(
    _ object: Root, _ keyPath: ReferenceWritableKeyPath<Root, Contents?>, empty: Contents
  ) {
    self.empty = empty
    super.init(object, keyPath)
  }

  var contents: Contents { stored ?? empty }

  func change<R>(
    _ kind: KeyValueChange, at indexes: @autoclosure () -> RangeSet<Int>,
    _ body: (inout Contents) -> R
  ) -> R {
    changeElements(kind, at: indexes(), again: {}, { $0.update(empty, body) })
  }

  func change<R>(
    _ kind: KeyValueChange, at indexes: @autoclosure () -> RangeSet<Int>,
    again: () throws -> Void, _ body: (inout Contents) -> R
  ) rethrows -> R {
    try changeElements(kind, at: indexes(), again: again) { $0.update(empty, body) }
  }

  func change<R>(
    _ mutation: KeyValueSetMutation, _ members: @autoclosure () -> Contents,
    goes: @autoclosure () -> Contents?, comes: @autoclosure () -> Contents?,
    _ body: (inout Contents) -> R
  ) -> R {
    func part() -> ToManyChange {
      guard isInPlace else { return .mutation(mutation, .of(Optional(members()))) }
      return .members(
        mutation.kind, goes: goes().map { .of(Optional($0)) },
        comes: comes().map { .of(Optional($0)) })
    }
    return change(part()) { $0.update(empty, body) }
  }

  func set(_ contents: Contents) { exchange(for: contents) }

  func prepare(_ body: (inout Contents) -> Void) { access { $0.update(empty, body) } }
}

extension Optional where Wrapped: Collection {
  /// Changes the collection. Nil is treated as `empty`, and stays nil if the result is empty.
  mutating func update<R>(
    _ empty: Wrapped, _ body: (inout Wrapped) throws -> R
  ) rethrows -> R {
    let wasNil = self == nil
    var contents = take() ?? empty
    defer { self = wasNil && contents.isEmpty ? nil : contents }
    return try body(&contents)
  }
}

extension Property {
  /// The address of the property, if it has that type and nothing but its storage defines the key's value.
  fileprivate func storage<Stored>(
    in object: KVOObject, as type: Stored.Type
  ) -> UnsafeMutablePointer<Stored>? {
    guard accessors == nil, override == nil, let observedStorage,
      observedStorage.type.swiftType == type
    else { return nil }
    return (object.address + observedStorage.offset).assumingMemoryBound(to: type)
  }
}
