// Models that are filled from JSON: the setter for all keys makes objects of dictionaries.
import Foundation

class JSONBase: NSObject {
  init(_ json: [String: Any]) {
    super.init()
    setValuesForKeys(json)
  }

  override func setValuesForKeys(_ values: [String: Any]) {
    if !values.isEmpty { super.setValuesForKeys(values) }
  }

  override func setValue(_ value: Any?, forUndefinedKey key: String) {}
}

@objcMembers final class Sender: JSONBase {
  var name: String = ""
  var age: Int = 0
}

@objcMembers final class Parcel: JSONBase {
  var weight: Double = 0
  var sender: Sender?
  var note: String?

  override func setValue(_ value: Any?, forKey key: String) {
    super.setValue(value, forKey: key)
    if key == "sender" {
      sender = Sender(value as! [String: Any])
    }
  }
}

func parcelJSON(_ journal: Journal) {
  let number = NSNumber(value: 2)
  let sender: [String: Any] = ["name": "Ina", "age": NSNumber(value: 40), "other": number]
  let parcel = Parcel(["weight": number, "sender": sender, "note": "fragile", "id": number])
  journal.write("\(Int(parcel.weight)) \(parcel.note ?? "none")")
  journal.write("\(parcel.sender?.name ?? "none") \(parcel.sender?.age ?? 0)")
}
