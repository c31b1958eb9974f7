import CFixtures
import CKVORuntime
import TestSupport

/// Converts between values of the runtime and of the model.
extension GraphRuntime {
  func indexes(_ set: OpaquePointer) -> [Int] {
    (0..<kvo_index_set_count(set)).map { kvo_index_set_index(set, $0) }
  }

  func value(_ value: UnsafePointer<kvo_value>) -> GraphValue {
    if kvo_value_is_nil(value) { return .nil }
    var kind = kvo_collection_kind.KVO_ARRAY
    if kvo_value_is_collection(value, &kind) {
      let elements = elements(value)
      return kind == .KVO_SET ? .set(of: elements) : .list(elements)
    }
    return kvo_value_get_object(value).map { .object(Self.number($0)) }
      ?? .number(kvo_value_get_double(value))
  }

  func elements(_ value: UnsafePointer<kvo_value>) -> [Int] {
    (0..<kvo_value_count(value)).map { index in
      var element = kvo_value()
      kvo_value_element(value, index, &element)
      defer { kvo_value_destroy(&element) }
      return kvo_value_get_object(&element).map(Self.number) ?? -1
    }
  }

  /// The elements of a list or set in storage, read without accessors.
  func stored(_ node: UnsafeMutablePointer<graph_node>, _ key: GraphClass.Key) -> GraphValue {
    switch GraphClass.names[key] {
    case "items": return .list(members(node.pointee.items))
    case "tags": return .set(of: members(node.pointee.tags))
    default:
      guard let wares = node.pointee.wares else { return .nil }
      var boxed = boxed(wares)
      defer { kvo_value_destroy(&boxed) }
      return value(&boxed)
    }
  }

  func members(_ list: graph_list) -> [Int] {
    (0..<list.count).map { Int(list.nodes![$0].pointee.watcher.tracked.mark) }
  }

  func boxed(_ value: GraphValue, _ kind: GraphClass.Kind) -> kvo_value {
    switch value {
    case .nil: kvo_value()
    case .number(let number): kvo_value_double(number)
    case .object(let number): kvo_value_object(object(number))
    case .list(let elements): withCollection(elements, .KVO_ARRAY, boxed)
    case .set(let elements): withCollection(elements, .KVO_SET, boxed)
    }
  }

  func boxed(_ collection: OpaquePointer) -> kvo_value {
    kvo_value_object(
      UnsafeMutableRawPointer(collection).assumingMemoryBound(to: kvo_object.self))
  }

  func withCollection<R>(
    _ elements: [Int], _ kind: kvo_collection_kind, _ body: (OpaquePointer) -> R
  ) -> R {
    var values = elements.map { kvo_value_object(object($0)) }
    guard let collection = kvo_collection_create(kind, values, values.count, nil) else {
      preconditionFailure("no collection")
    }
    for index in values.indices { kvo_value_destroy(&values[index]) }
    defer {
      kvo_object_release(
        UnsafeMutableRawPointer(collection).assumingMemoryBound(to: kvo_object.self))
    }
    return body(collection)
  }

  func withIndexes<R>(_ indexes: [Int], _ body: (OpaquePointer) -> R) -> R {
    guard let set = kvo_index_set_create() else { preconditionFailure("no index set") }
    defer { kvo_index_set_destroy(set) }
    for index in indexes { kvo_index_set_add(set, index) }
    return body(set)
  }
}
