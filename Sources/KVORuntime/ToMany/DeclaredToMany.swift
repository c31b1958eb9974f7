internal import CKVORuntime

/// A class's declaration of a to-many key, with its types erased: the closures of `KeyDeclarations`, by which
/// proxies read and change the key (B8, B9).
protocol ToManyDeclaration {
  /// The type of the values that observers get: `[Element]` or `Set<Element>`.
  var type: ValueType { get }
  /// Distinguishes the declaration from others, as closures can't be compared.
  var identity: Identity { get }
  /// Returns the proxy that is the key's value.
  func value(of key: ToManyKey) -> Any
  /// Initialises a core value with all elements.
  func read(_ object: KVOObject, into value: UnsafeMutablePointer<kvo_value>)
  /// Initialises a core value with the elements of an ordered key at those of the indexes that exist.
  func pick(
    _ object: KVOObject, _ ranges: [Range<Int>], into value: UnsafeMutablePointer<kvo_value>)

  /// The key as an ordered one, for reading and for changing; nil for an unordered key. `mutation` is nil if
  /// the key can't be changed.
  func ordered(_ key: ToManyKey) -> (reading: any OrderedReading, mutation: (any OrderedMutation)?)?
  /// The key as an unordered one, for reading and for changing; nil for an ordered key. `mutation` is nil if
  /// the key can't be changed.
  func unordered(_ key: ToManyKey) -> (reading: any MemberReading, mutation: (any MemberMutation)?)?

  /// This declaration for the objects of a subclass.
  func inherited<Subclass: KVOObject>(by subclass: Subclass.Type) -> any ToManyDeclaration
  /// This declaration with those accessors of a superclass's declaration that it lacks. If they have other elements, the
  /// superclass's declaration holds, unless this one can change the key: its accessors call overridden methods, too.
  func completed(by base: any ToManyDeclaration) -> any ToManyDeclaration
}

final class Identity {}

extension ToManyDeclaration {
  func ordered(
    _ key: ToManyKey
  ) -> (reading: any OrderedReading, mutation: (any OrderedMutation)?)? { nil }
  func unordered(
    _ key: ToManyKey
  ) -> (reading: any MemberReading, mutation: (any MemberMutation)?)? { nil }
  func pick(
    _ object: KVOObject, _ ranges: [Range<Int>], into value: UnsafeMutablePointer<kvo_value>
  ) { read(object, into: value) }
}

// MARK: Ordered

/// The accessors of an ordered key, as an array or as an ordered set.
struct OrderedAccessors<Root: KVOObject, Element>: ToManyDeclaration {
  let count: (Root) -> Int
  let element: (Root, Int) -> Element
  let index: ((Root, AnyHashable) -> Int?)?
  let elements: ((Root, Range<Int>) -> [Element])?
  let insert: ((Root, [Element], RangeSet<Int>) throws -> Void)?
  let remove: ((Root, RangeSet<Int>) throws -> Void)?
  let replace: ((Root, RangeSet<Int>, [Element]) throws -> Void)?

  let identity = Identity()
  var type: ValueType { .of([Element].self) }

  func value(of key: ToManyKey) -> Any { ArrayProxy(OrderedKey(self, key)) }

  func read(_ object: KVOObject, into value: UnsafeMutablePointer<kvo_value>) {
    value.initialize(to: .of(all(of: root(object))))
  }

  func pick(
    _ object: KVOObject, _ ranges: [Range<Int>], into value: UnsafeMutablePointer<kvo_value>
  ) {
    let root = root(object)
    let count = size(of: root)
    let picked = ranges.flatMap { elements(of: root, in: $0.clamped(to: 0..<count)) }
    value.initialize(to: .of(picked))
  }

  func ordered(
    _ key: ToManyKey
  ) -> (reading: any OrderedReading, mutation: (any OrderedMutation)?)? {
    let bound = OrderedKey(self, key)
    return (bound, insert != nil && remove != nil ? bound : nil)
  }

  func inherited<Subclass: KVOObject>(by subclass: Subclass.Type) -> any ToManyDeclaration {
    OrderedAccessors<Subclass, Element>(
      count: { count(root($0)) }, element: { element(root($0), $1) },
      index: index.map { index in { index(root($0), $1) } },
      elements: elements.map { elements in { elements(root($0), $1) } },
      insert: insert.map { insert in { try insert(root($0), $1, $2) } },
      remove: remove.map { remove in { try remove(root($0), $1) } },
      replace: replace.map { replace in { try replace(root($0), $1, $2) } })
  }

  func completed(by base: any ToManyDeclaration) -> any ToManyDeclaration {
    guard let base = base.inherited(by: Root.self) as? Self else {
      return insert != nil && remove != nil ? self : base
    }
    return Self(
      count: count, element: element, index: index ?? base.index,
      elements: elements ?? base.elements, insert: insert ?? base.insert,
      remove: remove ?? base.remove, replace: replace ?? base.replace)
  }

  fileprivate func all(of root: Root) -> [Element] { elements(of: root, in: 0..<size(of: root)) }

