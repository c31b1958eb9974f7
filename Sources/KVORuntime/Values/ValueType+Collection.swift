package import CKVORuntime

/// The operations of the C core on collections of one Swift type: arrays, sets, and optional ones. The core
/// reads elements (unwrapped) one by one or all in a row, and makes collections from elements. It also
/// extracts the removed or added elements. The result is a collection of the same type, so observers get
/// values of the property's own type.
package class CollectionShape: @unchecked Sendable {
  // All fields are immutable.
  package let kind: kvo_collection_kind
  package let element: ValueType
  let isOptional: Bool
  /// Whether values of the type can be made. False for proxies.
  var isMade: Bool { true }

  init(_ kind: kvo_collection_kind, _ element: ValueType, isOptional: Bool) {
    self.kind = kind
    self.element = element
    self.isOptional = isOptional
  }

  /// Whether the collection is a Foundation object, which can only be set by its key.
  var isKeyed: Bool { false }

  func count(_ value: UnsafeRawPointer) -> Int { 0 }
  func get(
    _ value: UnsafeRawPointer, _ index: Int, into element: UnsafeMutablePointer<kvo_value>
  ) -> kvo_status { .KVO_INDEX_OUT_OF_BOUNDS }
  func each(
    _ value: UnsafeRawPointer, _ take: (UnsafeRawPointer) -> kvo_status
  ) -> kvo_status { .KVO_OK }
  /// Whether the collection stores a strong reference to a `KVOObject` for each element, and nothing else.
  var storesReferences: Bool { false }
  func withReferences(_ value: UnsafeRawPointer, _ body: (UnsafeRawBufferPointer) -> Void) {}
  func make(
    _ elements: UnsafeBufferPointer<kvo_value>, into target: UnsafeMutableRawPointer
  ) -> kvo_status { .KVO_TYPE_MISMATCH }
  func pick(
    _ value: UnsafeRawPointer, _ ranges: [Range<Int>], into target: UnsafeMutableRawPointer
  ) {}
  func filter(
    _ a: UnsafeRawPointer, _ b: UnsafeRawPointer, wanted: Bool,
    into target: UnsafeMutableRawPointer
  ) {}

  /// A value that is equal to that of another member if a collection of this type takes the two for the same.
  func form(of member: AnyHashable) -> AnyHashable { member.inSwiftForm }

  /// A value of this type with those members that have the element's type; nil if the type is not a set.
  func membersValue(_ members: Set<AnyHashable>) -> kvo_value? { nil }

  /// Accesses a property of this type as an ordered to-many key; nil if it is not one. `unordered` does so
  /// for a set.
  func ordered(_ place: CollectionPlace) -> (any OrderedReading & OrderedMutation)? { nil }
  func unordered(_ place: CollectionPlace) -> (any MemberReading & MemberMutation)? { nil }

  /// Converts a core value to the element's type.
  fileprivate func read<Element>(
    _ value: UnsafePointer<kvo_value>, as type: Element.Type
  ) -> ValueType.Conversion {
    if value.pointee.type == element.cType, let bytes = kvo_value_bytes(value) {
      return .value(.of(bytes.assumingMemoryBound(to: Element.self).pointee))
    }
    return element.convert(ValueType.any(of: value, for: element))
  }

  /// Converts core values to the element's type, and calls `take` with each.
  fileprivate func read<Element>(
    _ values: UnsafeBufferPointer<kvo_value>, _ take: (Element) -> Void
  ) -> kvo_status {
    for index in values.indices {
      switch read(values.baseAddress! + index, as: Element.self) {
      case .value(let converted): take(converted.unbox(as: Element.self))
      case .unexpectedNil: return .KVO_NIL_VALUE
      case .mismatch: return .KVO_TYPE_MISMATCH
      }
    }
    return .KVO_OK
  }
}

private class ArrayShape<Element>: CollectionShape, @unchecked Sendable {
  init(isOptional: Bool) { super.init(.KVO_ARRAY, .of(Element.self), isOptional: isOptional) }

  func elements(_ value: UnsafeRawPointer) -> [Element] {
    isOptional
      ? value.assumingMemoryBound(to: [Element]?.self).pointee ?? []
      : value.assumingMemoryBound(to: [Element].self).pointee
  }

  func write(_ elements: [Element], to target: UnsafeMutableRawPointer) {
    if isOptional {
      target.initializeMemory(as: [Element]?.self, to: elements)
    } else {
      target.initializeMemory(as: [Element].self, to: elements)
    }
  }

  override func ordered(
    _ place: CollectionPlace
  ) -> (any OrderedReading & OrderedMutation)? {
    ArrayProperty<Element>(place: place, isOptional: isOptional)
  }

  override func count(_ value: UnsafeRawPointer) -> Int { elements(value).count }

  override func get(
    _ value: UnsafeRawPointer, _ index: Int, into element: UnsafeMutablePointer<kvo_value>
  ) -> kvo_status {
    withUnsafePointer(to: elements(value)[index]) { self.element.read($0, into: element) }
    return .KVO_OK
  }

