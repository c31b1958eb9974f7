internal import CKVORuntime

// Properties of Foundation's collection classes (B13). KVOFoundation supplies what is needed to treat them as
// collections and dictionaries whose elements have any type. Changing one through a proxy or a key path
// replaces it by a new object.

/// The kind of a Foundation collection class.
package enum FoundationCollection {
  case array, orderedSet, set, dictionary

  fileprivate var kind: kvo_collection_kind {
    switch self {
    case .array, .dictionary: .KVO_ARRAY
    case .orderedSet: .KVO_ORDERED_SET
    case .set: .KVO_SET
    }
  }
}

extension ValueType {
  /// The description of a Foundation collection class; nil for any other type.
  static func ofFoundation<T>(_ type: T.Type) -> ValueType? {
    guard T.self is AnyClass, let foundation = FoundationLink.linked,
      let form = foundation.collection(type)
    else { return nil }
    return form == .dictionary
      ? FoundationDictionaryType<T>() : FoundationCollectionType<T>(form, foundation)
  }
}

/// An array or a set of Foundation's.
private final class FoundationCollectionType<T>: TypedValueType<T>, @unchecked Sendable {
  private let form: FoundationCollection
  private let foundation: any FoundationValues.Type

  init(_ form: FoundationCollection, _ foundation: any FoundationValues.Type) {
    self.form = form
    self.foundation = foundation
    super.init(shape: FoundationShape<T>(form, foundation, isOptional: false))
  }

  override var optionalShape: CollectionShape? {
    FoundationShape<T>(form, foundation, isOptional: true)
  }

  override func convert(_ value: Any?) -> Conversion {
    guard let value = value.flatMap(flattened) else { return .unexpectedNil }
    if Swift.type(of: value) is AnyClass, let same = value as? T { return .value(.of(same)) }
    guard let elements = AnyElements(value), elements.isOrdered || form == .set,
      let made = foundation.collection(T.self, of: elements.all) as? T
    else { return ValueConversion.isNull(value) ? .unexpectedNil : .mismatch }
    return .value(.of(made))
  }

  // Foundation's own comparison stops the program for elements that are not hashable.
  override func areEqual(_ a: UnsafeRawPointer, _ b: UnsafeRawPointer) -> Bool {
    let (first, second) = (elements(a), elements(b))
    guard first.count == second.count else { return false }
    guard form == .set else {
      return zip(first, second).allSatisfy { KVORuntime.areEqual($0, $1) }
    }
    let sought = SoughtElements(second)
    return first.allSatisfy { sought.contains($0) }
      && foundation.countsAreEqual(object(a), object(b))
  }

  private func object(_ value: UnsafeRawPointer) -> T {
    value.assumingMemoryBound(to: T.self).pointee
  }

  private func elements(_ value: UnsafeRawPointer) -> [Any] {
    foundation.elements(of: object(value))?.elements ?? []
  }

  // The texts and collections in an array are copied, since Foundation gives them as Swift's. A set's members must not
  // be changed in place.
  override func copyIfMutable(_ value: Any) -> Any? {
    guard form == .array, let elements = foundation.elements(of: value)?.elements else {
      return super.copyIfMutable(value)
    }
    let copies = ValueType.of(Any.self).copies(of: elements) ?? elements
    return foundation.collection(type(of: value), of: copies) ?? super.copyIfMutable(value)
  }
}

private final class FoundationShape<T>: CollectionShape, @unchecked Sendable {
  private let foundation: any FoundationValues.Type

  init(
    _ form: FoundationCollection, _ foundation: any FoundationValues.Type, isOptional: Bool
  ) {
    self.foundation = foundation
    super.init(form.kind, .of(Any.self), isOptional: isOptional)
  }

  override var isKeyed: Bool { true }

  override func form(of member: AnyHashable) -> AnyHashable {
    kind == .KVO_ARRAY ? member.inSwiftForm : foundation.form(of: member)
  }

  private func elements(_ value: UnsafeRawPointer) -> [Any] {
    let object: T? =
      isOptional
      ? value.assumingMemoryBound(to: T?.self).pointee
      : value.assumingMemoryBound(to: T.self).pointee
    return object.flatMap { foundation.elements(of: $0) }?.elements ?? []
  }

  private func write(_ elements: [Any], to target: UnsafeMutableRawPointer) -> kvo_status {
    guard let made = foundation.collection(T.self, of: elements) as? T else {
      return .KVO_TYPE_MISMATCH
    }
    if isOptional {
      target.initializeMemory(as: T?.self, to: made)
    } else {
      target.initializeMemory(as: T.self, to: made)
    }
    return .KVO_OK
  }

  override func count(_ value: UnsafeRawPointer) -> Int { elements(value).count }

