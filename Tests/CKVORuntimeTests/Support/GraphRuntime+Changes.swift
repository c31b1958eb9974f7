import CFixtures
import CKVORuntime
import TestSupport

/// Changes of nodes: by accessors, key-value coding, proxies and manual pairs.
extension GraphRuntime {
  func set(_ number: Int, _ key: GraphClass.Key, to value: GraphValue, by route: SetRoute) {
    let node = nodes[number].pointer
    switch route {
    case .setter: call(node, GraphClass.names[key], value)
    case .store: store(node, GraphClass.names[key], value)
    case .key:
      var boxed = boxed(value, GraphClass.keys[key].kind)
      if kvo_set_value_for_key(node.object, GraphClass.names[key], &boxed, nil) != .KVO_OK {
        log.add(.other)
      }
      kvo_value_destroy(&boxed)
    }
  }

  private func pointer(_ value: GraphValue) -> UnsafeMutablePointer<graph_node>? {
    value.objects.first.map { nodes[$0].pointer }
  }

  private func number(_ value: GraphValue) -> Double {
    if case .number(let number) = value { number } else { 0 }
  }

  private func call(_ node: UnsafeMutablePointer<graph_node>, _ key: String, _ value: GraphValue) {
    switch key {
    case "value": graph_node_setValue(node, number(value))
    case "extra": graph_node_setExtra(node, number(value))
    case "quiet": graph_node_setQuiet(node, number(value))
    case "manual": graph_node_setManual(node, number(value))
    case "next": graph_node_setNext(node, pointer(value))
    case "other": graph_node_setOther(node, pointer(value))
    case "items": withCollection(value.elements, .KVO_ARRAY) { graph_node_setItems(node, $0) }
    case "tags": withCollection(value.elements, .KVO_SET) { graph_node_setTags(node, $0) }
    default: withWares(value) { graph_node_setWares(node, $0) }
    }
  }

  private func store(_ node: UnsafeMutablePointer<graph_node>, _ key: String, _ value: GraphValue) {
    switch key {
    case "value": node.pointee.value = number(value)
    case "extra": node.pointee.extra = number(value)
    case "quiet": node.pointee.quiet = number(value)
    case "manual": node.pointee.manual = number(value)
    case "next": graph_node_store_next(node, pointer(value))
    case "other": graph_node_store_other(node, pointer(value))
    case "items": graph_node_store_items(node, pointers(value), value.elements.count)
    case "tags": graph_node_store_tags(node, pointers(value), value.elements.count)
    default: withWares(value) { graph_node_store_wares(node, $0) }
    }
  }

  private func pointers(_ value: GraphValue) -> [UnsafeMutablePointer<graph_node>] {
    value.elements.map { nodes[$0].pointer }
  }

  private func withWares(_ value: GraphValue, _ body: (OpaquePointer?) -> Void) {
    guard value.isCollection else { return body(nil) }
    withCollection(value.elements, .KVO_ARRAY) { body($0) }
  }

  func willChange(_ number: Int, _ key: GraphClass.Key, _ mutation: Mutation?) {
    let name = GraphClass.names[key]
    guard let mutation else { return kvo_will_change(object(number), name) }
    if mutation.form.isOfSet {
      withCollection(mutation.objects, .KVO_SET) {
        kvo_will_change_set(object(number), mutation.form.ofSet, $0, name)
      }
    } else {
      withIndexes(mutation.indexes) {
        kvo_will_change_indexes(object(number), mutation.form.ofList, $0, name)
      }
    }
  }

  func didChange(_ number: Int, _ key: GraphClass.Key, _ mutation: Mutation?) {
    let name = GraphClass.names[key]
    guard let mutation else { return kvo_did_change(object(number), name) }
    if mutation.form.isOfSet {
      withCollection(mutation.objects, .KVO_SET) {
        kvo_did_change_set(object(number), mutation.form.ofSet, $0, name)
      }
    } else {
      withIndexes(mutation.indexes) {
        kvo_did_change_indexes(object(number), mutation.form.ofList, $0, name)
      }
    }
  }

  // MARK: Mutations

  func mutate(_ number: Int, _ key: GraphClass.Key, _ mutation: Mutation, by route: MutationRoute) {
    switch route {
    case .accessor where mutation.form.isOfSet: callOfTags(nodes[number].pointer, mutation)
    case .accessor: callOfItems(nodes[number].pointer, mutation)
    case .proxy: throughProxy(number, key, mutation)
    case .hand:
      willChange(number, key, mutation)
      store(number, key, mutation)
      didChange(number, key, mutation)
    case .store: store(number, key, mutation)
    }
  }

