// Where key paths are attached. A path followed for a registration or for a derived key is attached to a key of each
// object on it. It stays attached, whatever storage says, until a change of that key is delivered.

/// A followed path: of a registration, or of a derived key that the value at its end affects.
final class Strand {
  unowned let registration: Registration?
  unowned let dependent: Watched?
  let path: GraphPath
  var first: Place?

  init(_ path: GraphPath, registration: Registration? = nil, dependent: Watched? = nil) {
    self.path = path
    self.registration = registration
    self.dependent = dependent
  }
}

/// The attachment of a strand to a key of an object, at one component of its path. `onward` has the attachments at
/// the objects that the key's value led to.
final class Place {
  let node: Node
  unowned let strand: Strand
  let depth: Int
  /// Whether a change has led its path here, after it was registered.
  let isLed: Bool
  weak var parent: Place?
  var onward: [Place] = []

  init(_ node: Node, _ strand: Strand, _ depth: Int, isLed: Bool) {
    self.node = node
    self.strand = strand
    self.depth = depth
    self.isLed = isLed
  }

  var isLast: Bool { depth == strand.path.count - 1 }
}

/// A derived key that is observed, so that its dependencies are followed.
final class Watched {
  let node: Node
  let order: Int
  var strands: [Strand] = []
  var isNeeded = false

  init(_ node: Node, order: Int) {
    self.node = node
    self.order = order
  }

  var description: GraphClass.KeyDescription { GraphClass.keys[node.key] }

  /// Whether it is a path, whose observers are ordered among those of the keys on it.
  var isPath: Bool { if case .path = description.tracking { true } else { false } }
  /// Whether it is a path through a computed link.
  var isComputedPath: Bool {
    if case .computedPath = description.tracking { true } else { false }
  }
}

extension ObservationModel {
  func begin(_ strand: Strand, at object: Int) { strand.first = stand(strand, object, 0) }

  func end(_ strand: Strand) {
    if let first = strand.first { remove(first) }
    strand.first = nil
  }

  private func stand(
    _ strand: Strand, _ object: Int, _ depth: Int, behind parent: Place? = nil
  ) -> Place? {
    guard case .key(let key) = strand.path.components[depth] else { return nil }
    let place = Place(Node(object: object, key: key), strand, depth, isLed: isLeading)
    place.parent = parent
    objects[object].places.append(place)
    watch(place.node)
    if let onward = onward(from: place) {
      place.onward = onward.objects.compactMap { stand(strand, $0, onward.depth, behind: place) }
    }
    return place
  }

  /// The objects that a path leads to from a place, each once, and the component that it goes on with there; nil if
  /// it ends here.
  private func onward(from place: Place) -> (objects: [Int], depth: Int)? {
    let path = place.strand.path
    guard !place.isLast else { return nil }
    let value = read(place.node.object, place.node.key)
    guard case .aggregate(let aggregate) = path.components[place.depth + 1] else {
      return (value.isCollection ? [] : value.objects, place.depth + 1)
    }
    let goesOn = aggregate != .count && place.depth + 2 < path.count
    return goesOn ? (distinct(value.elements), place.depth + 2) : nil
  }

  private func distinct(_ elements: [Int]) -> [Int] {
    elements.indices.filter { !elements[..<$0].contains(elements[$0]) }.map { elements[$0] }
  }

  /// Makes the path follow the key's current value: it leaves objects it no longer leads to, then attaches to new
  /// ones. Where it leads to the same object it stays.
  func relink(_ place: Place) {
    guard objects[place.node.object].places.contains(where: { $0 === place }),
      let onward = onward(from: place)
    else { return }
    let left = place.onward.filter { !onward.objects.contains($0.node.object) }
    place.onward.removeAll { !onward.objects.contains($0.node.object) }
    for left in left { remove(left) }
    endUnwatched()
    for object in onward.objects where !place.onward.contains(where: { $0.node.object == object }) {
      if let new = stand(place.strand, object, onward.depth, behind: place) {
        place.onward.append(new)
      }
    }
  }

  /// Removes the place and all places onward.
  func remove(_ place: Place) {
    for onward in place.onward { remove(onward) }
    place.onward = []
    objects[place.node.object].places.removeAll { $0 === place }
  }

  /// Removes a place at a dying object, so that nothing leads there any more.
  func detach(_ place: Place) {
    remove(place)
    place.parent?.onward.removeAll { $0 === place }
    guard place.strand.first === place else { return }
    place.strand.first = nil
    place.strand.dependent?.strands.removeAll { $0 === place.strand }
  }

  // MARK: Derived keys

  func watched(_ node: Node) -> Watched? { watched.first { $0.node == node } }

  private func watch(_ node: Node) {
    let description = GraphClass.keys[node.key]
    guard description.isDerived, watched(node) == nil else { return }
    watchedEver += 1
    let new = Watched(node, order: watchedEver)
    watched.append(new)
    for path in description.affecting { begin(path, at: node.object, for: new) }
    track(new)
  }

  private func begin(_ path: GraphPath, at object: Int, for derived: Watched) {
    let strand = Strand(path, dependent: derived)
    derived.strands.append(strand)
    begin(strand, at: object)
  }

