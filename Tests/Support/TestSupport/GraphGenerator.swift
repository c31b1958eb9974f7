/// Generates random programs on graphs. They change links and lists in every way while paths of many kinds are
/// observed, by observers that set, register, remove and drop in their calls.
package struct GraphGenerator {
  private let dialect: GraphDialect
  private var random: Random
  private var operations: [GraphProgram.Operation] = []
  private var callbacks = 0
  /// The slot and key that each callback observes first.
  private var observed: [(slot: Int, key: GraphClass.Key)] = []
  /// The path that the reacting observer observes.
  private var own: (slot: Int, key: GraphClass.Key)?
  /// Slots and keys of the manual changes that are open so far.
  private var opened: [(slot: Int, key: GraphClass.Key)] = []

  package init(seed: UInt64, _ dialect: GraphDialect = .c) {
    self.dialect = dialect
    random = Random(seed: seed)
  }

  /// Few small numbers, so that equal ones occur often.
  private static let numbers = 3
  private static let mostCallbacks = 10, mostOpened = 3

  private static let paths: [GraphPath] = [
    "value", "extra", "quiet", "manual", "next", "other", "items", "tags", "wares",
    "total", "nextTotal", "both", "ringA", "ringB", "circle", "grand", "sum", "loud", "hush",
    "heir", "far", "joint",
    "next.value", "next.total", "next.next", "next.next.value", "next.other.total", "next.items",
    "next.sum", "next.circle", "next.grand", "next.tags", "other.next.quiet", "other.loud",
    "other.manual", "other.heir.value", "heir.value", "heir.total", "heir.next.both",
    "heir.items", "next.next.next.ringA",
    "items.@count", "items.@sum.value", "items.@sum.total", "items.@max.value",
    "items.@min.grand", "items.@avg.value", "items.@sum.next.value", "items.@sum.items.@count",
    "items.@sum.items.@sum.value", "items.@max.next.sum", "next.items.@sum.value",
    "next.items.@count", "heir.items.@sum.nextTotal",
    "tags.@count", "tags.@sum.value", "tags.@sum.nextTotal", "tags.@max.circle",
    "next.tags.@sum.next.total", "wares.@count", "wares.@sum.value", "other.wares.@sum.both",
  ].map(GraphPath.init)

  private static let pathsOfSwift: [GraphPath] =
    paths
    + [
      "friend", "reach", "friend.value", "friend.next.total", "next.friend.extra", "next.reach",
      "items.@sum.reach", "tags.@max.friend.value", "friend.items",
    ].map(GraphPath.init)

  /// Key paths that only tokens can observe.
  private static let keyPaths = GraphClass.keys.filter(\.isKeyPath).map { GraphPath($0.name) }

  private static let set = keys(
    "value", "value", "value", "value", "extra", "quiet", "manual", "next", "next", "next", "other",
    "items", "tags", "wares")
  private static let setOfSwift = set + keys("friend")
  private static let linked = keys("next", "other", "items", "tags")
  private static let mutable = keys("items", "items", "tags", "wares")

  private static func keys(_ names: String...) -> [GraphClass.Key] {
    names.map { GraphClass.key($0)! }
  }

  package mutating func program(length: Int) -> GraphProgram {
    for slot in 0..<GraphProgram.slots where random.next(3) > 0 {
      let key = any(Self.linked)
      operations.append(.set(slot, key, value(key), .setter))
    }
    for _ in 0..<(2 + random.next(5)) { operations.append(observation()) }
    while operations.count < length { step() }
    let names = (0..<max(callbacks, 1)).map { "r\($0)" }
    return GraphProgram(
      operations, callbacks: names, endsByRemoval: random.next(2) == 0, dialect: dialect)
  }

  private mutating func step() {
    switch random.next(100) {
    case 0..<9: register()
    case 9..<20: operations.append(reaction())
    case 20..<26: openPair()
    case 26..<33: closePair()
    default: operations.append(action())
    }
  }

  // MARK: Operations of the program alone

  private mutating func register() {
    operations.append(callbacks < Self.mostCallbacks ? observation() : action())
  }

  private mutating func addition() -> GraphProgram.Operation {
    let (observer, object, path) = (slot(), slot(), path())
    return .add(observer, to: object, path, options(for: path), context: random.next(3))
  }

  private mutating func observation() -> GraphProgram.Operation {
    callbacks += 1
    let (slot, path) = (slot(), observedPath())
    guard case .key(let key) = path.components[0] else { preconditionFailure("no key") }
    observed.append((slot, key))
    return .observe(slot, path, options(for: path), as: callbacks - 1)
  }

  private mutating func observedPath() -> GraphPath {
    dialect == .swift && random.next(3) == 0 ? any(Self.keyPaths) : path()
  }

  private mutating func reaction() -> GraphProgram.Operation {
    let isCallback = callbacks > 0 && random.next(4) > 0
    let caller = isCallback ? random.next(callbacks) : -1 - slot()
    let call = 1 + random.next(4)
    own = isCallback ? observed[caller] : nil
    defer { own = nil }
    return .when(caller, call: call, reactingAction())
  }

  private mutating func reactingAction() -> GraphProgram.Operation {
    switch random.next(20) {
    case 0..<4 where callbacks < Self.mostCallbacks: return observation()
    case 4: return will(slot(), key())
    case 5, 6: return .did(slot(), key())
    default: return action()
    }
  }

  private mutating func will(_ slot: Int, _ key: GraphClass.Key) -> GraphProgram.Operation {
    let isMutation = GraphClass.keys[key].isToMany && random.next(2) == 0
    return .will(slot, key, isMutation ? mutation(key) : nil)
  }

  private mutating func openPair() {
    let (slot, key) = (slot(), key())
    guard opened.count < Self.mostOpened else { return }
    opened.append((slot, key))
    let will = will(slot, key)
    operations.append(will)
    guard !GraphClass.keys[key].isDerived, random.next(3) > 0 else { return }
    if case .will(_, _, let mutation?) = will {
      operations.append(.mutate(slot, key, mutation, .store))
    } else {
      operations.append(.set(slot, key, value(key), .store))
    }
  }

  private mutating func closePair() {
    guard !opened.isEmpty else { return }
    let pair = opened.remove(at: random.next(opened.count))
    operations.append(.did(pair.slot, pair.key))
  }

  // MARK: Operations of observers as well

  private mutating func action() -> GraphProgram.Operation {
    switch random.next(100) {
    case 0..<58: set()
    case 58..<79: mutate()
    case 79..<86: addition()
    case 86..<89: .remove(slot(), from: slot(), path(), context: context())
    case 89..<93: callbacks > 0 ? .invalidate(random.next(callbacks)) : set()
    case 93..<94: .removeAll(slot())
    case 94..<96: .renew(slot())
    default: bracket()
    }
  }

  /// A slot and one of those keys. The hard case is an observer that changes the key it observes, during that key's
  /// change.
  private mutating func target(_ keys: [GraphClass.Key]) -> (slot: Int, key: GraphClass.Key) {
    if let own, keys.contains(own.key), random.next(2) == 0 { return own }
    return (slot(), any(keys))
  }

  private mutating func set() -> GraphProgram.Operation {
    let (slot, key) = target(dialect == .c ? Self.set : Self.setOfSwift)
    let route = random.next(12)
    return .set(slot, key, value(key), route == 0 ? .store : route < 3 ? .key : .setter)
  }

  private mutating func mutate() -> GraphProgram.Operation {
    let (slot, key) = target(Self.mutable)
    let mutation = mutation(key)
    let route = any([MutationRoute.accessor, .proxy, .hand])
    let hasAccessor = hasAccessor(key, mutation)
    return .mutate(slot, key, mutation, route == .accessor && !hasAccessor ? .proxy : route)
  }

  /// In C the accessor that replaces a set is a setter if it is called directly, and `wares` has none. A Swift handle
  /// supports every mutation.
  private func hasAccessor(_ key: GraphClass.Key, _ mutation: Mutation) -> Bool {
    dialect == .swift || GraphClass.keys[key].hasAccessors && mutation.form != .assign
  }

  private mutating func bracket() -> GraphProgram.Operation {
    let key = any(Self.mutable)
    return .mutate(slot(), key, mutation(key), .hand)
  }

  private mutating func mutation(_ key: GraphClass.Key) -> Mutation {
    if GraphClass.keys[key].kind == .set {
      return Mutation(
        any([.union, .minus, .intersect, .assign]), objects: slots(1 + random.next(2)))
    }
    let form = any([Mutation.Form.insert, .insert, .insert, .remove, .replace])
    let first = form == .insert ? random.next(2) : random.next(3)
    let indexes = random.next(3) == 0 ? [first, first + 1 + random.next(2)] : [first]
    return Mutation(form, indexes: indexes, objects: form == .remove ? [] : slots(indexes.count))
  }

  private mutating func value(_ key: GraphClass.Key) -> GraphValue {
    switch GraphClass.keys[key].kind {
    case .number: .number(Double(random.next(Self.numbers)))
    case .link: random.next(5) == 0 ? .nil : .object(slot())
    case .list: .list(slots(random.next(4)))
    case .set: .set(of: slots(random.next(3)))
    }
  }

  // MARK: Choices

  private mutating func any<Choice>(_ choices: [Choice]) -> Choice {
    choices[random.next(choices.count)]
  }

  private mutating func key() -> GraphClass.Key { random.next(GraphClass.count(dialect)) }
  private mutating func path() -> GraphPath {
    any(dialect == .c ? Self.paths : Self.pathsOfSwift)
  }

  /// The first slots are chosen more often, so that changes often hit observed objects.
  private mutating func slot() -> Int {
    min(random.next(GraphProgram.slots), random.next(GraphProgram.slots))
  }
  private mutating func slots(_ count: Int) -> [Int] { (0..<count).map { _ in slot() } }
  private mutating func context() -> Int? { random.next(2) == 0 ? nil : random.next(3) }

  /// The value last delivered keeps a collection's elements alive, so a circle of them would not die by itself.
  private mutating func options(for path: GraphPath) -> GraphOptions {
    let options = GraphOptions(rawValue: UInt32(random.next(16)))
    var endsWithCollection = false
    if case .key(let key)? = path.components.last {
      endsWithCollection = [.list, .set].contains(GraphClass.keys[key].kind)
    }
    return random.next(6) == 0 && !endsWithCollection ? [.distinct, .new] : options
  }
}
