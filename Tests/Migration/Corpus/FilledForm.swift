// A form that takes from a dictionary what it has keys for, and a method for objects of all classes.
import Foundation

class FilledForm: NSObject {
  @objc dynamic var title = ""
  @objc dynamic var pages = 0

  func fill(_ values: [String: Any]) {
    for (key, value) in values.sorted(by: { $0.key < $1.key }) {
      if self.responds(to: NSSelectorFromString(key)) {
        setValue(value, forKey: key)
      }
    }
  }
}

final class FormLink: NSObject {
  private let object: NSObject
  private let key: String
  private let journal: Journal

  init(_ object: NSObject, _ key: String, _ journal: Journal) {
    self.object = object
    self.key = key
    self.journal = journal
    super.init()
    object.addObserver(self, forKeyPath: key, options: [.initial, .new], context: nil)
  }

  deinit { object.removeObserver(self, forKeyPath: key) }

  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    journal.write("\(keyPath!) is \(change![.newKey]!)")
  }
}

extension NSObject {
  func linked(_ key: String, _ journal: Journal) -> FormLink {
    return FormLink(self, key, journal)
  }
}

func filledForm(_ journal: Journal) {
  let form = FilledForm()
  let links = [form.linked("title", journal), form.linked("pages", journal)]
  withExtendedLifetime(links) {
    form.fill(["title": "Report", "pages": 3, "colour": "red"])
    form.pages += 1
  }
  journal.write("\(form.title) \(form.pages)")
}
