/// Key-value observing in the simplest form: lists, searched from end to end, and no caches. It predicts the
/// notifications, their order and content, for any sequence of operations.
///
/// This file has the objects: their storage, reading, and deaths. The other files have attached paths (`+Standing`),
/// changes (`+Changes`), and registrations (`+Registrations`).
package final class ObservationModel: GraphSystem {
  package var log = GraphLog()
  package var reaction: (Int) -> Void = { _ in }

  var objects: [Object] = []
  /// Living objects without references from outside the graph.
  private var adrift: [Int] = []
  var registrations: [Registration] = []
  /// The number of registrations ever made.
  var registered = 0
  /// The derived keys that are observed or needed, in the order in which they were attached.
  var watched: [Watched] = []
  var watchedEver = 0
  /// Automatic changes before their did phase.
  var open: [Node] = []
  /// Manual changes that have not been closed.
  var pairs: [Change] = []
  /// All open changes, from will until the last observer has returned.
  var underWay: [Change] = []
  /// Counts readings of values.
  var time = 0
  /// An open change of a link, while places behind it are left out.
  var covering: Change?
  /// Whether paths are being followed because of a change.
  var isLeading = false
  /// Whether places to which changes have led are left out.
  var isWithoutLed = false

  let dialect: GraphDialect
  /// The keys read, while reads are being recorded.
  private var reads: [Node]?

  package init(_ dialect: GraphDialect = .c) { self.dialect = dialect }

  // MARK: Objects

  final class Object {
    var values: [GraphValue] = GraphClass.keys.map { key in
      switch (key.kind, key.hasAccessors) {
      case (.number, _): .number(0)
      case (.list, true): .list([])
      case (.set, _): .set([])
      default: .nil
      }
    }
    /// References from outside the graph.
    var references = 1
    var isAlive = true
    /// The places attached to the object's keys.
    var places: [Place] = []

    func holds(_ object: Int) -> Bool {
      GraphClass.strong.contains { values[$0].objects.contains(object) }
    }

    func forget(_ object: Int) {
      for key in GraphClass.weak where values[key] == .object(object) { values[key] = .nil }
    }
  }

  package func make(_ object: Int) { objects.append(Object()) }

  package func retain(_ object: Int) {
    objects[object].references += 1
    if objects[object].references == 1 { adrift.removeAll { $0 == object } }
  }

  package func release(_ object: Int) {
    objects[object].references -= 1
    guard objects[object].references == 0 else { return }
    adrift.append(object)
    buryTheDead()
  }

  /// Whether an object is kept alive from inside the graph: by a living object, by the old or new value of an open
  /// change, or as an element of the value last delivered to an observer of distinct changes.
  private func isInside(_ object: Int) -> Bool {
    objects.contains { $0.isAlive && $0.holds(object) }
      || underWay.contains { $0.values.contains { $0.objects.contains(object) } }
      || registrations.contains { $0.last.value?.elements.contains(object) ?? false }
  }

  func buryTheDead() {
    while !adrift.isEmpty, let dead = adrift.first(where: { !isInside($0) }) { die(dead) }
  }

  /// Ends the registrations that the object made and that were made with it, and removes the places attached to it.
  /// No observer is notified.
  private func die(_ object: Int) {
    end { $0.root == object || $0.observer == object }
    while let place = objects[object].places.first { detach(place) }
    pairs.removeAll { $0.node.object == object }
    adrift.removeAll { $0 == object }
    objects[object].isAlive = false
    objects[object].values = []
    for other in objects where other.isAlive { other.forget(object) }
    endUnwatched()
  }

  package func removeEverything() { end { _ in true } }

  package func end() {
    for object in objects { object.values = object.isAlive ? Object().values : [] }
    buryTheDead()
  }

  // MARK: Reading

  func read(_ object: Int, _ key: GraphClass.Key) -> GraphValue {
    let description = GraphClass.keys[key]
    guard description.isDerived else {
      if description.isSeen { reads?.append(Node(object: object, key: key)) }
      return objects[object].values[key]
    }
    switch description.tracking {
    case .path, .computedPath:
      defer { readDeclaredKeys(along: description.terms[0], from: object) }
      return read(object, description.terms[0])
    case .choice(let key):
      let first = number(read(object, GraphPath(key))) != 0
      return .number(number(read(object, description.terms[first ? 0 : 1])))
    case .computed, nil: return combined(description, of: object)
    }
  }

  // Reads declared keys, which key-value coding or a manual pair may change, though no getter records them.
  private func readDeclaredKeys(along path: GraphPath, from object: Int) {
    guard reads != nil else { return }
    var value = GraphValue.object(object)
    for case .key(let key) in path.components {
      guard case .object(let object) = value else { return }
      if GraphClass.keys[key].isDeclared { reads?.append(Node(object: object, key: key)) }
      value = read(object, key)
    }
  }

  private func combined(_ description: GraphClass.KeyDescription, of object: Int) -> GraphValue {
    guard description.kind == .link else {
      return .number(description.terms.reduce(0) { $0 + number(read(object, $1)) })
    }
    for term in description.terms {
      let link = read(object, term)
      if link != .nil { return link }
    }
    return .nil
  }

  /// The keys whose reads are recorded when a key is read, each once.
  func reads(of node: Node) -> [Node] {
    reads = []
    defer { reads = nil }
    _ = read(node.object, node.key)
    return reads!.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }

  func read(_ object: Int, _ path: GraphPath) -> GraphValue { read(.object(object), path, from: 0) }

  /// The value of the path from a component on; nil where it is broken.
  private func read(_ value: GraphValue, _ path: GraphPath, from depth: Int) -> GraphValue {
    guard depth < path.count else { return value }
    switch path.components[depth] {
    case .unknown: return .nil
    case .aggregate(let aggregate):
      guard value.isCollection else { return .nil }
      if aggregate == .count { return .number(Double(value.elements.count)) }
      return combined(aggregate, value.elements.map { read(.object($0), path, from: depth + 1) })
    case .key(let key):
      guard case .object(let object) = value else { return .nil }
      return read(read(object, key), path, from: depth + 1)
    }
  }

  private func number(_ value: GraphValue) -> Double {
    if case .number(let number) = value { number } else { 0 }
  }

  private func combined(_ aggregate: GraphPath.Aggregate, _ values: [GraphValue]) -> GraphValue {
    let present = values.filter { $0 != .nil }.map(number)
    let sum = present.reduce(0, +)
    switch aggregate {
    case .count, .sum: return .number(sum)
    case .avg: return .number(values.isEmpty ? 0 : sum / Double(values.count))
    case .min: return present.min().map(GraphValue.number) ?? .nil
    case .max: return present.max().map(GraphValue.number) ?? .nil
    }
  }
}

/// A key of an object.
struct Node: Equatable {
  let object: Int
  let key: GraphClass.Key
}
