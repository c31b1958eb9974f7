import KVORuntime
import ModelFixtures
import TestSupport

/// The numbers of a node, which link to nothing. A generic superclass.
class GraphNumbers<Number: BinaryFloatingPoint & Sendable>: KVOObject {
  @Observed var value: Number = 0
  @Observed var extra: Number = 0
  @Observed var quiet: Number = 0
  fileprivate(set) var storedManual: Number = 0

  var manual: Number {
    get { storedManual }
    set {
      if newValue != storedManual { withChange(of: \.manual) { storedManual = newValue } }
    }
  }

  var total: Number { value + extra }
  var ringA: Number { value + extra }
  var ringB: Number { value + extra }
  var loud: Number { quiet }
  var hush: Number { value }

  override class func registerKeys() {
    declareKeys { (keys: inout KeyDeclarations<GraphNumbers<Number>>) in
      keys.automaticallyNotifies("quiet", false)
      keys.accessors("manual", \.manual, get: { $0.manual }, set: { $0.manual = $1 })
      keys.automaticallyNotifies("manual", false)
      keys.computed("total", \.total, affectedBy: ["value", "extra"])
      keys.computed("ringA", \.ringA, affectedBy: ["ringB", "value"])
      keys.computed("ringB", \.ringB, affectedBy: ["ringA"])
      keys.dependency("ringB", on: ["extra"])
      keys.computed("loud", \.loud)
      keys.computed("hush", \.hush, affectedBy: ["value"])
    }
  }

  override class func automaticallyNotifiesObservers(forKey key: String) -> Bool {
    key != "hush" && super.automaticallyNotifiesObservers(forKey: key)
  }

  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [KeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    heard(keyPath, object, change, context)
  }

  func heard(
    _ keyPath: String?, _ object: Any?, _ change: [KeyValueChangeKey: Any]?,
    _ context: UnsafeMutableRawPointer?
  ) {}

  /// Stores without notifying.
  func store(_ number: Number, _ key: String) {
    switch key {
    case "value": _value = Observed(wrappedValue: number)
    case "extra": _extra = Observed(wrappedValue: number)
    case "quiet": _quiet = Observed(wrappedValue: number)
    default: storedManual = number
    }
  }
}

/// `GraphClass` in TestSupport describes the same class as data, key by key.
final class GraphNode: GraphNumbers<Double>, KeyValueObservingCustomization {
  let number: Int
  /// Gets the notifications that the node receives.
  private weak var graph: SwiftGraph?

  @Observed var next: GraphNode?
  @Observed var other: GraphNode?
  @Observed var items: [GraphNode] = []
  @Observed var tags: Set<GraphNode> = []
  @Observed var wares: [GraphNode]?
  weak var friend: GraphNode?

  init(_ number: Int, _ graph: SwiftGraph?) {
    self.number = number
    self.graph = graph
  }

  // Declared
  var nextTotal: Double { next?.total ?? 0 }
  var both: Double { (next?.value ?? 0) + (other?.value ?? 0) }
  var circle: Double { value + (next?.value ?? 0) }
  var grand: Double { nextTotal + total }
  var sum: Double { items.reduce(0) { $0 + $1.value } }
  var heir: GraphNode? { next ?? other }
  var far: Double { next?.next?.value ?? 0 }
  var joint: Double { (next?.value ?? 0) + total }

  // Tracked by what they read
  var reach: Double { sum + (next?.value ?? 0) }
  var choice: Double { (value != 0 ? next : other)?.extra ?? 0 }
  var crowd: Double {
    tags.reduce(0) { $0 + $1.total } + (wares ?? []).reduce(0) { $0 + $1.extra }
  }
  var nextReach: Double { next?.reach ?? 0 }

  override class func registerKeys() {
    super.registerKeys()
    declareKeys { keys in
      keys.computed("nextTotal", \.nextTotal)
      keys.computed("both", \.both)
      keys.computed("circle", \.circle, affectedBy: ["value", "next.circle"])
      keys.computed("grand", \.grand, affectedBy: ["nextTotal", "total"])
      keys.computed("sum", \.sum, affectedBy: ["items.@sum.value"])
      keys.computed("heir", \.heir, affectedBy: ["next", "other"])
      keys.computed("far", \.far, affectedBy: ["next.next.value"])
      keys.computed("joint", \.joint, affectedBy: ["next.value", "total"])
      keys.computed("reach", \.reach)
      keys.stored("friend", \.friend)
      declareItems(&keys)
    }
  }

  override class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
    let declared = super.keyPathsForValuesAffectingValue(forKey: key)
    return key == "both" ? declared.union(["next.value", "other.value"]) : declared
  }

  static func keyPathsAffectingValue(for key: AnyKeyPath) -> Set<AnyKeyPath> {
    key == \GraphNode.loud ? [\GraphNode.quiet] : []
  }

  static func automaticallyNotifiesObservers(for key: AnyKeyPath) -> Bool { true }

  // An index beyond the list does nothing, because an observer may have shortened it.
  private static func declareItems(_ keys: inout KeyDeclarations<GraphNode>) {
    keys.orderedToMany(
      "items", count: { $0.items.count }, element: { $0.items[$1] },
      insert: { node, items, indexes in
        for (index, item) in zip(indexes.ranges.joined(), items) where index <= node.items.count {
          node.items.insert(item, at: index)
        }
      },
      remove: { node, indexes in
        for index in indexes.ranges.joined().reversed() where index < node.items.count {
          node.items.remove(at: index)
        }
      },
      replace: { node, indexes, items in
        for (index, item) in zip(indexes.ranges.joined(), items) where index < node.items.count {
          node.items[index] = item
        }
      })
  }

  // MARK: Stores without notifying

  func store(_ node: GraphNode?, _ key: String) {
    switch key {
    case "next": _next = Observed(wrappedValue: node)
    case "other": _other = Observed(wrappedValue: node)
    default: friend = node
    }
  }

  func store(items: [GraphNode]) { _items = Observed(wrappedValue: items) }
  func store(tags: Set<GraphNode>) { _tags = Observed(wrappedValue: tags) }
  func store(wares: [GraphNode]?) { _wares = Observed(wrappedValue: wares) }

  // MARK: Observing

  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [KeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    // One context is this class's own; others are passed to the superclass.
    guard context == ModelFixtures.context(2) else {
      return super.observeValue(forKeyPath: keyPath, of: object, change: change, context: context)
    }
    heard(keyPath, object, change, context)
  }

  override func heard(
    _ keyPath: String?, _ object: Any?, _ change: [KeyValueChangeKey: Any]?,
    _ context: UnsafeMutableRawPointer?
  ) {
    graph?.notified(number, keyPath, object, change, context)
  }
}

extension GraphNode {
  static func extendKeys() {
    declareKeys { $0.dependency("nextTotal", on: ["next.total"]) }
  }
}