  /// Makes a tracked key depend on its getter's current reads.
  func track(_ derived: Watched) {
    guard derived.description.tracking != nil, watched(derived.node) === derived else { return }
    let read = reads(of: derived.node)
    let left = derived.strands.filter { !read.contains($0.first!.node) }
    derived.strands.removeAll { strand in left.contains { $0 === strand } }
    for node in read where !derived.strands.contains(where: { $0.first!.node == node }) {
      begin(GraphClass.paths[node.key], at: node.object, for: derived)
    }
    for strand in left { end(strand) }
  }

  /// Ends derived keys that no registration leads to, also if they depend on one another.
  func endUnwatched() {
    for derived in watched { derived.isNeeded = false }
    for registration in registrations { need(registration.strand) }
    let unneeded = watched.filter { !$0.isNeeded }
    watched.removeAll { !$0.isNeeded }
    for derived in unneeded { for strand in derived.strands { end(strand) } }
  }

  private func need(_ strand: Strand) { if let first = strand.first { need(first) } }

  private func need(_ place: Place) {
    if let derived = watched(place.node), !derived.isNeeded {
      derived.isNeeded = true
      for strand in derived.strands { need(strand) }
    }
    for onward in place.onward { need(onward) }
  }

  // MARK: Recipients of a change

  /// The key, then level by level the derived keys that it affects, sorted by name within a level.
  func affected(by node: Node) -> [Node] {
    var all = [node]
    var level = [node]
    while !level.isEmpty {
      level = level.flatMap(derived).reduce(into: [Watched]()) { next, derived in
        if !all.contains(derived.node), !next.contains(where: { $0 === derived }) {
          next.append(derived)
        }
      }
      .sorted(by: comesFirst).map(\.node)
      all += level
    }
    return all
  }

  /// The derived keys with a dependency attached to a key.
  private func derived(from node: Node) -> [Watched] {
    places(at: node).compactMap(\.strand.dependent).filter {
      !$0.isPath && !($0.isComputedPath && isCovered($0, node))
    }
  }

  private func paths(through node: Node) -> [Watched] {
    places(at: node).compactMap(\.strand.dependent).filter { $0.isPath && !isCovered($0, node) }
  }

  /// The tracked keys to be read again when these keys have changed.
  func tracked(by nodes: [Node]) -> [Watched] {
    nodes.flatMap { paths(through: $0) + (watched($0).map { [$0] } ?? []) }
      .filter { $0.description.tracking != nil }
  }

  private func comesFirst(_ a: Watched, _ b: Watched) -> Bool {
    a.node.key == b.node.key
      ? a.order < b.order : GraphClass.ranks[a.node.key] < GraphClass.ranks[b.node.key]
  }

  func places(at node: Node) -> [Place] {
    objects[node.object].places.filter {
      $0.node.key == node.key && !isCovered($0) && !(isWithoutLed && $0.isLed)
    }
  }

  private func standing(at node: Node) -> [Registration] {
    let nodes = [node] + paths(through: node).map(\.node)
    return nodes.flatMap(places).compactMap(\.strand.registration)
  }

  /// The registrations attached to these keys: for each key in order of registration, each at its first key.
  func recipients(of nodes: [Node]) -> [Registration] {
    nodes.flatMap {
      standing(at: $0).sorted { $0.number < $1.number }
    }
    .reduce(into: []) { recipients, registration in
      if !recipients.contains(where: { $0 === registration }) { recipients.append(registration) }
    }
  }

  /// Whether all ways to a registration lead through places to which changes have led.
  func isLed(_ registration: Registration, to node: Node) -> Bool {
    isWithoutLed = true
    defer { isWithoutLed = false }
    return !recipients(of: affected(by: node)).contains { $0 === registration }
  }

  // MARK: Behind links whose change is open

  /// Those of the recipients that are not left to an open change of a link: one that notifies them, and behind which all
  /// ways to them lead.
  func recipientsPastOpenLinks(of node: Node) -> [Registration] {
    let all = recipients(of: affected(by: node))
    let open = underWay.filter { change in change.isOpen && leadsOn(from: change.affected) }
    return all.filter { registration in !open.contains { covers(registration, $0, node) } }
  }

  /// An open change stands only for registrations that it reached when it began, and did not leave to another one.
  private func covers(_ registration: Registration, _ change: Change, _ node: Node) -> Bool {
    let isReached = change.notified.contains { $0.registration === registration && !$0.isBehind }
    guard isReached else { return false }
    covering = change
    defer { covering = nil }
    return !recipients(of: affected(by: node)).contains { $0 === registration }
  }

  private func leadsOn(from nodes: [Node]) -> Bool {
    nodes.contains { node in
      places(at: node).contains {
        onward(from: $0) != nil
          || $0.strand.dependent.map { $0.isPath || $0.isComputedPath } == true
      }
    }
  }

  private func isCovered(_ place: Place) -> Bool {
    guard let covering, let parent = place.parent else { return false }
    return covering.affected.contains(parent.node) || isCovered(parent)
  }

  /// Whether a typed path reads an affected key of an open change before it reaches the node. The keys that a computed
  /// link's getter reads of the path's own object are beside each other.
  private func isCovered(_ path: Watched, _ node: Node) -> Bool {
    guard let covering else { return false }
    if path.isComputedPath, node.object == path.node.object { return false }
    let before = reads(of: path.node).prefix { $0 != node }
    return before.contains { covering.affected.contains($0) }
  }
}
