import KVORuntime

/// An observer object. It records its notifications as lines such as `w: balance old 0.0 new 1.0`, with the context's
/// number if it was registered with one (`w[2]: balance`).
package class Watcher: Tracked {
  /// One notification.
  package struct Call {
    package let keyPath: String?
    package let object: Any?
    package let change: [KeyValueChangeKey: Any]?
    package let context: UnsafeMutableRawPointer?

    package var isPrior: Bool { change?[.notificationIsPriorKey] as? Bool ?? false }
  }

  package let name: String
  package var reaction: ((Call) -> Void)?
  private let log: Log
  /// So that a watcher can be observed as well.
  @Observed package var seen = 0

  package init(_ name: String, _ log: Log, _ reaction: ((Call) -> Void)? = nil) {
    self.name = name
    self.log = log
    self.reaction = reaction
    super.init()
  }

  package override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [KeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    let call = Call(keyPath: keyPath, object: object, change: change, context: context)
    let number = context.map { "[\(UInt(bitPattern: $0))]" } ?? ""
    log.note((["\(name)\(number): \(keyPath ?? "nil")"] + call.words).joined(separator: " "))
    reaction?(call)
  }
}

extension Watcher.Call {
  /// The change dictionary in the format of a line. Unexpected entries are written as well.
  fileprivate var words: [String] {
    guard var rest = change else { return ["no change"] }
    var words: [String] = []
    if let prior = rest.removeValue(forKey: .notificationIsPriorKey) {
      words.append(prior as? Bool == true ? "prior" : "prior is \(prior)")
    }
    let kind = rest.removeValue(forKey: .kindKey)
    if kind as? KeyValueChange != .setting { words.append("\(kind ?? "no kind")") }
    if let indexes = rest.removeValue(forKey: .indexesKey) { words.append(shown(indexes)) }
    if let old = rest.removeValue(forKey: .oldKey) { words += ["old", shown(old)] }
    if let new = rest.removeValue(forKey: .newKey) { words += ["new", shown(new)] }
    return words + rest.keys.map { "and \($0.rawValue)" }.sorted()
  }
}

/// A context that is only a number, at whose address nothing is stored.
package func context(_ number: Int) -> UnsafeMutableRawPointer? {
  UnsafeMutableRawPointer(bitPattern: number)
}

extension KeyValueObservingOptions {
  /// Every combination of options.
  package static let combinations: [KeyValueObservingOptions] =
    (0..<16).map { KeyValueObservingOptions(rawValue: $0) }
}

/// The error that a call throws; nil for none or one of another type.
package func keyValueError(_ body: () throws -> Void) -> KeyValueError? {
  do { try body() } catch { return error as? KeyValueError }
  return nil
}