  // Treats a negative count as 0, as the core does.
  fileprivate func size(of root: Root) -> Int { Swift.max(0, count(root)) }

  // Uses the accessor for several elements if there is one, since that is a single call.
  fileprivate func elements(of root: Root, in range: Range<Int>) -> [Element] {
    if let elements, range.count > 1 { return elements(root, range) }
    return range.map { element(root, $0) }
  }

  // Safe: a declaration is used only for objects of the declaring class and its subclasses.
  fileprivate func root(_ object: KVOObject) -> Root { unsafeDowncast(object, to: Root.self) }
}

/// An ordered key of one object, with its declared accessors.
private struct OrderedKey<Root: KVOObject, Element>: OrderedReading, OrderedMutation {
  private let accessors: OrderedAccessors<Root, Element>
  private let key: ToManyKey
  private let root: Root

  init(_ accessors: OrderedAccessors<Root, Element>, _ key: ToManyKey) {
    self.accessors = accessors
    self.key = key
    root = accessors.root(key.object)
  }

  var count: Int { accessors.size(of: root) }

  var blockSize: Int { accessors.elements == nil ? 1 : 64 }

  func element(at index: Int) -> Any { present(flattened(accessors.element(root, index))) }

  func elements(in range: Range<Int>) -> [Any] {
    accessors.elements(of: root, in: range).map { present(flattened($0)) }
  }

  var findsMembers: Bool { accessors.index != nil }

  func index(of member: AnyHashable) -> Int? {
    if let index = accessors.index { return index(root, member) }
    return elements(in: 0..<count).firstIndex { areEqual($0, member.base) }
  }

  func sought(_ value: Any) -> Any { KVORuntime.sought(value, as: Element.self) }
  func converted(_ element: Any) throws -> Any { try key.convert(element) as Element }

  func apply(_ edit: () throws -> OrderedEdit<Any>?) throws {
    let converted = { try edit()?.map { try key.convert($0) as Element } }
    _ = try key.apply(converted) { edit, open in
      try key.callAccessors(in: &open, comparing: count) { open in
        switch edit.kind {
        case .insertion: try accessors.insert?(root, edit.elements, edit.indexes)
        case .removal: try accessors.remove?(root, edit.indexes)
        default: try replace(at: edit.indexes, with: edit.elements, in: &open)
        }
      }
    }
  }

  private func replace(
    at indexes: RangeSet<Int>, with elements: [Element], in open: inout OpenChange
  ) throws {
    guard let replace = accessors.replace else {
      return try exchange(at: indexes, elements, at: indexes, in: &open)
    }
    // The count does not show whether some of several elements have been replaced.
    open.isMadeInPart = indexes.hasSeveral
    try replace(root, indexes, elements)
  }

  func set(_ elements: [Any]) throws {
    let elements: [Element] = try elements.map { try key.convert($0) }
    try key.changeWhole { open in
      try key.callAccessors(in: &open, comparing: count) { open in
        let (old, new) = (RangeSet(0..<count), RangeSet(0..<elements.count))
        try exchange(at: old, elements, at: new, in: &open)
      }
    }
  }

  // Removes the old elements and inserts the new ones. If the class refuses the new ones, the old ones are
  // inserted again. The change is made in part if the class refuses these as well.
  private func exchange(
    at old: RangeSet<Int>, _ elements: [Element], at new: RangeSet<Int>, in open: inout OpenChange
  ) throws {
    let replaced = old.ranges.flatMap { accessors.elements(of: root, in: $0) }
    if !old.isEmpty { try accessors.remove?(root, old) }
    do {
      if !new.isEmpty { try accessors.insert?(root, elements, new) }
    } catch {
      open.isMadeInPart =
        !old.isEmpty && (try? accessors.insert?(root, replaced, old)) == nil
      throw error
    }
  }
}

// MARK: Unordered

/// The accessors of an unordered key.
struct MemberAccessors<Root: KVOObject, Element: Hashable>: ToManyDeclaration {
  let count: (Root) -> Int
  let contains: (Root, Element) -> Bool
  let elements: (Root) -> AnySequence<Element>
  let add: ((Root, Set<Element>) throws -> Void)?
  let remove: ((Root, Set<Element>) throws -> Void)?
  let intersect: ((Root, Set<Element>) throws -> Void)?
  let set: ((Root, Set<Element>) throws -> Void)?

  let identity = Identity()
  var type: ValueType { .of(Set<Element>.self) }

  func value(of key: ToManyKey) -> Any { SetProxy(MemberKey(self, key)) }

  func read(_ object: KVOObject, into value: UnsafeMutablePointer<kvo_value>) {
    value.initialize(to: .of(all(of: root(object))))
  }

  func unordered(
    _ key: ToManyKey
  ) -> (reading: any MemberReading, mutation: (any MemberMutation)?)? {
    let bound = MemberKey(self, key)
    return (bound, add != nil && remove != nil ? bound : nil)
  }

