// Changes: the will phase, the change itself, and the did phase.

/// A recipient of a change, which gets it as a mutation or as a setting, with the old value if it asks for that.
struct Notified {
  let registration: Registration
  var mutation: Mutation?
  var old: GraphValue?
  /// Whether an open change of a link before it on its path notifies it.
  let isBehind: Bool
}

/// The calls of an observer after a change.
private struct Final {
  let registration: Registration
  let calls: [GraphLog.Call]
  /// The whole new value; nil for a mutation.
  let value: GraphValue?
}

/// A change from its will until its last observer has returned.
final class Change {
  let node: Node
  let mutation: Mutation?
  /// Whether it is a manual pair inside an automatic change of the same key, which does not notify.
  let joins: Bool
  /// The observers that the change reached when it began.
  var notified: [Notified] = []
  /// A set's members before its mutation.
  var before = GraphValue.nil
  /// The members removed and added, if the caller that mutates a set gives them in advance.
  var said: (old: GraphValue, new: GraphValue)?
  /// New values being delivered.
  var new: [GraphValue?] = []
  /// Whether its did named another mutation than its will, so that it ends as a setting.
  var endsAsSetting = false
  /// Whether its prior calls are being made.
  var isInPriors = false
  /// Whether an observer has changed the key in a prior call, so that it ends as a setting.
  var becameSetting = false
  /// From its will to its did.
  var isOpen = false
  /// The keys that it affected when it began.
  var affected: [Node] = []

  init(_ node: Node, _ mutation: Mutation?, joins: Bool) {
    self.node = node
    self.mutation = mutation
    self.joins = joins
  }

  /// All values that the change retains.
  var values: [GraphValue] {
    notified.compactMap(\.old) + new.compactMap { $0 } + [before]
      + (said.map { [$0.old, $0.new] } ?? [])
  }
}

extension ObservationModel {
  package func set(
    _ object: Int, _ key: GraphClass.Key, to value: GraphValue, by route: SetRoute
  ) {
    let node = Node(object: object, key: key)
    if route == .store || GraphClass.keys[key].isWeak && route == .setter {
      store(value, node)
    } else if GraphClass.keys[key].isWeak {
      tell(node, nil) { store(value, node) }
    } else if GraphClass.keys[key].bracketsByHand {
      bracket(node, value)
    } else {
      automatic(node, nil) { store(value, node) }
    }
  }

  package func mutate(
    _ object: Int, _ key: GraphClass.Key, _ mutation: Mutation, by route: MutationRoute
  ) {
    let node = Node(object: object, key: key)
    switch route {
    case .accessor where dialect == .swift: throughHandle(mutation, node)
    case .accessor: automatic(node, mutation) { apply(mutation, node) }
    case .proxy: throughProxy(mutation, node)
    case .hand:
      willChange(object, key, mutation)
      apply(mutation, node)
      didChange(object, key, mutation)
    case .store: apply(mutation, node)
    }
  }

  private func throughProxy(_ mutation: Mutation, _ node: Node) {
    let value = read(node.object, node.key)
    guard mutation.fits(value.elements.count) else { return log.add(.outOfBounds) }
    if GraphClass.keys[node.key].hasAccessors {
      byAccessors(mutation, node)
    } else if dialect == .swift {
      inPlace(mutation, node)
    } else {
      replace(value, by: mutation, node)
    }
  }

  /// A handle keeps the elements that it has removed until the change has been delivered. It replaces elements at
  /// several places as a proxy does.
  private func throughHandle(_ mutation: Mutation, _ node: Node) {
    let value = read(node.object, node.key)
    guard mutation.fits(value.elements.count) else { return log.add(.outOfBounds) }
    let isKept = mutation.form == .remove || mutation.form == .replace && mutation.isContiguous
    let kept = isKept ? Mutation.elements(of: value, at: mutation.indexes).elements : []
    for object in kept { retain(object) }
    automatic(node, mutation, isSaid: mutation.form.isOfSet) { apply(mutation, node) }
    for object in kept { release(object) }
  }