  private func store(_ number: Int, _ key: GraphClass.Key, _ mutation: Mutation) {
    let node = nodes[number].pointer
    store(node, GraphClass.names[key], mutation.applied(to: stored(node, key)))
  }

  private func callOfItems(_ node: UnsafeMutablePointer<graph_node>, _ mutation: Mutation) {
    if mutation.indexes.count > 1 { return callOfManyItems(node, mutation) }
    let index = mutation.indexes[0]
    let item = mutation.objects.first.map { nodes[$0].pointer }
    switch mutation.form {
    case .insert: graph_node_insertItem(node, item!, index)
    case .remove: graph_node_removeItem(node, index)
    default: graph_node_replaceItem(node, index, item!)
    }
  }

  private func callOfManyItems(_ node: UnsafeMutablePointer<graph_node>, _ mutation: Mutation) {
    withIndexes(mutation.indexes) { indexes in
      withCollection(mutation.objects, .KVO_ARRAY) { objects in
        switch mutation.form {
        case .insert: graph_node_insertItems(node, objects, indexes)
        case .remove: graph_node_removeItems(node, indexes)
        default: graph_node_replaceItems(node, indexes, objects)
        }
      }
    }
  }

  private func callOfTags(_ node: UnsafeMutablePointer<graph_node>, _ mutation: Mutation) {
    let isOne = mutation.objects.count == 1
    withCollection(mutation.objects, .KVO_SET) { objects in
      switch mutation.form {
      case .union where isOne: graph_node_addTag(node, nodes[mutation.objects[0]].pointer)
      case .union: graph_node_addTags(node, objects)
      case .minus where isOne: graph_node_removeTag(node, nodes[mutation.objects[0]].pointer)
      case .minus: graph_node_removeTags(node, objects)
      case .intersect: graph_node_intersectTags(node, objects)
      default: graph_node_setTags(node, objects)
      }
    }
  }

  private func throughProxy(_ number: Int, _ key: GraphClass.Key, _ mutation: Mutation) {
    var proxy: OpaquePointer?
    let name = GraphClass.names[key]
    var status =
      mutation.form.isOfSet
      ? kvo_mutable_set(object(number), name, &proxy, nil)
      : kvo_mutable_array(object(number), name, &proxy, nil)
    if let proxy {
      status =
        mutation.form.isOfSet ? mutateSet(proxy, mutation) : mutateArray(proxy, mutation)
      kvo_object_release(
        UnsafeMutableRawPointer(proxy).assumingMemoryBound(to: kvo_object.self))
    }
    if status != .KVO_OK { log.add(refusal(status)) }
  }

  private func mutateSet(_ proxy: OpaquePointer, _ mutation: Mutation) -> kvo_status {
    withCollection(mutation.objects, .KVO_SET) { objects in
      switch mutation.form {
      case .union: kvo_collection_union(proxy, objects, nil)
      case .minus: kvo_collection_minus(proxy, objects, nil)
      case .intersect: kvo_collection_intersect(proxy, objects, nil)
      default: kvo_collection_set(proxy, objects, nil)
      }
    }
  }

  private func mutateArray(_ proxy: OpaquePointer, _ mutation: Mutation) -> kvo_status {
    if mutation.indexes.count > 1 { return mutateArrayAtIndexes(proxy, mutation) }
    let index = mutation.indexes[0]
    var element = mutation.objects.first.map { kvo_value_object(object($0)) } ?? kvo_value()
    defer { kvo_value_destroy(&element) }
    switch mutation.form {
    case .insert: return kvo_collection_insert(proxy, index, &element, nil)
    case .remove: return kvo_collection_remove_at(proxy, index, nil)
    default: return kvo_collection_replace_at(proxy, index, &element, nil)
    }
  }

  private func mutateArrayAtIndexes(_ proxy: OpaquePointer, _ mutation: Mutation) -> kvo_status {
    withIndexes(mutation.indexes) { indexes in
      withCollection(mutation.objects, .KVO_ARRAY) { objects in
        switch mutation.form {
        case .insert: kvo_collection_insert_many(proxy, indexes, objects, nil)
        case .remove: kvo_collection_remove_indexes(proxy, indexes, nil)
        default: kvo_collection_replace_indexes(proxy, indexes, objects, nil)
        }
      }
    }
  }
}

extension Mutation.Form {
  fileprivate var ofList: kvo_change_kind {
    switch self {
    case .insert: .KVO_INSERTION
    case .remove: .KVO_REMOVAL
    default: .KVO_REPLACEMENT
    }
  }

  fileprivate var ofSet: kvo_set_mutation {
    switch self {
    case .union: .KVO_UNION
    case .minus: .KVO_MINUS
    case .intersect: .KVO_INTERSECT
    default: .KVO_SET_SET
    }
  }
}
