// Properties by key: an integer for a floating-point property, nil for a number, and keys that the
// class does not have.
import KVORuntime

class Figure: KVOObject {
  @Observed var name = ""
  @Observed var height = 0.0
}

/// Accepts nil for its height, and any key that begins with "note".
final class Statue: Figure {
  private var notes: [String: String] = [:]

  override func setNilValueForKey(_ key: String) throws {
    guard key == "height" else { return try super.setNilValueForKey(key) }
    try setValue(0, forKey: key)
  }

  override func value(forUndefinedKey key: String) throws -> Any? {
    key.hasPrefix("note") ? notes[key] : try super.value(forUndefinedKey: key)
  }

  override func setValue(_ value: Any?, forUndefinedKey key: String) throws {
    guard key.hasPrefix("note") else {
      return try super.setValue(value, forUndefinedKey: key)
    }
    notes[key] = value as? String
  }
}

func attempt(_ body: () throws -> Void) {
  do { try body() } catch { print("error: \(error)") }
}

let figure = Figure()
try figure.setValue("Daniel", forKey: "name")
try figure.setValue(20, forKey: "height")
print(try figure.value(forKey: "name")!, try figure.value(forKey: "height")!)
attempt { try figure.setValue(nil, forKey: "height") }
attempt { try figure.setValue([20], forKey: "height") }
attempt { _ = try figure.value(forKey: "noteA") }
print("still", figure.height)

let statue = Statue()
statue.height = 3
try statue.setValue(nil, forKey: "height")
print("nil makes it", statue.height)
try statue.setValue("by the river", forKey: "noteA")
for key in ["noteA", "noteB"] { print(try statue.value(forKey: key) ?? "no note") }
attempt { try statue.setValue(1, forKey: "width") }
attempt { try statue.setValue(nil, forKey: "name") }
