internal import CKVORuntime

/// The live members of a set property; each mutation is one fine-grained change.
///
/// ```swift
/// let token = post.observe(\.tags, options: .new) { _, change in print(change.newValue!) }
/// post.mutableSet(\.tags).formUnion(["swift", "linux"])  // insertion of those that are new
/// ```
///
/// It is a handle: copies stand for the same property, also after that was set to another set, and
/// mutate it without being variables. Mutation happens in place, and nothing is copied to find out
/// what came and went. A property with a `didSet` is changed past it, unless its key is declared with
/// `stored`, which copies.
///
/// A union is an insertion, subtracting and intersecting are removals, `set` is a replacement, with
/// what really came or went, an empty set if nothing did. Inserting one member that is there
/// already, or removing one that is not, is no change.
public struct ObservedSet<Element: Hashable>: Sequence {
  private let handle: any CollectionHandle<Set<Element>>

  init(_ handle: any CollectionHandle<Set<Element>>) {
    self.handle = handle
  }

  var members: Set<Element> { handle.contents }

  /// Iterates over the members that there are now.
  public func makeIterator() -> Set<Element>.Iterator { members.makeIterator() }

  /// How many members there are.
  public var count: Int { members.count }
  /// Whether there are none.
  public var isEmpty: Bool { members.isEmpty }
  public var underestimatedCount: Int { members.count }

  /// Whether a member is there.
  /// - Complexity: O(1) on average.
  public func contains(_ member: Element) -> Bool { members.has(member) }

  // What goes ends after the access to the storage: its deinit may use the property.

  /// Adds a member; false if it was there already.
  /// - Complexity: O(1) on average.
  @discardableResult
  public func insert(_ member: Element) -> Bool {
    guard !contains(member) else { return false }
    return handle.change(.insertion, goes: nil, comes: [member]) { $0.insert(member).inserted }
  }

  /// Takes a member away and returns it; nil if it was not there.
  /// - Complexity: O(1) on average.
  @discardableResult
  public func remove(_ member: Element) -> Element? {
    guard contains(member) else { return nil }
    return handle.change(.removal, goes: members.keeping([member]), comes: nil) {
      if let gone = $0.remove(member) { return gone }
      $0.remove([member])
      return member
    }
  }

  /// Adds members: one insertion.
  public func formUnion(_ other: Set<Element>) {
    handle.change(.insertion, goes: nil, comes: other.withOneNaN.removing(members)) {
      $0.add(other)
    }
  }

  /// Takes members away: one removal.
  public func subtract(_ other: Set<Element>) {
    _ = handle.change(.removal, goes: members.keeping(other), comes: nil) {
      let gone = $0.keeping(other)
      $0.remove(other)
      return gone
    }
  }

  /// Takes all but some members away: one removal.
  public func formIntersection(_ other: Set<Element>) {
    _ = handle.change(.removal, goes: members.removing(other), comes: nil) {
      let before = $0
      $0 = before.keeping(other)
      return before
    }
  }

  /// Puts other members in place of all: one replacement.
  public func set(_ other: Set<Element>) {
    _ = handle.change(
      .replacement, goes: members.removing(other), comes: other.withOneNaN.removing(members)
    ) {
      let before = $0
      $0 = other.withOneNaN
      return before
    }
  }

  /// Takes all members away: one removal.
  public func removeAll(keepingCapacity: Bool = false) {
    guard !isEmpty else { return }
    _ = handle.change(.removal, goes: members, comes: nil) {
      let gone = $0
      $0.removeAll(keepingCapacity: keepingCapacity)
      return gone
    }
  }
}

extension KeyValueObserving where Self: KVOObject {
  /// The members of a set property, to be changed one by one. A key path that names no observable
  /// key stops the program with a message.
  public func mutableSet<Element>(
    _ keyPath: ReferenceWritableKeyPath<Self, Set<Element>>
  ) -> ObservedSet<Element> {
    ObservedSet(WholeProperty(self, keyPath))
  }

  /// The same for a property that may be nil: then it reads as empty, and becomes a set at the first
  /// insertion.
  public func mutableSet<Element>(
    _ keyPath: ReferenceWritableKeyPath<Self, Set<Element>?>
  ) -> ObservedSet<Element> {
    ObservedSet(OptionalProperty(self, keyPath, empty: []))
  }
}

extension ObservedSet: CustomStringConvertible, CustomDebugStringConvertible {
  public var description: String { members.description }
  public var debugDescription: String { members.debugDescription }
}