  override func each(
    _ value: UnsafeRawPointer, _ take: (UnsafeRawPointer) -> kvo_status
  ) -> kvo_status {
    for element in elements(value) {
      let status = withUnsafePointer(to: element) { take($0) }
      if status != .KVO_OK { return status }
    }
    return .KVO_OK
  }

  override var storesReferences: Bool { Element.self is KVOObject.Type }

  override func withReferences(
    _ value: UnsafeRawPointer, _ body: (UnsafeRawBufferPointer) -> Void
  ) {
    elements(value).withUnsafeBytes(body)
  }

  override func make(
    _ elements: UnsafeBufferPointer<kvo_value>, into target: UnsafeMutableRawPointer
  ) -> kvo_status {
    var made: [Element] = []
    made.reserveCapacity(elements.count)
    let status = read(elements) { made.append($0) }
    if status == .KVO_OK { write(made, to: target) }
    return status
  }

  override func pick(
    _ value: UnsafeRawPointer, _ ranges: [Range<Int>], into target: UnsafeMutableRawPointer
  ) {
    let elements = elements(value)
    var picked: [Element] = []
    for range in ranges { picked += elements[range.clamped(to: 0..<elements.count)] }
    write(picked, to: target)
  }
}

/// A `ContiguousArray` or an `ArraySlice`. Proxies change it by its key.
private final class ListShape<List: RangeReplaceableCollection>: ArrayShape<List.Element>,
  @unchecked Sendable
{
  override func elements(_ value: UnsafeRawPointer) -> [List.Element] {
    isOptional
      ? value.assumingMemoryBound(to: List?.self).pointee.map { Array($0) } ?? []
      : Array(value.assumingMemoryBound(to: List.self).pointee)
  }

  override func write(_ elements: [List.Element], to target: UnsafeMutableRawPointer) {
    if isOptional {
      target.initializeMemory(as: List?.self, to: List(elements))
    } else {
      target.initializeMemory(as: List.self, to: List(elements))
    }
  }

  override var storesReferences: Bool { false }

  override func ordered(
    _ place: CollectionPlace
  ) -> (any OrderedReading & OrderedMutation)? { nil }
}

private final class SetShape<Element: Hashable>: CollectionShape, @unchecked Sendable {
  init(isOptional: Bool) { super.init(.KVO_SET, .of(Element.self), isOptional: isOptional) }

  private func members(_ value: UnsafeRawPointer) -> Set<Element> {
    isOptional
      ? value.assumingMemoryBound(to: Set<Element>?.self).pointee ?? []
      : value.assumingMemoryBound(to: Set<Element>.self).pointee
  }

  private func write(_ members: Set<Element>, to target: UnsafeMutableRawPointer) {
    if isOptional {
      target.initializeMemory(as: Set<Element>?.self, to: members)
    } else {
      target.initializeMemory(as: Set<Element>.self, to: members)
    }
  }

  override func unordered(
    _ place: CollectionPlace
  ) -> (any MemberReading & MemberMutation)? {
    SetProperty<Element>(place: place, isOptional: isOptional)
  }

  override func count(_ value: UnsafeRawPointer) -> Int { members(value).count }

  override func get(
    _ value: UnsafeRawPointer, _ index: Int, into element: UnsafeMutablePointer<kvo_value>
  ) -> kvo_status {
    let members = members(value)
    let member = members[members.index(members.startIndex, offsetBy: index)]
    withUnsafePointer(to: member) { self.element.read($0, into: element) }
    return .KVO_OK
  }

  override func each(
    _ value: UnsafeRawPointer, _ take: (UnsafeRawPointer) -> kvo_status
  ) -> kvo_status {
    for member in members(value) {
      let status = withUnsafePointer(to: member) { take($0) }
      if status != .KVO_OK { return status }
    }
    return .KVO_OK
  }

  override func make(
    _ elements: UnsafeBufferPointer<kvo_value>, into target: UnsafeMutableRawPointer
  ) -> kvo_status {
    var made = Set<Element>(minimumCapacity: elements.count)
    let status = read(elements) { made.insert($0) }
    if status == .KVO_OK { write(made, to: target) }
    return status
  }

  override func filter(
    _ a: UnsafeRawPointer, _ b: UnsafeRawPointer, wanted: Bool,
    into target: UnsafeMutableRawPointer
  ) {
    let a = members(a)
    let b = members(b)
    write(wanted ? a.keeping(b) : a.removing(b), to: target)
  }

  override func membersValue(_ members: Set<AnyHashable>) -> kvo_value? {
    let known = Set(members.lazy.compactMap { $0 as? Element })
    return isOptional ? .of(Optional(known)) : .of(known)
  }
}

// MARK: Types

/// A Swift collection type that key-value coding treats as a collection.
protocol CollectionValue: Collection, DescribedValue {
  static var isOrdered: Bool { get }
  init(gathering elements: [Element])
  static func makeShape(isOptional: Bool) -> CollectionShape
}

