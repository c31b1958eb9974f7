import KVORuntime
import TestSupport

/// Records every call of its observers in order, as lines such as `a old 0.0 new 10.0` and `w: balance prior old
/// 0.0`. A value that a change lacks is not written. It retains observers and tokens until the test ends.
package final class Recorder {
  package let log = Log()
  private var kept: [AnyObject] = []

  package init() {
    let myself = Shared(self)
    Lifetimes.current?.atEnd { myself.value.letGo() }
  }

  /// The lines since the last call of this function.
  package func take() -> [String] { log.take() }
  package func note(_ line: String) { log.note(line) }

  /// Observes with a handler. `reaction` runs in its calls, after the line is recorded.
  @discardableResult
  package func observe<Object: KVOObject, Value>(
    _ object: Object, _ keyPath: KeyPath<Object, Value>, _ options: KeyValueObservingOptions = [],
    as name: String = "a", reaction: ((Object, KeyValueObservedChange<Value>) -> Void)? = nil
  ) -> KeyValueObservation {
    let token = object.observe(keyPath, options: options) { [log] object, change in
      log.note(([name] + change.words).joined(separator: " "))
      reaction?(object, change)
    }
    kept.append(token)
    return token
  }

  /// Observes a string key path.
  @discardableResult
  package func observe<Object: KVOObject>(
    _ object: Object, _ keyPath: String, _ options: KeyValueObservingOptions = [],
    as name: String = "a", reaction: ((Object, KeyValueObservedChange<Any>) -> Void)? = nil
  ) throws -> KeyValueObservation {
    let token = try object.observe(keyPath: keyPath, options: options) { [log] object, change in
      log.note(([name] + change.words).joined(separator: " "))
      reaction?(object, change)
    }
    kept.append(token)
    return token
  }

  /// An observer object that records its notifications.
  package func watcher(_ name: String = "w", reaction: ((Watcher.Call) -> Void)? = nil) -> Watcher {
    keep(Watcher(name, log, reaction))
  }

  /// Retains an object until the test ends.
  @discardableResult
  package func keep<Object: AnyObject>(_ object: Object) -> Object {
    kept.append(object)
    return object
  }

  /// Ends all registrations. Called at the end of the test, so that a reaction may use its recorder.
  private func letGo() {
    for case let token as KeyValueObservation in kept { token.invalidate() }
    for case let watcher as Watcher in kept { watcher.reaction = nil }
    kept = []
  }
}

/// The lines of a recorder.
package final class Log {
  private var lines: [String] = []

  package init() {}

  package func note(_ line: String) { lines.append(line) }

  package func take() -> [String] {
    defer { lines = [] }
    return lines
  }
}

extension KeyValueObservedChange {
  /// The change in the format of a line.
  package var words: [String] {
    var words: [String] = []
    if isPrior { words.append("prior") }
    if kind != .setting { words.append("\(kind)") }
    if let indexes { words.append(shown(indexes)) }
    if let oldValue { words += ["old", shown(oldValue)] }
    if let newValue { words += ["new", shown(newValue)] }
    return words
  }
}

/// A value in the form that tests compare: "nil" for nil, and an optional's content without the optional.
package func shown<Value>(_ value: Value) -> String {
  let mirror = Mirror(reflecting: value)
  if let indexes = value as? RangeSet<Int> { return "at \(spelled(indexes))" }
  if let members = value as? any SortedForTests { return members.sortedDescription }
  guard mirror.displayStyle == .optional else { return "\(value)" }
  return mirror.children.first.map { shown($0.value) } ?? "nil"
}

/// The ranges of indexes: `0 2...4`.
package func spelled(_ indexes: RangeSet<Int>) -> String {
  indexes.ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\(ClosedRange($0))" }
    .joined(separator: " ")
}

/// Sorted, because sets have no predictable order.
package protocol SortedForTests {
  var sortedDescription: String { get }
}

extension Set: SortedForTests {
  package var sortedDescription: String {
    "{" + map { "\($0)" }.sorted().joined(separator: ", ") + "}"
  }
}
