// JSON models without observers: a base class reads them by key, subclasses have didSet and setters.
import Foundation

@objcMembers class AlbumModel: NSObject {
  init(json: [String: Any]) {
    super.init()
    for (key, value) in json.sorted(by: { $0.key < $1.key }) { setValue(value, forKey: key) }
  }
  override func setValue(_ value: Any?, forUndefinedKey key: String) {}
}

@objcMembers final class AlbumJSON: AlbumModel {
  var name = ""
  var year = 0 {
    didSet { isOld = year < 1970 }
  }
  private(set) var isOld = false
  var label: String {
    get { return "[" + plainLabel + "]" }
    set { plainLabel = newValue.uppercased() }
  }
  private var plainLabel = ""
}

func albumJSON(_ journal: Journal) {
  let album = AlbumJSON(json: ["name": "Kind", "year": 1959, "label": "cbs", "unknown": 3])
  journal.write("\(album.name) \(album.year) \(album.isOld) \(album.label)")
  album.setValue(1999, forKey: "year")
  album.setValue("emi", forKey: "label")
  journal.write("\(album.isOld) \(album.value(forKey: "label") as! String)")
}
