/// A graph of nodes that are changed and observed: the runtime, or its model. The caller numbers objects and
/// callbacks; keys are those of `GraphClass`.
package protocol GraphSystem: AnyObject {
  var log: GraphLog { get set }
  /// Called after each call of an observer is recorded, with `GraphLog.Call.caller`.
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
  /// Without a context, removes the most recent registration.
  func remove(_ observer: Int, from object: Int, _ path: GraphPath, context: Int?)
  func removeAll(from object: Int)

  /// Ends all registrations of all objects. Logs each object that still counts as observed.
  func removeEverything()
  /// Empties all objects, so that none retains another. Logs the objects that have not died and the registrations
  /// that have not ended.
  func end()
}

package enum SetRoute: String, Sendable, CaseIterable {
  case setter = "set"
  case key
  /// Directly, without the setter.
  case store
}

package enum MutationRoute: String, Sendable, CaseIterable {
  case accessor, proxy
  /// Into the storage, between will and did.
  case hand
  /// Into the storage, without a change.
  case store
}

/// How Swift registers a callback. The number chooses the form, so that all forms occur.
package enum TokenForm: Sendable {
  /// By a string.
  case string
  /// By a key path: plain, with the token in each call, or with a target's method.
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
