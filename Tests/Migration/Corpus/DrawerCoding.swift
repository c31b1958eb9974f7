// A codable model with a hash, and coding keys in an extension, that is also filled from a dictionary of JSON.
import Foundation

final class Drawer: NSObject, Codable {
  @objc dynamic var label: String = ""
  @objc dynamic var size: Int = 0
  @objc dynamic var volume: Int { return size * 2 }

  override init() {
    super.init()
  }

  required init(from decoder: Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    label = try container.decode(String.self, forKey: .label)
    size = try container.decode(Int.self, forKey: .size)
    super.init()
  }

  func fill(_ json: [String: Any]) {
    for (key, value) in json {
      if value is NSNull { continue }
      setValue(value, forKey: key)
    }
  }
}

extension Drawer {
  override var hash: Int {
    var hasher = Hasher()
    hasher.combine(label)
    hasher.combine(size)
    return hasher.finalize()
  }

  override func isEqual(_ other: Any?) -> Bool {
    guard let drawer = other as? Drawer else { return false }
    return drawer.label == label && drawer.size == size
  }
}

extension Drawer {
  enum CodingKeys: String, CodingKey {
    case label = "name"
    case size
  }

  func encode(to encoder: Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(label, forKey: .label)
    try container.encode(size, forKey: .size)
  }
}

func drawerCoding(_ journal: Journal) {
  let drawer = Drawer()
  let token = drawer.observe(\.size, options: [.old, .new]) { _, change in
    journal.write("\(change.oldValue ?? -1) \(change.newValue ?? -1)")
  }
  drawer.fill(["label": "socks", "size": NSNumber(value: 3)])
  token.invalidate()
  let data = try! JSONEncoder().encode(drawer)
  let copy = try! JSONDecoder().decode(Drawer.self, from: data)
  journal.write("\(copy == drawer) \(copy.hash == drawer.hash) \(copy.label)")
  journal.write(String(decoding: data, as: UTF8.self).contains("name") ? "name" : "label")
  journal.write("\(copy.value(forKey: "volume") as! Int)")
}
