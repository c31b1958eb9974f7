// A record that prints itself by its keys, and is saved as JSON.
import Foundation

final class DebugRecord: NSObject {
  @objc dynamic var number = 1
  @objc dynamic var note: String?
  static let keys = ["number", "note"]

  override var description: String {
    let values = dictionaryWithValues(forKeys: DebugRecord.keys)
    return values.sorted { $0.key < $1.key }.map {
      "\($0.key)=\($0.value is NSNull ? "-" : "\($0.value)")"
    }
    .joined(separator: " ")
  }

  var json: String {
    let data = try! JSONSerialization.data(
      withJSONObject: dictionaryWithValues(forKeys: DebugRecord.keys), options: [.sortedKeys])
    return String(decoding: data, as: UTF8.self)
  }
}

func debugRecord(_ journal: Journal) {
  let record = DebugRecord()
  journal.write("\(record) \(record.json)")
  record.note = "x"
  record.setValue(2, forKey: #keyPath(DebugRecord.number))
  journal.write("\(record) \(record.json)")
}
