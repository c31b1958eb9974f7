// A document that observes itself to be marked as edited, saves by key, and compares.
import Foundation

final class DraftDocument: NSObject {
  @objc dynamic var heading = "Untitled"
  @objc dynamic var body = ""
  @objc dynamic private(set) var isDirty = false
  private var saved: [String: String] = [:]
  private var tokens: [NSKeyValueObservation] = []
  static let savedKeys = ["heading", "body"]

  override init() {
    super.init()
    tokens = [
      observe(\.heading) { document, _ in document.isDirty = true },
      observe(\.body) { document, _ in document.isDirty = true },
    ]
  }

  func save() {
    for key in DraftDocument.savedKeys { saved[key] = value(forKey: key) as? String }
    isDirty = false
  }

  func revert() {
    for (key, text) in saved.sorted(by: { $0.key < $1.key }) { setValue(text, forKey: key) }
    isDirty = false
  }

  override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? DraftDocument else { return false }
    return heading == other.heading && body == other.body
  }

  override var hash: Int { return heading.hashValue }
}

func draftDocument(_ journal: Journal) {
  let document = DraftDocument()
  let token = document.observe(\.isDirty, options: [.old, .new]) { _, change in
    if change.oldValue != change.newValue { journal.write("dirty \(change.newValue!)") }
  }
  document.save()
  document.heading = "Plan"
  document.body = "one"
  document.save()
  document.setValue("two", forKey: "body")
  document.revert()
  journal.write("\(document.heading): \(document.body)")
  let other = DraftDocument()
  other.heading = "Plan"
  journal.write("equal \(document == other)")
  other.body = "one"
  journal.write("equal \(document == other)")
  token.invalidate()
}
