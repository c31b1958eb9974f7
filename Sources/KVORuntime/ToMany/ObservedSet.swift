internal import CKVORuntime

/// A handle to a set property through which members are changed one by one. Each mutation is one change, and
/// notifies observers with the members that were really added or removed.
///
/// ```swift
/// let token = post.observe(\.tags, options: .new) { _, change in print(change.newValue!) }
/// post.mutableSet(\.tags).formUnion(["swift", "linux"])  // insertion of those that are new
/// ```
///
/// Copies of the handle refer to the same property, also after that was set to another set. They can mutate
/// the property without being variables. Mutations happen in place, and the set is not copied to find out
/// what was added and removed. They bypass a property's `didSet`, unless its key is declared with `stored`;
/// then the set is copied and set.
///
/// A union is an insertion, subtracting and intersecting are removals, and `set` is a replacement. Each
/// notifies observers, with an empty set if no member was added or removed. Inserting a single member that is
/// present, or removing one that is absent, is not a change.
public struct ObservedSet<Element: Hashable>: Sequence {
  private let handle: any CollectionHandle<Set<Element>>

  init(_ handle: any CollectionHandle<Set<Element>>) {
    self.handle = handle
  }

  package var members: Set<Element> { handle.contents }

  /// Returns an iterator over the current members.
  public func makeIterator() -> Set<Element>.Iterator { members.makeIterator() }

  /// The number of members.
  public var count: Int { members.count }
  /// Whether the set has no members.
  public var isEmpty: Bool { members.isEmpty }
  /// The number of members.
  public var underestimatedCount: Int { members.count }

  /// Returns whether the set contains a member.
  /// - Complexity: O(1) on average.
  public func contains(_ member: Element) -> Bool { members.has(member) }

  // Removed members are returned from the access to the storage, so that they are released after it: their
  // deinit may use the property.

  /// Adds a member. Returns false, and changes nothing, if the set contains it already.
  /// - Complexity: O(1) on average.
  @discardableResult
  public func insert(_ member: Element) -> Bool {
    guard !contains(member) else { return false }
    return handle.change(.union, [member], goes: nil, comes: [member]) {
      $0.insert(member).inserted
    }
  }

  /// Removes a member and returns it. Returns nil, and changes nothing, if the set does not contain it.
  /// - Complexity: O(1) on average.
  @discardableResult
  public func remove(_ member: Element) -> Element? {
    guard contains(member) else { return nil }
    return handle.change(.minus, [member], goes: members.keeping([member]), comes: nil) {
      if let gone = $0.remove(member) { return gone }
      $0.remove([member])
      return member
    }
  }

  /// Adds members, as one insertion.
  /// - Complexity: O(*n*).
  public func formUnion(_ other: Set<Element>) {
    handle.change(.union, other, goes: nil, comes: other.withOneNaN.removing(members)) {
      $0.add(other)
    }
  }

  /// Removes members, as one removal.
  /// - Complexity: O(*n*).
  public func subtract(_ other: Set<Element>) {
    _ = handle.change(.minus, other, goes: members.keeping(other), comes: nil) {
      let gone = $0.keeping(other)
      $0.remove(other)
      return gone
    }
  }

  /// Removes all members that `other` does not contain, as one removal.
  /// - Complexity: O(*n*).
  public func formIntersection(_ other: Set<Element>) {
    _ = handle.change(.intersect, other, goes: members.removing(other), comes: nil) {
      let before = $0
      $0 = before.keeping(other)
      return before
    }
  }

  /// Replaces all members, as one replacement.
  /// - Complexity: O(*n*).
  public func set(_ other: Set<Element>) {
    _ = handle.change(
      .set, other, goes: members.removing(other), comes: other.withOneNaN.removing(members)
    ) {
      let before = $0
      $0 = other.withOneNaN
      return before
    }
  }

  /// Removes all members, as one removal. Without members it does nothing.
  /// - Complexity: O(*n*).
  public func removeAll(keepingCapacity: Bool = false) {
    guard !isEmpty else { return }
    _ = handle.change(.minus, members, goes: members, comes: nil) {
      let gone = $0
      $0.removeAll(keepingCapacity: keepingCapacity)
      return gone
    }
  }
}

extension KeyValueObserving where Self: KVOObject {
  /// Returns a handle to a set property, through which members are changed one by one.
  ///
  /// - Parameter keyPath: a set property. If it can't be observed, the program stops with a message.
  public func mutableSet<Element>(
    _ keyPath: ReferenceWritableKeyPath<Self, Set<Element>>
  ) -> ObservedSet<Element> {
    ObservedSet(WholeProperty(self, keyPath))
  }

  /// Returns a handle to an optional set property, through which members are changed one by one. While the
  /// property is nil, it reads as empty, and the first insertion makes it a set.
  ///
  /// - Parameter keyPath: an optional set property. If it can't be observed, the program stops with a
  ///   message.
  public func mutableSet<Element>(
    _ keyPath: ReferenceWritableKeyPath<Self, Set<Element>?>
  ) -> ObservedSet<Element> {
    ObservedSet(OptionalProperty(self, keyPath, empty: []))
  }
}

extension ObservedSet: CustomStringConvertible, CustomDebugStringConvertible {
  /// The members, described like a set's.
  public var description: String { members.description }
  /// The members, described like a set's for debugging.
  public var debugDescription: String { members.debugDescription }
}
