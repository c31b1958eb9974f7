// The old and the new value, if the options ask for them: of a number, of an optional, and of a
// value that its setter corrects.
import KVORuntime

@KVO final class Room: KVOObject {
  var temperature = 20
  var guest: String?
  @KVOIgnored private var volumeField = 3

  // Observers get the value that the getter returns, not the one passed to the setter.
  var volume: Int {
    get { volumeField }
    set { withAutomaticChange(of: \.volume) { volumeField = min(max(newValue, 0), 10) } }
  }
}

final class Logbook: KVOObject {
  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [KeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    print("\(keyPath!): \(words(change![.oldKey]!)) -> \(words(change![.newKey]!))")
  }

  private func words(_ value: Any) -> String {
    switch value {
    case Optional<Any>.none: "nobody"
    case let name as String: name
    default: "\(value)"
    }
  }
}

let room = Room()
let logbook = Logbook()
for key in ["temperature", "guest", "volume"] {
  try room.addObserver(logbook, forKeyPath: key, options: [.old, .new])
}
room.temperature += 1
room.guest = "Ada"
room.guest = nil
try room.setValue(50, forKey: "volume")

// Typed: nil is a value of an optional like any other.
let token = room.observe(\.guest, options: [.old, .new]) { _, change in
  if case .some(let guest) = change.newValue { print("the guest is \(guest ?? "nobody")") }
}
try room.removeObserver(logbook, forKeyPath: "guest")
room.guest = "Grace"
room.guest = nil
