// A model that fills itself from JSON by key-value coding, with renamed keys, nested models and unknown keys.
import Foundation

class MapperBase: NSObject {
  class var renamed: [String: String] { return [:] }
  private(set) var unknown: [String] = []
  required override init() { super.init() }

  convenience init(json: [String: Any]) {
    self.init()
    for (key, value) in json.sorted(by: { $0.key < $1.key }) {
      if value is NSNull { continue }
      setValue(value, forKey: type(of: self).renamed[key] ?? key)
    }
  }
  override func setValue(_ value: Any?, forUndefinedKey key: String) {
    unknown.append(key)
  }
  override func value(forUndefinedKey key: String) -> Any? {
    return "undefined \(key)"
  }
}

class MapperAuthor: MapperBase {
  @objc var name: String = ""
  @objc var age: Int = 0
}

class MapperPost: MapperBase {
  override class var renamed: [String: String] {
    return ["id": "identifier", "description": "summary"]
  }
  @objc var identifier = 0
  @objc var summary: String?
  @objc var score: Double = 0
  @objc var isDraft = false
  @objc var tags: [String] = []
  @objc var author: MapperAuthor?
  @objc var comments: [MapperAuthor] = []

  override func setValue(_ value: Any?, forKey key: String) {
    switch key {
    case "author":
      if let json = value as? [String: Any] { author = MapperAuthor(json: json) }
    case "comments":
      comments = (value as? [[String: Any]] ?? []).map { MapperAuthor(json: $0) }
    default:
      super.setValue(value, forKey: key)
    }
  }
}

func mapperModel(_ journal: Journal) {
  let text = """
    {"id": 12, "description": "about", "score": 4, "isDraft": true, "tags": ["x", "y"], "extra": 1,
     "author": {"name": "Ann", "age": 33}, "comments": [{"name": "Bob"}, {"name": "Cy", "age": 2}], "other": null}
    """
  let json = try! JSONSerialization.jsonObject(with: text.data(using: .utf8)!) as! [String: Any]
  let post = MapperPost(json: json)
  journal.write(
    "\(post.identifier) \(post.summary ?? "nil") \(post.score) \(post.isDraft) \(post.tags.joined(separator: "+"))"
  )
  journal.write("\(post.author?.name ?? "nil") \(post.author?.age ?? 0) \(post.comments.count)")
  journal.write("unknown \(post.unknown)")
  journal.write("\(post.value(forKeyPath: "author.name") as? String ?? "none")")
  journal.write("\(post.value(forKey: "nothing") as? String ?? "none")")
  let names = post.value(forKeyPath: "comments.name") as? [String]
  journal.write("\(names ?? [])")
  journal.write("\(post.value(forKeyPath: "comments.@max.age") as? Int ?? -1)")
}