  func inherited<Subclass: KVOObject>(by subclass: Subclass.Type) -> any ToManyDeclaration {
    MemberAccessors<Subclass, Element>(
      count: { count(root($0)) }, contains: { contains(root($0), $1) },
      elements: { elements(root($0)) },
      add: add.map { add in { try add(root($0), $1) } },
      remove: remove.map { remove in { try remove(root($0), $1) } },
      intersect: intersect.map { intersect in { try intersect(root($0), $1) } },
      set: set.map { set in { try set(root($0), $1) } })
  }

  func completed(by base: any ToManyDeclaration) -> any ToManyDeclaration {
    guard let base = base.inherited(by: Root.self) as? Self else {
      return add != nil && remove != nil ? self : base
    }
    return Self(
      count: count, contains: contains, elements: elements, add: add ?? base.add,
      remove: remove ?? base.remove, intersect: intersect ?? base.intersect, set: set ?? base.set)
  }

  /// All members. Foundation's numbers in a `Set<AnyHashable>` become Swift's, to be found there.
  fileprivate func all(of root: Root) -> Set<Element> {
    let members = Set(elements(root))
    guard Element.self == AnyHashable.self else { return members }
    return (members as Set<AnyHashable>).inSwiftForm as? Set<Element> ?? members
  }

  fileprivate func root(_ object: KVOObject) -> Root { unsafeDowncast(object, to: Root.self) }
}

/// An unordered key of one object, with its declared accessors.
private struct MemberKey<Root: KVOObject, Element: Hashable>: MemberReading, MemberMutation {
  private let accessors: MemberAccessors<Root, Element>
  private let key: ToManyKey
  private let root: Root

  init(_ accessors: MemberAccessors<Root, Element>, _ key: ToManyKey) {
    self.accessors = accessors
    self.key = key
    root = accessors.root(key.object)
  }

  var count: Int { Swift.max(0, accessors.count(root)) }

  func contains(_ member: AnyHashable) -> Bool {
    KVORuntime.member(member, as: Element.self).map { accessors.contains(root, $0) } ?? false
  }

  var members: Set<AnyHashable> { Set(accessors.all(of: root).lazy.map { AnyHashable($0) }) }
  func sought(_ values: Set<AnyHashable>) -> Set<AnyHashable> {
    Set(values.lazy.compactMap { member($0, as: Element.self) })
  }

  // A value that can't be a member is ignored when members are removed or kept.
  func mutate(_ mutation: KeyValueSetMutation, _ members: Set<AnyHashable>) throws {
    let adds = mutation == .union || mutation == .set
    let converted: Set<Element> =
      adds
      ? Set(try members.map { try key.convert($0.base) })
      : Set(members.lazy.compactMap { member($0, as: Element.self) })
    try key.change(mutation, operand(converted)) { open in
      try key.callAccessors(in: &open, comparing: count) { open in
        try apply(mutation, converted, in: &open)
      }
    }
  }

  // The members in the type of the key's value, which may be one of Foundation's sets.
  private func operand(_ members: Set<Element>) -> kvo_value {
    let property = KVOClass.of(key.object).property(key.name.string)
    guard let property, property.observedType !== accessors.type else { return .of(members) }
    let value = property.observedValue(of: members)
    return value.type == nil ? .of(members) : value
  }

  private func apply(
    _ mutation: KeyValueSetMutation, _ members: Set<Element>, in open: inout OpenChange
  ) throws {
    switch mutation {
    case .union: try accessors.add?(root, members)
    case .minus: try accessors.remove?(root, members)
    case .intersect:
      if let intersect = accessors.intersect { return try intersect(root, members) }
      _ = try removeOthers(than: members)
    case .set:
      guard let set = accessors.set else { return try exchange(for: members, in: &open) }
      // The count does not show whether some members have been exchanged.
      open.isMadeInPart = true
      try set(root, members)
    }
  }

  // If the class refuses the new members, the removed ones are added again. The change is made in part if the class
  // refuses these as well.
  private func exchange(for members: Set<Element>, in open: inout OpenChange) throws {
    let others = try removeOthers(than: members)
    let missing = members.filter { !accessors.contains(root, $0) }
    if missing.isEmpty { return }
    do {
      try accessors.add?(root, missing)
    } catch {
      open.isMadeInPart = !others.isEmpty && (try? accessors.add?(root, others)) == nil
      throw error
    }
  }

  private func removeOthers(than members: Set<Element>) throws -> Set<Element> {
    let others = accessors.all(of: root).subtracting(members)
    if !others.isEmpty { try accessors.remove?(root, others) }
    return others
  }
}

// MARK: Errors

extension ToManyKey {
  /// Calls accessors, which may throw after they have changed something, for example inserted an element. Then the open
  /// change is made in part. Another count than before shows that; accessors that exchange elements note it themselves,
  /// in case that they throw.
  /// - Parameter count: the number of elements, asked for only if the key is observed.
  fileprivate func callAccessors(
    in open: inout OpenChange, comparing count: @autoclosure () -> Int,
    _ body: (inout OpenChange) throws -> Void
  ) throws {
    let before = isObserved ? count() : nil
    do {
      try body(&open)
    } catch {
      if let before, count() != before { open.isMadeInPart = true }
      throw error
    }
  }
}