  /// If observers change the list in prior calls, the indexes must still fit.
  private func byAccessors(_ mutation: Mutation, _ node: Node) {
    var fits = true
    automatic(node, mutation) {
      if openChange(of: node)?.becameSetting == true {
        fits = mutation.fits(read(node.object, node.key).elements.count)
      }
      if fits { apply(mutation, node) }
    } unless: {
      !fits
    }
    if !fits { log.add(.outOfBounds) }
  }

  /// In Swift, a proxy without accessors mutates the list in place. If the indexes no longer fit after the prior
  /// calls, this is an error and no change.
  private func inPlace(_ mutation: Mutation, _ node: Node) {
    var fits = true
    automatic(node, mutation, isSaid: false) {
      fits = mutation.fits(read(node.object, node.key).elements.count)
      if fits { apply(mutation, node) }
    } unless: {
      !fits
    }
    if !fits { log.add(.outOfBounds) }
  }

  /// Without accessors, the proxy makes the new list before any notification, and retains the old one until all are
  /// made. If observers change the list in prior calls, it makes the new one again, from what they have left.
  private func replace(_ value: GraphValue, by mutation: Mutation, _ node: Node) {
    var (old, fits) = (value, true)
    for object in old.objects { retain(object) }
    automatic(node, mutation) {
      if openChange(of: node)?.becameSetting == true {
        let present = read(node.object, node.key)
        for object in present.objects { retain(object) }
        for object in old.objects { release(object) }
        old = present
        fits = mutation.fits(old.elements.count)
      }
      if fits { store(mutation.applied(to: old), node) }
    } unless: {
      !fits
    }
    for object in old.objects { release(object) }
    if !fits { log.add(.outOfBounds) }
  }

  package func willChange(_ object: Int, _ key: GraphClass.Key, _ mutation: Mutation?) {
    let node = Node(object: object, key: key)
    let change = begin(node, mutation, joins: joinsOpenChange(of: node))
    pairs.append(change)
    tellPriors(change)
  }

  package func didChange(_ object: Int, _ key: GraphClass.Key, _ mutation: Mutation?) {
    let node = Node(object: object, key: key)
    guard let index = pairs.lastIndex(where: { $0.node == node }) else { return }
    let change = pairs.remove(at: index)
    change.endsAsSetting =
      mutation?.form != change.mutation?.form || mutation?.indexes != change.mutation?.indexes
    finish(change)
  }

  private func store(_ value: GraphValue, _ node: Node) {
    objects[node.object].values[node.key] = value
    buryTheDead()
  }

  private func apply(_ mutation: Mutation, _ node: Node) {
    store(mutation.applied(to: read(node.object, node.key)), node)
  }

  private func bracket(_ node: Node, _ value: GraphValue) {
    guard read(node.object, node.key) != value else { return }
    willChange(node.object, node.key, nil)
    store(value, node)
    didChange(node.object, node.key, nil)
  }

  /// A change by a setter or accessor. It is open until its finals are called; inner changes of the key join it.
  private func automatic(
    _ node: Node, _ mutation: Mutation?, isSaid: Bool = false, _ body: () -> Void,
    unless isCancelled: () -> Bool = { false }
  ) {
    guard GraphClass.keys[node.key].isAutomatic else { return body() }
    tell(node, mutation, isSaid: isSaid, body, unless: isCancelled)
  }

  private func tell(
    _ node: Node, _ mutation: Mutation?, isSaid: Bool = false, _ body: () -> Void,
    unless isCancelled: () -> Bool = { false }
  ) {
    guard !joinsOpenChange(of: node) else { return body() }
    let change = begin(node, mutation, joins: false, isSaid: isSaid)
    open.append(node)
    change.isInPriors = true
    tellPriors(change)
    change.isInPriors = false
    body()
    open.removeLast()
    if isCancelled(), !change.becameSetting { end(change) } else { finish(change) }
  }

  private func openChange(of node: Node) -> Change? {
    underWay.last { $0.node == node && !$0.joins && $0.isOpen }
  }

