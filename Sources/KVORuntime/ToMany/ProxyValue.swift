internal import CKVORuntime

// Proxies as the C core sees them: collections whose count and elements the core asks for when it needs them.
// So key-value coding on a proxy reads no more elements than it needs.

/// A proxy of a to-many key.
protocol ProxyValue: AnyObject, DescribedValue {
  static var kind: kvo_collection_kind { get }
  var count: Int { get }
  func element(at index: Int) -> Any
  /// The current elements: an array or a set.
  var elements: any CollectionValue { get }
}

extension ProxyValue {
  static func makeValueType() -> ValueType { TypedValueType<Self>(shape: ProxyShape<Self>()) }
}

private final class ProxyShape<Proxy: ProxyValue>: CollectionShape, @unchecked Sendable {
  init() { super.init(Proxy.kind, .of(Any.self), isOptional: false) }

  override var isMade: Bool { false }

  private func proxy(_ value: UnsafeRawPointer) -> Proxy {
    value.assumingMemoryBound(to: Proxy.self).pointee
  }

  override func count(_ value: UnsafeRawPointer) -> Int { proxy(value).count }

  override func get(
    _ value: UnsafeRawPointer, _ index: Int, into element: UnsafeMutablePointer<kvo_value>
  ) -> kvo_status {
    CoreValue.make(of: proxy(value).element(at: index), into: element)
    return .KVO_OK
  }

  override func each(
    _ value: UnsafeRawPointer, _ take: (UnsafeRawPointer) -> kvo_status
  ) -> kvo_status {
    for element in proxy(value).elements {
      let status = withUnsafePointer(to: element as Any) { take($0) }
      if status != .KVO_OK { return status }
    }
    return .KVO_OK
  }
}

extension ArrayProxy: ProxyValue {
  static var kind: kvo_collection_kind { .KVO_ARRAY }
  func element(at index: Int) -> Any { contents.element(at: index) }
  var elements: any CollectionValue { contents.elements(in: 0..<contents.count) }
}

extension MutableArrayProxy: ProxyValue {
  static var kind: kvo_collection_kind { .KVO_ARRAY }
  func element(at index: Int) -> Any { contents.reading.element(at: index) }
  var elements: any CollectionValue { contents.reading.elements(in: 0..<count) }
}

extension MutableOrderedSetProxy: ProxyValue {
  static var kind: kvo_collection_kind { .KVO_ORDERED_SET }
  func element(at index: Int) -> Any { contents.reading.element(at: index) }
  var elements: any CollectionValue { contents.reading.elements(in: 0..<count) }
}

// Members have no indexes, so these are valid for one enumeration only.

extension SetProxy: ProxyValue {
  static var kind: kvo_collection_kind { .KVO_SET }
  func element(at index: Int) -> Any { Array(contents.members)[index] }
  var elements: any CollectionValue { contents.members }
}

extension MutableSetProxy: ProxyValue {
  static var kind: kvo_collection_kind { .KVO_SET }
  func element(at index: Int) -> Any { Array(contents.reading.members)[index] }
  var elements: any CollectionValue { contents.reading.members }
}
