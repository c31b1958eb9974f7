import KVORuntime
import TestSupport

/// A callback's registration.
final class GraphToken {
  let number: Int
  private let form: TokenForm
  /// Retained by the handler, if there is one.
  private(set) weak var handler: Receiver?
  /// Retained here, as a target's owner does.
  private var target: Receiver?
  fileprivate var observation: KeyValueObservation?
  private var hasEnded = false

  var isValid: Bool { observation?.isValid ?? false }

  init(_ number: Int, _ form: TokenForm, root: Int, _ graph: SwiftGraph) {
    self.number = number
    self.form = form
    target = Receiver(self, root, graph)
  }

  func begin(_ node: GraphNode, _ path: GraphPath, _ options: GraphOptions) throws {
    guard let receiver = target else { return }
    if form != .target {
      handler = receiver
      target = nil
    }
    let made = try observe(node, path, KeyValueObservingOptions(options), receiver)
    if !hasEnded { observation = made }
  }

  private func observe(
    _ node: GraphNode, _ path: GraphPath, _ options: KeyValueObservingOptions,
    _ receiver: Receiver
  ) throws -> KeyValueObservation {
    if form != .string, case .key(let key) = path.components[0] {
      return GraphKeyPaths.all[key](node, form, options, receiver)
    }
    return try node.observe(keyPath: path.text, options: options) { object, change in
      receiver.notified(untyped: change, of: object)
    }
  }

  /// Invalidates the token, or releases it if nothing else holds it. A running call that retains the token would
  /// delay the end.
  func end() {
    hasEnded = true
    let isReleased = number % 8 < 4 && form != .withToken && form != .target
    if !isReleased { observation?.invalidate() }
    observation = nil
  }
}

/// The action of a handler or target.
final class Receiver {
  private let root: Int
  private unowned let token: GraphToken
  private unowned let graph: SwiftGraph

  init(_ token: GraphToken, _ root: Int, _ graph: SwiftGraph) {
    self.token = token
    self.root = root
    self.graph = graph
  }

  func notified<Value: GraphConvertible>(
    _ change: KeyValueObservedChange<Value>, of object: GraphNode?,
    by observation: KeyValueObservation? = nil
  ) {
    if let observation { token.observation = observation }
    tell(object) { $0.take(change, \.graphValue) }
  }

  func notified(untyped change: KeyValueObservedChange<Any>, of object: GraphNode) {
    tell(object) { $0.take(change, GraphValue.init(untyped:)) }
  }

  private func tell(_ object: GraphNode?, _ fill: (inout GraphLog.Call) -> Void) {
    if let object, object.number != root { graph.log.addTrouble("notified of another object") }
    var call = GraphLog.Call(caller: token.number, context: 0, root: root, path: "")
    fill(&call)
    graph.tell(call)
  }
}

/// How to observe each key by its key path.
enum GraphKeyPaths {
  typealias Observation =
    @Sendable (
      GraphNode, TokenForm, KeyValueObservingOptions, Receiver
    ) -> KeyValueObservation

  /// By the index of each key.
  static let all: [Observation] = GraphClass.names.map { name in
    guard let observation = byName[name] else { preconditionFailure("no key path: \(name)") }
    return observation
  }

  private static let byName: [String: Observation] = [
    "value": by(\.value), "extra": by(\.extra), "quiet": by(\.quiet), "manual": by(\.manual),
    "next": by(\.next), "other": by(\.other), "items": by(\.items), "tags": by(\.tags),
    "wares": by(\.wares), "total": by(\.total), "nextTotal": by(\.nextTotal), "both": by(\.both),
    "ringA": by(\.ringA), "ringB": by(\.ringB), "circle": by(\.circle), "grand": by(\.grand),
    "sum": by(\.sum), "loud": by(\.loud), "hush": by(\.hush), "heir": by(\.heir),
    "far": by(\.far), "joint": by(\.joint), "friend": by(\.friend), "reach": by(\.reach),
    "\\choice": by(\.choice),
    "\\crowd": by(\.crowd), "\\nextReach": by(\.nextReach), "\\next?.value": by(\.next?.value),
    "\\next?.total": by(\.next?.total), "\\next?.next": by(\.next?.next),
    "\\next?.next?.value": by(\.next?.next?.value), "\\next?.items": by(\.next?.items),
    "\\next?.friend?.extra": by(\.next?.friend?.extra), "\\other?.reach": by(\.other?.reach),
    "\\items.count": by(\.items.count), "\\heir?.value": by(\.heir?.value),
  ]

  private static func by<Value: GraphConvertible & SendableMetatype>(
    _ keyPath: KeyPath<GraphNode, Value> & Sendable
  ) -> Observation {
    { node, form, options, receiver in
      switch form {
      case .target:
        node.observe(keyPath, options: options, target: receiver) { receiver in
          { receiver.notified($0, of: nil) }
        }
      case .withToken:
        node.observe(keyPath, options: options) { node, change, token in
          receiver.notified(change, of: node, by: token)
        }
      default:
        node.observe(keyPath, options: options) { receiver.notified($1, of: $0) }
      }
    }
  }

  /// The order of key paths is that in which the class first met them, so this meets them once, in sequence,
  /// whichever test runs first. It also makes the late declarations.
  static let areKnown: Bool = {
    GraphNode.extendKeys()
    let graph = SwiftGraph(unprepared: ())
    graph.make(0)
    for key in GraphClass.keys.indices {
      let token = GraphToken(0, .handler, root: 0, graph)
      try? token.begin(graph.node(0), GraphClass.paths[key], [])
    }
    return true
  }()
}