extension CollectionValue {
  static func makeValueType() -> ValueType { CollectionValueType<Self>() }
}

extension Array: CollectionValue, DescribedValue {
  static var isOrdered: Bool { true }
  init(gathering elements: [Element]) { self = elements }

  static func makeShape(isOptional: Bool) -> CollectionShape {
    ArrayShape<Element>(isOptional: isOptional)
  }
}

extension ContiguousArray: CollectionValue, DescribedValue {
  static var isOrdered: Bool { true }
  init(gathering elements: [Element]) { self.init(elements) }

  static func makeShape(isOptional: Bool) -> CollectionShape {
    ListShape<Self>(isOptional: isOptional)
  }
}

extension ArraySlice: CollectionValue, DescribedValue {
  static var isOrdered: Bool { true }
  init(gathering elements: [Element]) { self.init(elements) }

  static func makeShape(isOptional: Bool) -> CollectionShape {
    ListShape<Self>(isOptional: isOptional)
  }
}

extension Set: CollectionValue, DescribedValue {
  static var isOrdered: Bool { false }
  init(gathering elements: [Element]) { self = Self(elements).withOneNaN }

  static func makeShape(isOptional: Bool) -> CollectionShape {
    SetShape<Element>(isOptional: isOptional)
  }
}

extension kvo_value {
  /// Returns a core value that contains a Swift one. The caller destroys it.
  static func of<T>(_ value: T) -> kvo_value {
    var made = kvo_value()
    // If memory is exhausted, the value is nil, and observers get nil.
    _ = withUnsafePointer(to: value) { kvo_value_init(&made, ValueType.of(T.self).cType, $0) }
    return made
  }
}

// MARK: Functions called by the core

extension CollectionShape {
  /// Makes the collection operations for a type with this shape.
  func makeOperations() -> UnsafePointer<kvo_collection_operations> {
    let operations = UnsafeMutablePointer<kvo_collection_operations>.allocate(capacity: 1)
    operations.initialize(
      to: kvo_collection_operations(
        kind: kind, count: countElements, get: getElement, make: makeCollection,
        each: eachElement, pick: isMade && kind == .KVO_ARRAY ? pickElements : nil,
        filter: isMade && kind == .KVO_SET ? filterElements : nil,
        references: storesReferences ? passReferences : nil))
    return UnsafePointer(operations)
  }
}

private func shape(_ type: UnsafePointer<kvo_type>) -> CollectionShape {
  // Only types with a shape have these functions.
  ValueType.of(type).shape!
}

private let countElements: @convention(c) (UnsafePointer<kvo_type>, UnsafeRawPointer) -> Int = {
  shape($0).count($1)
}

private let getElement:
  @convention(c) (
    UnsafePointer<kvo_type>, UnsafeRawPointer, Int, UnsafeMutablePointer<kvo_value>
  ) -> kvo_status = { shape($0).get($1, $2, into: $3) }

private let makeCollection:
  @convention(c) (
    UnsafePointer<kvo_type>, UnsafeMutableRawPointer, UnsafePointer<kvo_value>, Int,
    UnsafeMutablePointer<kvo_error>?
  ) -> kvo_status = { type, target, elements, count, _ in
    shape(type).make(UnsafeBufferPointer(start: elements, count: count), into: target)
  }

private let eachElement:
  @convention(c) (
    UnsafePointer<kvo_type>, UnsafeRawPointer,
    @convention(c) (UnsafeMutableRawPointer, kvo_value) -> kvo_status, UnsafeMutableRawPointer
  ) -> kvo_status = { type, value, take, context in
    let shape = shape(type)
    return shape.each(value) { element in
      var copy = kvo_value()
      shape.element.read(element, into: &copy)
      return take(context, copy)
    }
  }

private let pickElements:
  @convention(c) (
    UnsafePointer<kvo_type>, UnsafeRawPointer, OpaquePointer, UnsafeMutableRawPointer
  ) -> kvo_status = { type, value, indexes, target in
    shape(type).pick(value, ranges(of: indexes), into: target)
    return .KVO_OK
  }

private let passReferences:
  @convention(c) (
    UnsafePointer<kvo_type>, UnsafeRawPointer,
    @convention(c) (UnsafeMutableRawPointer, UnsafePointer<UInt>, Int, Int) -> Void,
    UnsafeMutableRawPointer
  ) -> Void = { type, value, body, context in
    shape(type).withReferences(value) { bytes in
      let references = bytes.bindMemory(to: UInt.self)
      guard let first = references.baseAddress else { return }
      body(context, first, references.count, ObjectHeader.offset)
    }
  }

private let filterElements:
  @convention(c) (
    UnsafePointer<kvo_type>, UnsafeRawPointer, UnsafeRawPointer, Bool, UnsafeMutableRawPointer
  ) -> kvo_status = { type, a, b, wanted, target in
    shape(type).filter(a, b, wanted: wanted, into: target)
    return .KVO_OK
  }
