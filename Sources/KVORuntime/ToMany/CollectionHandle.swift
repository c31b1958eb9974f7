internal import CKVORuntime
internal import CSwiftRuntime

/// What an `ObservedArray` or `ObservedSet` stands for: a collection by itself, or an object's
/// property, of which every change is announced before it is made and told afterwards.
///
/// A property is changed where it lies, so that adding an element copies nothing. That takes its
/// address: a key path would read the whole, change the copy and set it. Announcing comes before
/// the access to the storage and telling after it, so that observers may read the property in both.
protocol CollectionHandle<Contents>: AnyObject {
  associatedtype Contents

  /// What there is now.
  var contents: Contents { get }

  /// Changes elements at indexes of an ordered collection.
  func change<R>(
    _ kind: KeyValueChange, at indexes: @autoclosure () -> RangeSet<Int>,
    _ body: (inout Contents) -> R
  ) -> R

  /// Changes members of a set, of which some go and some come.
  func change<R>(
    _ kind: KeyValueChange, goes: @autoclosure () -> Contents?,
    comes: @autoclosure () -> Contents?, _ body: (inout Contents) -> R
  ) -> R

  /// Puts other contents in place of all: a setting.
  func set(_ contents: Contents)

  /// Touches the storage without changing the contents.
  func prepare(_ body: (inout Contents) -> Void)

  /// Whose collection it is, for messages.
  var owner: String { get }
}

/// A collection that belongs to nobody else.
final class FreeCollection<Contents>: CollectionHandle {
  private(set) var contents: Contents
  let owner = "the array"

  init(_ contents: Contents) { self.contents = contents }

  func change<R>(
    _ kind: KeyValueChange, at indexes: @autoclosure () -> RangeSet<Int>,
    _ body: (inout Contents) -> R
  ) -> R { body(&contents) }

  func change<R>(
    _ kind: KeyValueChange, goes: @autoclosure () -> Contents?,
    comes: @autoclosure () -> Contents?, _ body: (inout Contents) -> R
  ) -> R { body(&contents) }

  func set(_ contents: Contents) { self.contents = contents }

  func prepare(_ body: (inout Contents) -> Void) { body(&contents) }
}

/// The collection in a property of an object.
class PropertyCollection<Root: KVOObject, Stored> {
  private let object: Root
  private let keyPath: ReferenceWritableKeyPath<Root, Stored>
  private let key: ObservedKey
  private final var name: KeyName { key.name }
  /// Whether the key path names a key. Another one, computed or over several objects, is set, and
  /// whatever that changes is told.
  private let isKey: Bool
  /// Where it lies in the object, which this keeps alive; nil where accessors stand before it.
  private let storage: UnsafeMutablePointer<Stored>?

  init(_ object: Root, _ keyPath: ReferenceWritableKeyPath<Root, Stored>) {
    self.object = object
    self.keyPath = keyPath
    key = object.observedKey(of: keyPath)
    let property = KVOClass.of(object).property(key.name.string)
    isKey = property != nil
    storage = property?.storage(in: object, as: Stored.self)
  }

  final var owner: String { "\"\(name.string)\" of \(className(of: type(of: object)))" }

  /// The property as a getter gives it. Recorded reads must pass by the property itself.
  final var stored: Stored {
    guard let storage, !kvo_is_recording() else { return object[keyPath: keyPath] }
    kvo_swift_check_access(storage, false)
    return storage.pointee
  }

  final func change<R>(
    _ part: @autoclosure () -> Part<Stored>, _ body: (inout Stored) -> R
  ) -> R {
    let isTold = isKey && kvo_binding_is_observed(object.header)
    let frame = isTold ? part().announce(object.header, name) : nil
    defer { if isKey { closeChange(frame, of: object.header, name) } }
    return access(body)
  }

  // What goes ends after the access to the storage: its deinit may use the property.
  fileprivate final func exchange(for new: Stored) {
    _ = change(.whole) { stored in
      let replaced = stored
      stored = new
      return replaced
    }
  }