  /// Whether an automatic change of the key is open, which a change that begins joins. If that is a mutation whose prior
  /// calls are being made, it becomes a setting.
  private func joinsOpenChange(of node: Node) -> Bool {
    guard open.contains(node) else { return false }
    guard let change = openChange(of: node), change.isInPriors, change.mutation != nil,
      !change.becameSetting
    else { return true }
    change.becameSetting = true
    for index in change.notified.indices where change.notified[index].mutation != nil {
      change.notified[index].mutation = nil
      change.notified[index].old = old(for: change.notified[index], node)
    }
    return true
  }

  // MARK: Will phase

  private func begin(
    _ node: Node, _ mutation: Mutation?, joins: Bool, isSaid: Bool = false
  ) -> Change {
    let change = Change(node, mutation, joins: joins)
    underWay.append(change)
    guard !joins else { return change }
    change.affected = affected(by: node)
    let reached = recipientsPastOpenLinks(of: node)
    change.notified = recipients(of: change.affected).map { registration in
      Notified(
        registration: registration, mutation: self.mutation(of: change, for: registration),
        isBehind: !reached.contains { $0 === registration })
    }
    change.isOpen = true
    if change.notified.contains(where: needsBefore) { change.before = read(node.object, node.key) }
    if isSaid, let mutation, !change.notified.isEmpty { change.said = said(mutation, node) }
    for index in change.notified.indices {
      change.notified[index].old = old(for: change.notified[index], node)
    }
    return change
  }

  private func said(_ mutation: Mutation, _ node: Node) -> (old: GraphValue, new: GraphValue) {
    let before = read(node.object, node.key)
    let after = mutation.applied(to: before)
    return (difference(before, after), difference(after, before))
  }

  /// Whether a set's old members are needed, to compute those added and removed.
  private func needsBefore(_ notified: Notified) -> Bool {
    let asks = !notified.registration.options.isDisjoint(with: [.old, .new])
    return asks && notified.mutation?.form.isOfSet == true
  }

  private func old(for notified: Notified, _ node: Node) -> GraphValue? {
    guard !notified.isBehind, notified.registration.options.contains(.old) else { return nil }
    guard let mutation = notified.mutation else {
      return read(notified.registration.root, notified.registration.path)
    }
    let now = read(node.object, node.key)
    switch mutation.form {
    case .insert, .union: return nil
    case .remove, .replace: return Mutation.elements(of: now, at: mutation.indexes)
    case .minus, .intersect, .assign: return difference(now, mutation.applied(to: now))
    }
  }

  private func difference(_ a: GraphValue, _ b: GraphValue) -> GraphValue {
    .set(of: a.elements.filter { !b.elements.contains($0) })
  }

  /// Observers of the collection itself get the mutation, all others a setting.
  private func mutation(of change: Change, for registration: Registration) -> Mutation? {
    let places = places(at: change.node).filter { $0.strand === registration.strand }
    let isDetailed = !places.isEmpty && places.allSatisfy(\.isLast)
    return isDetailed && !change.endsAsSetting && !change.becameSetting ? change.mutation : nil
  }

  private func tellPriors(_ change: Change) {
    for index in change.notified.indices {
      let notified = change.notified[index]
      let isCalled = notified.registration.isLive && !notified.isBehind
      guard isCalled, notified.registration.options.contains(.prior) else { continue }
      var call = call(of: notified.registration, notified.mutation)
      call.isPrior = true
      if notified.registration.options.contains(.old) { call.old = notified.old }
      tell(notified.registration, call)
    }
  }

  // MARK: Did phase

