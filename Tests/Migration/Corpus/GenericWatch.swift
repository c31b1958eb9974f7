// Generic wrappers of typed observation: a box of key paths, a bag of tokens and a one-way binding.
import Foundation

final class WatchBag {
  private var tokens: [NSKeyValueObservation] = []
  func add(_ token: NSKeyValueObservation) { tokens.append(token) }
  deinit { for token in tokens { token.invalidate() } }
}

extension NSKeyValueObservation {
  func stored(in bag: WatchBag) { bag.add(self) }
}

protocol WatchTarget: AnyObject {}
extension WatchTarget where Self: NSObject {
  @discardableResult
  func watch<Value>(
    _ keyPath: KeyPath<Self, Value>, in bag: WatchBag, _ handler: @escaping (Self, Value) -> Void
  ) -> Self {
    observe(keyPath, options: [.initial, .new]) { object, change in
      guard let value = change.newValue else { return }
      handler(object, value)
    }.stored(in: bag)
    return self
  }
}
extension NSObject: WatchTarget {}

final class WatchBinding<Source: NSObject, Target: NSObject, Value: Equatable> {
  private var token: NSKeyValueObservation?
  init(
    _ source: Source, _ from: KeyPath<Source, Value>, to target: Target,
    _ path: ReferenceWritableKeyPath<Target, Value>
  ) {
    token = source.observe(from, options: [.initial, .new]) { [weak target] source, _ in
      guard let target = target, target[keyPath: path] != source[keyPath: from] else { return }
      target[keyPath: path] = source[keyPath: from]
    }
  }
}

class WatchSource: NSObject {
  @objc dynamic var name = "a"
  @objc dynamic var note: String?
  @objc dynamic var child: WatchSource?
}
class WatchLabel: NSObject {
  @objc dynamic var text = "" { didSet { changes += 1 } }
  var changes = 0
}

func genericWatch(_ journal: Journal) {
  var bag: WatchBag? = WatchBag()
  let (source, label) = (WatchSource(), WatchLabel())
  source.watch(\.name, in: bag!) { _, name in journal.write("name \(name)") }
    .watch(\.note, in: bag!) { source, note in journal.write("note \(note ?? "nil")") }
    .watch(\.child?.name, in: bag!) { _, name in journal.write("child \(name ?? "nil")") }
  let binding = WatchBinding(source, \.name, to: label, \.text)
  source.name = "b"
  source.note = "n"
  source.note = nil
  source.child = WatchSource()
  source.child?.name = "c"
  bag = nil
  source.name = "d"
  journal.write("\(label.text) \(label.changes)")
  withExtendedLifetime(binding) {}
}