  fileprivate final func access<R>(_ body: (inout Stored) -> R) -> R {
    guard let storage else { return body(&object[keyPath: keyPath]) }
    if Hint.areWanted { hintAtCodePassedBy() }
    var record = kvo_swift_access()
    return withUnsafeMutablePointer(to: &record) { record in
      kvo_swift_begin_modify(storage, record)
      defer { kvo_swift_end_modify(record) }
      return body(&storage.pointee)
    }
  }
}

extension PropertyCollection {
  @inline(never)
  private func hintAtCodePassedBy() {
    KVOClass.of(object).property(key.name.string)?.hintAtCodePassedBy(.byHandle, of: object)
  }
}

/// A property that is the collection.
final class WholeProperty<Root: KVOObject, Contents>:
  PropertyCollection<Root, Contents>, CollectionHandle
{
  var contents: Contents { stored }

  func change<R>(
    _ kind: KeyValueChange, at indexes: @autoclosure () -> RangeSet<Int>,
    _ body: (inout Contents) -> R
  ) -> R { change(.elements(kind, indexes()), body) }

  func change<R>(
    _ kind: KeyValueChange, goes: @autoclosure () -> Contents?,
    comes: @autoclosure () -> Contents?, _ body: (inout Contents) -> R
  ) -> R { change(.members(kind, goes: goes(), comes: comes()), body) }

  func set(_ contents: Contents) { exchange(for: contents) }

  func prepare(_ body: (inout Contents) -> Void) { access(body) }
}

/// A property that may be nil, which reads as an empty collection, and becomes one when something
/// comes into it.
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
  ) -> R { change(.elements(kind, indexes())) { update(&$0, body) } }

  func change<R>(
    _ kind: KeyValueChange, goes: @autoclosure () -> Contents?,
    comes: @autoclosure () -> Contents?, _ body: (inout Contents) -> R
  ) -> R {
    change(.members(kind, goes: goes().map(Optional.some), comes: comes().map(Optional.some))) {
      update(&$0, body)
    }
  }

  func set(_ contents: Contents) { exchange(for: contents) }

  func prepare(_ body: (inout Contents) -> Void) { access { update(&$0, body) } }

  // Taken out, so that the collection has no second owner while it is changed.
  private func update<R>(_ stored: inout Contents?, _ body: (inout Contents) -> R) -> R {
    let wasNil = stored == nil
    var contents = stored.take() ?? empty
    defer { stored = wasNil && contents.isEmpty ? nil : contents }
    return body(&contents)
  }
}

/// A change of a property, or of some elements, in terms of the property's type.
enum Part<Stored> {
  case elements(KeyValueChange, RangeSet<Int>)
  case members(KeyValueChange, goes: Stored?, comes: Stored?)
  case whole

  /// Opens the change; nil if nobody observes the key.
  func announce(_ header: UnsafeMutablePointer<kvo_object>, _ name: KeyName) -> OpaquePointer? {
    switch self {
    case .elements(let kind, let indexes):
      return withIndexSet(indexes) {
        var part = kvo_part()
        part.kind = KVORuntime.kind(kind, at: $0)
        part.indexes = $0
        return kvo_uniform_will_part(header, name.interned, &part)
      }
    case .whole:
      var part = kvo_part()
      part.kind = .KVO_SETTING
      return kvo_uniform_will_part(header, name.interned, &part)
    case .members(let kind, let goes, let comes):
      return withValue(of: goes) { goes in
        withValue(of: comes) { comes in
          var part = kvo_part()
          part.kind = kind.cKind
          part.goes = goes
          part.comes = comes
          return kvo_uniform_will_part(header, name.interned, &part)
        }
      }
    }
  }

  private func withValue<R>(
    of members: Stored?, _ body: (UnsafePointer<kvo_value>?) -> R
  ) -> R {
    guard let members else { return body(nil) }
    var value = kvo_value.of(members)
    defer { kvo_value_destroy(&value) }
    return withUnsafePointer(to: &value) { body($0) }
  }
}

extension Property {
  /// Where the property of that type lies, if nothing else answers for the key than its storage.
  fileprivate func storage<Stored>(
    in object: KVOObject, as type: Stored.Type
  ) -> UnsafeMutablePointer<Stored>? {
    guard accessors == nil, override == nil, let observedStorage,
      observedStorage.type.swiftType == type
    else { return nil }
    return (object.address + observedStorage.offset).assumingMemoryBound(to: type)
  }
}
