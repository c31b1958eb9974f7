import CKVORuntime

/// A system of a few objects and keys that are set and observed: the runtime, or its model. Objects, keys and
/// watchers are numbers; a callback's registration has a name.
package protocol ObservedSystem: AnyObject {
  /// Called after each call of an observer is recorded, with the observer's name.
  var reaction: (String) -> Void { get set }
  var lines: [String] { get }
  func note(_ line: String)

  func set(_ object: Int, _ key: Int, to value: Double, byKey: Bool)
  func observe(_ object: Int, _ key: Int, _ options: kvo_options, as name: String)
  func invalidate(_ name: String)
  func add(_ watcher: Int, to object: Int, _ key: Int, _ options: kvo_options, context: Int)
  /// Returns whether there was a registration to remove. Without a context, removes the most recent.
  func remove(_ watcher: Int, from object: Int, _ key: Int, context: Int?) -> Bool
  func removeAll(from object: Int)
  func will(_ object: Int, _ key: Int)
  func did(_ object: Int, _ key: Int)
  /// Replaces an object by a new one. The old one dies.
  func replaceWatcher(_ watcher: Int)
  func replaceObject(_ object: Int)

  /// The number of registrations of each key of the object, and whether its isa is swapped.
  func state(of object: Int) -> String
}

package let modelKeys = ["balance", "interestRate"]

/// The first difference between the logs of a runtime and its model, with the lines before it; nil if there is none.
package func firstDifference(_ runtime: [String], _ model: [String]) -> String? {
  let index =
    zip(runtime, model).enumerated().first { $1.0 != $1.1 }?.offset
    ?? (runtime.count == model.count ? nil : min(runtime.count, model.count))
  guard let index else { return nil }
  let start = max(0, index - 12)
  return """
    line \(index), after
    \(runtime[start..<index].joined(separator: "\n"))
    the runtime: \(runtime.dropFirst(index).prefix(3))
    the model: \(model.dropFirst(index).prefix(3))
    """
}