  override func get(
    _ value: UnsafeRawPointer, _ index: Int, into element: UnsafeMutablePointer<kvo_value>
  ) -> kvo_status {
    CoreValue.make(of: elements(value)[index], into: element)
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

  override func make(
    _ elements: UnsafeBufferPointer<kvo_value>, into target: UnsafeMutableRawPointer
  ) -> kvo_status {
    write(
      elements.indices.map { present(ValueType.any(of: elements.baseAddress! + $0)) }, to: target)
  }

  // Not called for sets. Can't fail: a collection of the class can be made of its own elements, also of none.
  override func pick(
    _ value: UnsafeRawPointer, _ ranges: [Range<Int>], into target: UnsafeMutableRawPointer
  ) {
    let elements = elements(value)
    _ = write(ranges.flatMap { elements[$0.clamped(to: 0..<elements.count)] }, to: target)
  }

  override func filter(
    _ a: UnsafeRawPointer, _ b: UnsafeRawPointer, wanted: Bool, into target: UnsafeMutableRawPointer
  ) {
    let sought = SoughtElements(elements(b))
    _ = write(elements(a).filter { sought.contains($0) == wanted }, to: target)
  }
}

/// A dictionary of Foundation's.
private final class FoundationDictionaryType<T>: TypedValueType<T>, @unchecked Sendable {
  init() { super.init(Self.ownAbilities.union([.keyed, .mapped])) }

  private func object(_ address: UnsafeRawPointer) -> any KeyedValue {
    FoundationDictionary(object: address.assumingMemoryBound(to: T.self).pointee)
  }

  override func convert(_ value: Any?) -> Conversion {
    guard let value = value.flatMap(flattened) else { return .unexpectedNil }
    if Swift.type(of: value) is AnyClass, let same = value as? T { return .value(.of(same)) }
    guard let pairs = AnyPairs(value),
      let made = FoundationLink.linked?.dictionary(T.self, of: pairs.all) as? T
    else { return ValueConversion.isNull(value) ? .unexpectedNil : .mismatch }
    return .value(.of(made))
  }

  // Not by Foundation's comparison, which stops the program for values that are not hashable.
  override func areEqual(_ a: UnsafeRawPointer, _ b: UnsafeRawPointer) -> Bool {
    let (first, second) = (members(a), members(b))
    return first.count == second.count
      && first.allSatisfy { key, value in
        second[key].map { KVORuntime.areEqual(value, $0) } ?? false
      }
  }

  override func copyIfMutable(_ value: Any) -> Any? {
    guard let pairs = AnyPairs(value)?.all else { return super.copyIfMutable(value) }
    let values = pairs.map(\.value)
    let copies = ValueType.of(Any.self).copies(of: values) ?? values
    let copied = zip(pairs, copies).map { (key: $0.key, value: $1) }
    return FoundationLink.linked?.dictionary(type(of: value), of: copied)
      ?? super.copyIfMutable(value)
  }

  private func members(_ address: UnsafeRawPointer) -> [AnyHashable: Any] {
    let pairs = AnyPairs(address.assumingMemoryBound(to: T.self).pointee)?.all ?? []
    return Dictionary(
      pairs.compactMap { pair in (pair.key as? AnyHashable).map { ($0.inSwiftForm, pair.value) } },
      uniquingKeysWith: { first, _ in first })
  }

  override func value(
    forKey key: String, at address: UnsafeRawPointer, into value: UnsafeMutablePointer<kvo_value>
  ) {
    CoreValue.make(of: object(address).member(forKey: key), into: value)
  }

  override func values(at address: UnsafeRawPointer, into value: UnsafeMutablePointer<kvo_value>) {
    let pairs = AnyPairs(address.assumingMemoryBound(to: T.self).pointee)
    value.initialize(to: .of((pairs?.all ?? []).map(\.value)))
  }
}

/// An `NSDictionary`, to be read and set by string keys.
private struct FoundationDictionary: KeyedValue {
  let object: Any

  var memberType: Any.Type { Any.self }

  func member(forKey key: String) -> Any? {
    FoundationLink.linked?.member(key, of: object)
  }

  func setting(_ value: Any?, forKey key: String) -> Any? {
    var pairs = AnyPairs(object)?.all.filter { $0.key as? String != key } ?? []
    if let value = value.flatMap(flattened) { pairs.append((key, value)) }
    return FoundationLink.linked?.dictionary(type(of: object), of: pairs)
  }
}

/// The value as a dictionary with string keys: one of Swift's, or Foundation's; nil for any other value.
func keyedValue(_ value: Any) -> (any KeyedValue)? {
  if let keyed = value as? any KeyedValue { return type(of: keyed).hasKeys ? keyed : nil }
  guard type(of: value) is AnyClass,
    FoundationLink.linked?.collection(type(of: value)) == .dictionary
  else { return nil }
  return FoundationDictionary(object: value)
}
