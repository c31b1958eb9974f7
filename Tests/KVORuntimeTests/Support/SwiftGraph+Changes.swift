import KVORuntime
import TestSupport

/// Changes of nodes: by properties, key-value coding, handles, proxies and manual pairs.
extension SwiftGraph {
  func set(_ number: Int, _ key: GraphClass.Key, to value: GraphValue, by route: SetRoute) {
    let name = GraphClass.names[key]
    switch route {
    case .setter: assign(node(number), name, value)
    case .store: store(node(number), name, value)
    case .key:
      if let refusal = refusal({ try node(number).setValue(untyped(value), forKey: name) }) {
        log.add(refusal)
      }
    }
  }

  private func link(_ value: GraphValue) -> GraphNode? { value.objects.first.map(node) }
  private func nodes(_ objects: [Int]) -> [GraphNode] { objects.map(node) }
  private func list(_ value: GraphValue) -> [GraphNode] { nodes(value.elements) }
  private func members(_ value: GraphValue) -> Set<GraphNode> { Set(value.elements.map(node)) }

  private func number(_ value: GraphValue) -> Double {
    if case .number(let number) = value { number } else { 0 }
  }

  private func untyped(_ value: GraphValue) -> Any? {
    switch value {
    case .nil: nil
    case .number(let number): number
    case .object(let number): node(number)
    case .list(let elements): elements.map(node)
    case .set(let elements): Set(elements.map(node))
    }
  }

  private func assign(_ node: GraphNode, _ key: String, _ value: GraphValue) {
    switch key {
    case "value": node.value = number(value)
    case "extra": put(number(value), into: &node.extra)
    case "quiet": node.quiet = number(value)
    case "manual": node.manual = number(value)
    case "next": node.next = link(value)
    case "other": node[keyPath: \.other] = link(value)
    case "friend": node.friend = link(value)
    case "items": node.items = list(value)
    case "tags": node.tags = members(value)
    default: node.wares = value.isCollection ? list(value) : nil
    }
  }

  /// In place.
  private func put(_ number: Double, into property: inout Double) { property = number }

  private func store(_ node: GraphNode, _ key: String, _ value: GraphValue) {
    switch key {
    case "next", "other", "friend": node.store(link(value), key)
    case "items": node.store(items: list(value))
    case "tags": node.store(tags: members(value))
    case "wares": node.store(wares: value.isCollection ? list(value) : nil)
    default: node.store(number(value), key)
    }
  }

  private func stored(_ node: GraphNode, _ key: String) -> GraphValue {
    switch key {
    case "items": node.items.graphValue
    case "tags": node.tags.graphValue
    default: node.wares.graphValue
    }
  }

  // MARK: Manual changes

  func willChange(_ number: Int, _ key: GraphClass.Key, _ mutation: Mutation?) {
    let (node, name) = (node(number), GraphClass.names[key])
    switch (mutation, name) {
    case (nil, "value"): node.willChangeValue(for: \.value)
    case (nil, _): node.willChangeValue(forKey: name)
    case (let mutation?, "items"):
      node.willChange(mutation.listKind, valuesAt: mutation.rangeSet, for: \.items)
    case (let mutation?, "tags"):
      node.willChangeValue(
        for: \.tags, withSetMutation: mutation.setMutation, using: members(.set(mutation.objects)))
    case (let mutation?, _):
      node.willChange(mutation.listKind, valuesAt: mutation.rangeSet, forKey: name)
    }
  }

  func didChange(_ number: Int, _ key: GraphClass.Key, _ mutation: Mutation?) {
    let (node, name) = (node(number), GraphClass.names[key])
    switch (mutation, name) {
    case (nil, "value"): node.didChangeValue(for: \.value)
    case (nil, _): node.didChangeValue(forKey: name)
    case (let mutation?, "items"):
      node.didChange(mutation.listKind, valuesAt: mutation.rangeSet, for: \.items)
    case (let mutation?, "tags"):
      let objects = members(.set(mutation.objects)) as Set<AnyHashable>
      node.didChangeValue(
        forKey: name, withSetMutation: mutation.setMutation, using: objects)
    case (let mutation?, _):
      node.didChange(mutation.listKind, valuesAt: mutation.rangeSet, forKey: name)
    }
  }

  // MARK: Mutations

  func mutate(_ number: Int, _ key: GraphClass.Key, _ mutation: Mutation, by route: MutationRoute) {
    let (node, name) = (node(number), GraphClass.names[key])
    switch route {
    case .accessor: throughHandle(node, name, mutation)
    case .proxy: throughProxy(node, name, mutation)
    case .hand:
      willChange(number, key, mutation)
      store(node, name, mutation.applied(to: stored(node, name)))
      didChange(number, key, mutation)
    case .store: store(node, name, mutation.applied(to: stored(node, name)))
    }
  }

  private func throughHandle(_ node: GraphNode, _ key: String, _ mutation: Mutation) {
    switch key {
    case "items": change(node, key, node.mutableArray(\.items), mutation)
    case "wares": change(node, key, node.mutableArray(\.wares), mutation)
    default: change(node.mutableSet(\.tags), mutation)
    }
  }

  /// A handle stops the program at a bad index, and can't insert elements at several places.
  private func change(
    _ node: GraphNode, _ key: String, _ list: ObservedArray<GraphNode>, _ mutation: Mutation
  ) {
    guard mutation.fits(list.count) else { return log.add(.outOfBounds) }
    let ranges = mutation.rangeSet.ranges
    let objects = nodes(mutation.objects)
    switch mutation.form {
    case .remove where mutation.indexes.count == 1: list.remove(at: mutation.indexes[0])
    case .remove: list.removeSubranges(mutation.rangeSet)
    case _ where ranges.count > 1: throughProxy(node, key, mutation)
    case .insert: list.insert(contentsOf: objects, at: mutation.indexes[0])
    default: list.replaceSubrange(ranges[0], with: objects)
    }
  }

  private func change(_ set: ObservedSet<GraphNode>, _ mutation: Mutation) {
    let members = members(.set(mutation.objects))
    switch mutation.form {
    case .union: set.formUnion(members)
    case .minus: set.subtract(members)
    case .intersect: set.formIntersection(members)
    default: set.set(members)
    }
  }

  private func throughProxy(_ node: GraphNode, _ key: String, _ mutation: Mutation) {
    let refusal = refusal {
      if mutation.form.isOfSet {
        try change(node.mutableSetValue(forKey: key), mutation)
      } else {
        try change(node.mutableArrayValue(forKey: key), mutation)
      }
    }
    if let refusal { log.add(refusal) }
  }

  private func change(_ set: MutableSetProxy, _ mutation: Mutation) throws {
    let members = members(.set(mutation.objects)) as Set<AnyHashable>
    switch mutation.form {
    case .union: try set.formUnion(members)
    case .minus: try set.subtract(members)
    case .intersect: try set.formIntersection(members)
    default: try set.set(members)
    }
  }

  private func change(_ list: MutableArrayProxy, _ mutation: Mutation) throws {
    let objects = nodes(mutation.objects)
    switch mutation.form {
    case .insert where objects.count == 1:
      try list.insert(objects[0], at: mutation.indexes[0])
    case .insert: try list.insert(objects, at: mutation.rangeSet)
    case .remove: try list.remove(at: mutation.rangeSet)
    default: try list.replace(at: mutation.rangeSet, with: objects)
    }
  }
}
