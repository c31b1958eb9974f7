// Setters of computed properties: each notifies once, whatever it sets.
import Foundation

final class SetterEngine { var rpm = 0 }

final class SetterForms: NSObject {
  private let engine = SetterEngine()
  private var store: [String: String] = [:]
  private var level = 1
  @objc dynamic var isDirty = false
  @objc dynamic var low = 0
  @objc dynamic var high = 0

  @objc dynamic var title: String {
    get { return store["title"] ?? "" }
    set {
      store["title"] = newValue
      isDirty = true
    }
  }

  @objc dynamic var rpm: Int {
    get { return engine.rpm }
    set {
      willChangeValue(forKey: "isIdle")
      engine.rpm = newValue
      didChangeValue(forKey: "isIdle")
    }
  }

  @objc dynamic var span: Int {
    get { return high - low }
    set {
      low = 100
      high = 100 + newValue
    }
  }

  @objc class func keyPathsForValuesAffectingSpan() -> Set<String> { return ["low", "high"] }

  @objc dynamic var draft: String {
    get { return store["draft"] ?? "" }
    set { store["draft"] = newValue }
  }

  override class func automaticallyNotifiesObservers(forKey key: String) -> Bool {
    return key != "draft" && super.automaticallyNotifiesObservers(forKey: key)
  }
}

func setterForms(_ journal: Journal) {
  let forms = SetterForms()
  let tokens: [NSKeyValueObservation] = [
    forms.observe(\.title, options: [.old, .new]) { _, change in
      journal.write("title \(change.oldValue!) -> \(change.newValue!)")
    },
    forms.observe(\.isDirty) { forms, _ in journal.write("dirty \(forms.isDirty)") },
    forms.observe(\.rpm, options: [.old, .new]) { _, change in
      journal.write("rpm \(change.oldValue!) -> \(change.newValue!)")
    },
    forms.observe(\.span, options: [.old, .new]) { _, change in
      journal.write("span \(change.oldValue!) -> \(change.newValue!)")
    },
    forms.observe(\.draft) { _, _ in journal.write("draft") },
  ]
  forms.title = "a"
  forms.rpm = 3
  forms.span = 5
  forms.span = 5
  forms.draft = "x"
  withExtendedLifetime(tokens) {}
}
