/// A graph of nodes that are changed and observed: the runtime, or the model of it. Objects and
/// callbacks are numbers, given out by whoever drives the system; keys are those of `GraphClass`.
package protocol GraphSystem: AnyObject {
  var log: GraphLog { get set }
  /// Called after each call of an observer is written down, with `GraphLog.Call.caller`.
  var reaction: (Int) -> Void { get set }

  /// Makes an object with one reference.
  func make(_ object: Int)
  func retain(_ object: Int)
  func release(_ object: Int)

  func set(_ object: Int, _ key: GraphClass.Key, to value: GraphValue, by route: SetRoute)
  func mutate(
    _ object: Int, _ key: GraphClass.Key, _ mutation: Mutation, by route: MutationRoute)
  func willChange(_ object: Int, _ key: GraphClass.Key, _ mutation: Mutation?)
  func didChange(_ object: Int, _ key: GraphClass.Key, _ mutation: Mutation?)

  func observe(_ object: Int, _ path: GraphPath, _ options: GraphOptions, as callback: Int)
  func invalidate(_ callback: Int)
  func add(
    _ observer: Int, to object: Int, _ path: GraphPath, _ options: GraphOptions, context: Int)
  /// Without a context, the most recent.
  func remove(_ observer: Int, from object: Int, _ path: GraphPath, context: Int?)
  func removeAll(from object: Int)

  /// Ends all registrations with all objects. Says in the log which object still looks observed.
  func removeEverything()
  /// Empties all objects, so that none holds another, and says in the log what has not died or has
  /// not ended.
  func end()
}

package enum SetRoute: String, Sendable, CaseIterable {
  case setter = "set"
  case key
  /// Past the setter.
  case store
}

package enum MutationRoute: String, Sendable, CaseIterable {
  case accessor, proxy
  /// Into the storage, between will and did.
  case hand
}

/// How Swift registers a callback: chosen by its number, so that all forms come.
package enum TokenForm: Sendable {
  /// By a string.
  case string
  /// By a key path, without and with the token in each call, and with a method of a target.
  case handler, withToken, target

  package init(_ callback: Int, _ path: GraphPath) {
    let isString = path.count > 1 || path.components == [.unknown]
    let isKeyPath = path.text.hasPrefix("\\")
    switch callback % 4 {
    case _ where isString: self = .string
    case 0: self = isKeyPath ? .target : .string
    case 1: self = .handler
    case 2: self = .withToken
    default: self = .target
    }
  }
}
