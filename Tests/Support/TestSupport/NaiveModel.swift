import CKVORuntime

/// The rules in the simplest form: lists, searched from end to end.
///
/// An automatic change is open from its will until its finals are called, and inner changes of its key join it. Each
/// change calls the observers that were registered when it began and still are, in order.
package final class NaiveModel: ObservedSystem {
  private final class Entry {
    let name: String
    let object: Int, key: Int
    let options: kvo_options
    let watcher: Int?
    let context: Int
    var isAlive = true
    var last = LastValue<Double>()

    init(
      _ name: String, _ object: Int, _ key: Int, _ options: kvo_options, _ watcher: Int?,
      _ context: Int
    ) {
      self.name = name
      self.object = object
      self.key = key
      self.options = options
      self.watcher = watcher
      self.context = context
    }
  }

  /// An open change: its recipients and the old value.
  private struct Change {
    let object: Int, key: Int
    let recipients: [Entry]
    let old: Double
    let isJoined: Bool
  }

  package var reaction: (String) -> Void = { _ in }
  package private(set) var lines: [String] = []
  private var entries: [Entry] = []
  private var values: [[Double]]
  private var automatic: [(object: Int, key: Int)] = []
  private var pairs: [Change] = []
  /// Counts readings of values.
  private var time = 0

  package init(objects: Int) {
    values = Array(repeating: modelKeys.map { _ in 0 }, count: objects)
  }

  package func note(_ line: String) { lines.append(line) }

  // MARK: Changes

  package func set(_ object: Int, _ key: Int, to value: Double, byKey: Bool) {
    guard !isAutomaticOpen(object, key) else {
      values[object][key] = value
      return
    }
    let change = begin(object, key)
    automatic.append((object, key))
    tellPriors(change)
    values[object][key] = value
    automatic.removeLast()
    tellFinals(change)
  }

  package func will(_ object: Int, _ key: Int) {
    let change = begin(object, key, isJoined: isAutomaticOpen(object, key))
    pairs.append(change)
    if !change.isJoined { tellPriors(change) }
  }

  package func did(_ object: Int, _ key: Int) {
    guard let index = pairs.lastIndex(where: { $0.object == object && $0.key == key }) else {
      return
    }
    let change = pairs.remove(at: index)
    if !change.isJoined { tellFinals(change) }
  }

  private func isAutomaticOpen(_ object: Int, _ key: Int) -> Bool {
    automatic.contains { $0.object == object && $0.key == key }
  }

  private func begin(_ object: Int, _ key: Int, isJoined: Bool = false) -> Change {
    let recipients = isJoined ? [] : entries.filter { $0.object == object && $0.key == key }
    return Change(
      object: object, key: key, recipients: recipients, old: values[object][key], isJoined: isJoined
    )
  }

  private func tellPriors(_ change: Change) {
    for entry in change.recipients where entry.isAlive && entry.options.contains(.KVO_PRIOR) {
      tell(entry, prior: true, old: change.old)
    }
  }

  private func tellFinals(_ change: Change) {
    let new = values[change.object][change.key]
    time += 1
    let readAt = time
    for entry in change.recipients where entry.isAlive {
      let isAdmitted = entry.last.admits(new, at: readAt)
      if isAdmitted || !entry.options.contains(.KVO_DISTINCT) {
        tell(entry, old: change.old, new: new)
      }
    }
  }

  private func tell(_ entry: Entry, prior: Bool = false, old: Double? = nil, new: Double? = nil) {
    var words = [modelKeys[entry.key]]
    if prior { words.insert("prior", at: 0) }
    if let old, entry.options.contains(.KVO_OLD) { words += ["old", "\(old)"] }
    if let new, entry.options.contains(.KVO_NEW) { words += ["new", "\(new)"] }
    let context = entry.context == 0 ? "" : "[\(entry.context)]"
    lines.append("\(entry.name)\(context): \(words.joined(separator: " "))")
    reaction(entry.name)
  }

  // MARK: Registrations

  package func observe(_ object: Int, _ key: Int, _ options: kvo_options, as name: String) {
    register(Entry(name, object, key, options, nil, 0))
  }

  package func add(_ watcher: Int, to object: Int, _ key: Int, _ options: kvo_options, context: Int)
  {
    register(Entry("w\(watcher)", object, key, options, watcher, context))
  }

  private func register(_ entry: Entry) {
    entries.append(entry)
    time += 1
    _ = entry.last.admits(values[entry.object][entry.key], at: time)
    guard entry.options.contains(.KVO_INITIAL) else { return }
    tell(entry, new: values[entry.object][entry.key])
  }

  package func invalidate(_ name: String) { end { $0.name == name && $0.watcher == nil } }

  package func remove(_ watcher: Int, from object: Int, _ key: Int, context: Int?) -> Bool {
    let match = entries.last {
      $0.watcher == watcher && $0.object == object && $0.key == key
        && (context == nil || $0.context == context)
    }
    end { $0 === match }
    return match != nil
  }

  package func removeAll(from object: Int) { end { $0.object == object } }

  package func replaceWatcher(_ watcher: Int) { end { $0.watcher == watcher } }

  package func replaceObject(_ object: Int) {
    removeAll(from: object)
    values[object] = modelKeys.map { _ in 0 }
  }

  private func end(_ isMeant: (Entry) -> Bool) {
    for entry in entries where isMeant(entry) { entry.isAlive = false }
    entries.removeAll { !$0.isAlive }
  }

  package func state(of object: Int) -> String {
    let counts = modelKeys.indices.map { key in
      entries.count { $0.object == object && $0.key == key }
    }
    return "\(counts) \(counts.contains { $0 > 0 })"
  }
}
