// A model that is filled from JSON by setValuesForKeys, with keys that have other names there, and with didSet.
import Foundation

@objcMembers
class Model: NSObject {
  private(set) var unknown: [String] = []

  required override init() {
    super.init()
  }

  convenience init(json: [String: Any]) {
    self.init()
    setValuesForKeys(json)
  }

  override func setValue(_ value: Any?, forUndefinedKey key: String) {
    unknown.append(key)
  }

  override func value(forUndefinedKey key: String) -> Any? {
    nil
  }
}

@objcMembers
final class Article: Model {
  dynamic var title: String = ""
  dynamic var subtitle: String?
  dynamic var wordCount: Int = 0
  dynamic var rating: Double = 0 {
    didSet { ratings += 1 }
  }
  dynamic var tags: [String] = []
  private(set) var ratings = 0

  override func setValue(_ value: Any?, forKey key: String) {
    // Keys with other names in JSON.
    switch key {
    case "word_count": super.setValue(value, forKey: #keyPath(wordCount))
    default: super.setValue(value, forKey: key)
    }
  }

  override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? Article else { return false }
    return title == other.title && wordCount == other.wordCount
  }

  override var hash: Int {
    title.hashValue ^ wordCount
  }

  override var description: String { "<Article \(title), \(wordCount) words>" }
}

func jSONArticle(_ journal: Journal) {
  let text = """
    [{"title": "Keys", "subtitle": null, "word_count": 1200, "rating": 4.5, "tags": ["a", "b"]},
     {"title": "Values", "word_count": 800, "rating": 3, "colour": "red"}]
    """
  let json = try! JSONSerialization.jsonObject(with: Data(text.utf8)) as! [[String: Any]]
  let articles = json.map { Article(json: $0) }
  for article in articles {
    journal.write(
      "\(article), \(article.subtitle ?? "no subtitle"), \(article.rating) of \(article.ratings)")
  }
  journal.write("tags \(articles[0].tags), unknown \(articles[1].unknown)")
  journal.write("undefined \(articles[0].value(forKey: "colour") ?? "nil")")

  let token = articles[0].observe(\.rating, options: [.old, .new]) { _, change in
    journal.write("rating \(change.oldValue!) -> \(change.newValue!)")
  }
  articles[0].setValuesForKeys(["rating": 5])
  journal.write("rated \(articles[0].ratings) times")
  token.invalidate()

  let copy = Article(json: json[0])
  journal.write(
    "equal \(copy == articles[0]), \(copy == articles[1]), \(Set([copy, articles[0]]).count) in a set"
  )
}
