internal import CKVORuntime

/// An array or a set. Converts another collection if its elements can be converted, for instance an array of
/// `Any` (B12). A set accepts arrays too; an array accepts no set, which has no order.
final class CollectionValueType<C: CollectionValue>: TypedValueType<C>, @unchecked Sendable {
  private let element: ValueType

  init() {
    element = ValueType.of(C.Element.self)
    let mutable = element.abilities.intersection(.mutable)
    super.init(Self.ownAbilities.union(mutable), shape: C.makeShape(isOptional: false))
  }

  // A set's members must not be changed in place.
  override func detach(at address: UnsafeMutableRawPointer) -> Bool {
    let stored = address.assumingMemoryBound(to: C.self)
    guard C.isOrdered, let copies = element.copies(of: stored.pointee) else { return false }
    stored.pointee = C(gathering: copies)
    return true
  }

  override var mayHoldNaN: Bool { element.mayHoldNaN }

  override func areEqual(_ a: UnsafeRawPointer, _ b: UnsafeRawPointer) -> Bool {
    if super.areEqual(a, b) { return true }
    guard mayHoldNaN || !isEquatable else { return false }
    let first = a.assumingMemoryBound(to: C.self).pointee
    let second = b.assumingMemoryBound(to: C.self).pointee
    guard C.isOrdered else { return haveSameMembers(first, second) }
    return first.count == second.count
      && zip(first, second).allSatisfy { first, second in
        withUnsafePointer(to: first) { first in
          withUnsafePointer(to: second) { element.areEqual(first, $0) }
        }
      }
  }

  private func haveSameMembers(_ first: C, _ second: C) -> Bool {
    guard let first = first as? Set<AnyHashable>, let second = second as? Set<AnyHashable> else {
      return false
    }
    return first.isWithin(second) && second.isWithin(first)
  }

  override var optionalShape: CollectionShape? { C.makeShape(isOptional: true) }

  override func convert(_ value: Any?) -> Conversion {
    if let value, type(of: value) == C.self, let same = value as? C { return .value(.of(same)) }
    guard let value = value.flatMap(flattened) else { return .unexpectedNil }
    if let elements = AnyElements(value) {
      return convert(elements).map { .value(.of(C(gathering: $0))) } ?? .mismatch
    }
    return ValueConversion.isNull(value) ? .unexpectedNil : .mismatch
  }

  override func found(_ value: Any?) -> String {
    guard let value = value.flatMap(flattened), let elements = AnyElements(value), takes(elements),
      let fault = elements.firstFault(of: element)
    else { return super.found(value) }
    return fault.sentence(in: value, elements.isOrdered ? "element \(fault.index)" : "element")
  }

  private func takes(_ elements: AnyElements) -> Bool { elements.isOrdered || !C.isOrdered }

  private func convert(_ elements: AnyElements) -> [C.Element]? {
    takes(elements) ? elements.converted(to: element) : nil
  }
}

/// The elements of a collection: the standard library's, a proxy, or Foundation's.
package struct AnyElements {
  package let isOrdered: Bool
  private let elements: any Collection

  /// Nil if the value is not a collection.
  package init?(_ value: Any) {
    let value = ValueConversion.base(of: value)
    if let known = objectCast(value, to: (any ProxyValue).self)?.elements ?? value
      as? any CollectionValue
    {
      self.init(known)
    } else if Swift.type(of: value) is AnyClass,
      let found = FoundationLink.linked?.elements(of: value)
    {
      self.init(elements: found.elements, isOrdered: found.isOrdered)
    } else {
      return nil
    }
  }

  private init(elements: any Collection, isOrdered: Bool) {
    self.elements = elements
    self.isOrdered = isOrdered
  }

  package var all: [Any] {
    func gather(_ elements: some Collection) -> [Any] { elements.map { $0 as Any } }
    return gather(elements)
  }

  private init(_ elements: any CollectionValue) {
    self.init(elements: elements, isOrdered: type(of: elements).isOrdered)
  }

  /// Converts all elements to a type; nil if one can't be converted.
  func converted<Element>(to type: ValueType) -> [Element]? { Self.convert(elements, to: type) }

  private static func convert<Element>(_ elements: some Collection, to type: ValueType)
    -> [Element]?
  {
    var converted: [Element] = []
    converted.reserveCapacity(elements.count)
    for value in elements {
      if Swift.type(of: value as Any) == Element.self, let same = value as? Element {
        converted.append(same)
      } else {
        guard case .value(let value) = type.convert(value) else { return nil }
        converted.append(value.unbox(as: Element.self))
      }
    }
    return converted
  }

  /// The first element that can't be converted to a type, or nil.
  func firstFault(of type: ValueType) -> ElementFault? {
    func search(_ elements: some Collection) -> ElementFault? {
      for (index, value) in elements.enumerated() {
        if case .value = type.convert(value) { continue }
        return ElementFault(index: index, found: type.found(value))
      }
      return nil
    }
    return search(elements)
  }
}

/// The element of a value that can't be converted, and why.
struct ElementFault {
  let index: Int
  let found: String

  /// A phrase for an error: the type of the whole value, and the element at fault.
  func sentence(in value: Any, _ part: String) -> String {
    "\(typeName(of: value)), whose \(part) is \(found)"
  }
}

/// The elements of an ordered collection; nil for any other value.
package func anyArray(_ value: Any) -> [Any]? {
  if let array = value as? [Any] { return array }
  guard let elements = AnyElements(value), elements.isOrdered else { return nil }
  return elements.all
}

/// The members of a set; nil for any other value.
package func anySet(_ value: Any) -> Set<AnyHashable>? {
  // Foundation's sets are not cast: on Linux, that of an `NSCountedSet` is empty.
  if !(type(of: value) is AnyClass), let set = value as? Set<AnyHashable> { return set.inSwiftForm }
  guard let elements = AnyElements(value), !elements.isOrdered else { return nil }
  return Set(elements.all.compactMap { ($0 as? AnyHashable)?.inSwiftForm })
}