  /// Ends the change. Paths are relinked, then the observers are called that were there when it began, or to which another
  /// change has led a path here since, and that are still registered and still reached.
  private func finish(_ change: Change) {
    defer { end(change) }
    change.isOpen = false
    guard !change.joins else { return }
    let affected = affected(by: change.node)
    let tracked = tracked(by: affected)
    isLeading = true
    for node in affected { for place in places(at: node) { relink(place) } }
    for derived in tracked { track(derived) }
    isLeading = false
    endUnwatched()
    let recipients = recipients(of: self.affected(by: change.node))
    let reached = recipientsPastOpenLinks(of: change.node)
    let finals = recipients.compactMap { registration in
      final(for: registration, change, isBehind: !reached.contains { $0 === registration })
    }
    time += 1
    let readAt = time
    for final in finals where final.registration.isLive {
      guard final.registration.admits(final.value, at: readAt) else { continue }
      for call in final.calls where final.registration.isLive { tell(final.registration, call) }
    }
  }

  private func end(_ change: Change) {
    change.isOpen = false
    underWay.removeAll { $0 === change }
    buryTheDead()
  }

  private func final(
    for registration: Registration, _ change: Change, isBehind: Bool
  ) -> Final? {
    guard let notified = change.notified.first(where: { $0.registration === registration }) else {
      let isLate = !isBehind && isLed(registration, to: change.node)
      return isLate ? final(forLate: registration, change) : nil
    }
    guard notified.isBehind else { return final(for: notified, change) }
    return isBehind ? nil : final(forLate: registration, change)
  }

  private func final(for notified: Notified, _ change: Change) -> Final {
    let registration = notified.registration
    let mutation = mutation(of: change, for: registration)
    var (old, new) = (notified.old, new(for: registration, change, mutation))
    if let mutation, mutation.form.isOfSet, mutation.form != .union {
      old =
        change.said?.old ?? difference(change.before, read(change.node.object, change.node.key))
    }
    var call = call(of: registration, mutation)
    if registration.options.contains(.old) { call.old = old }
    // For a mutation only part of the old value was read before.
    let lacksOld = change.endsAsSetting && notified.mutation != nil && mutation == nil
    if lacksOld, registration.options.contains(.old) {
      call.old = new ?? read(registration.root, registration.path)
    }
    if registration.options.contains(.new) { call.new = new }
    change.new.append(new)
    return Final(registration: registration, calls: [call], value: mutation == nil ? new : nil)
  }

  /// The calls for a registration to which another change has led a path since this one began, or which a link's open
  /// change should have notified, if that change has already ended.
  private func final(forLate registration: Registration, _ change: Change) -> Final {
    let new = read(registration.root, registration.path)
    var call = call(of: registration, nil)
    if registration.options.contains(.old) { call.old = new }
    var prior = call
    prior.isPrior = true
    if registration.options.contains(.new) { call.new = new }
    change.new.append(new)
    let calls = registration.options.contains(.prior) ? [prior, call] : [call]
    return Final(registration: registration, calls: calls, value: new)
  }

  private func new(
    for registration: Registration, _ change: Change, _ mutation: Mutation?
  ) -> GraphValue? {
    let wanted: GraphOptions = mutation == nil ? [.new, .distinct] : .new
    guard !registration.options.isDisjoint(with: wanted) else { return nil }
    guard let mutation else { return read(registration.root, registration.path) }
    let now = read(change.node.object, change.node.key)
    switch mutation.form {
    case .insert, .replace: return Mutation.elements(of: now, at: mutation.indexes)
    case .remove, .minus, .intersect: return nil
    case .union, .assign: return change.said?.new ?? difference(now, change.before)
    }
  }

  // MARK: Notifying

  func call(of registration: Registration, _ mutation: Mutation?) -> GraphLog.Call {
    var call = GraphLog.Call(
      caller: registration.caller, context: registration.context, root: registration.root,
      path: registration.path.text)
    if let mutation {
      call.kind = mutation.form.kind
      call.indexes = mutation.form.isOfSet ? nil : mutation.indexes
    }
    return call
  }

  /// The observed object, the observer and the delivered values live until the call has returned.
  func tell(_ registration: Registration, _ call: GraphLog.Call) {
    let held =
      [registration.root] + (registration.observer.map { [$0] } ?? [])
      + (call.old?.objects ?? []) + (call.new?.objects ?? [])
    for object in held { retain(object) }
    log.add(call)
    reaction(registration.caller)
    for object in held { release(object) }
  }
}
