import KVORuntime
import ModelFixtures
import TestScopes  // `.leakFree`, for all of the module
import TestSupport

/// Writes down every call of its observers, in the order in which they come, as lines such as
/// `a old 0.0 new 10.0` and `w: balance prior old 0.0`. What was not told is not written. It keeps
/// observers and tokens until the test is over.
final class Recorder {
  let log = Log()
  private var kept: [AnyObject] = []

  init() {
    let myself = Shared(self)
    Lifetimes.current?.atEnd { myself.value.letGo() }
  }

  /// The lines since the last time.
  func take() -> [String] { log.take() }
  func note(_ line: String) { log.note(line) }

  /// Observes with a handler; `reaction` runs in its calls, after the line is written.
  @discardableResult
  func observe<Object: KVOObject, Value>(
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

  /// Observes a key path that is a string.
  @discardableResult
  func observe<Object: KVOObject>(
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

  /// An observer object that writes its notifications down.
  func watcher(_ name: String = "w", reaction: ((Watcher.Call) -> Void)? = nil) -> Watcher {
    keep(Watcher(name, log, reaction))
  }

  /// Holds an object until the test is over.
  @discardableResult
  func keep<Object: AnyObject>(_ object: Object) -> Object {
    kept.append(object)
    return object
  }

  /// Ends what it still observes; called at the end of its test, so that a reaction may use its
  /// recorder.
  private func letGo() {
    for case let token as KeyValueObservation in kept { token.invalidate() }
    for case let watcher as Watcher in kept { watcher.reaction = nil }
    kept = []
  }
}

/// The lines of a recorder.
final class Log {
  private var lines: [String] = []

  func note(_ line: String) { lines.append(line) }

  func take() -> [String] {
    defer { lines = [] }
    return lines
  }
}

extension KeyValueObservedChange {
  /// The change as a line has it.
  var words: [String] {
    var words: [String] = []
    if isPrior { words.append("prior") }
    if kind != .setting { words.append("\(kind)") }
    if let indexes { words.append(shown(indexes)) }
    if let oldValue { words += ["old", shown(oldValue)] }
    if let newValue { words += ["new", shown(newValue)] }
    return words
  }
}

/// A value as tests read it: "nil" for nil, nothing around what an optional wraps.
func shown<Value>(_ value: Value) -> String {
  let mirror = Mirror(reflecting: value)
  if let indexes = value as? RangeSet<Int> { return "at \(spelled(indexes))" }
  if let members = value as? any SortedForTests { return members.sortedDescription }
  guard mirror.displayStyle == .optional else { return "\(value)" }
  return mirror.children.first.map { shown($0.value) } ?? "nil"
}

/// The ranges of indexes: `0 2...4`.
func spelled(_ indexes: RangeSet<Int>) -> String {
  indexes.ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\(ClosedRange($0))" }
    .joined(separator: " ")
}

/// Sets have no order of their own that tests could tell beforehand.
protocol SortedForTests {
  var sortedDescription: String { get }
}

extension Set: SortedForTests {
  var sortedDescription: String { "{" + map { "\($0)" }.sorted().joined(separator: ", ") + "}" }
}
