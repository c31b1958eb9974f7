import KVORuntime

/// A class with a key of each kind.
class Person: KVOObject {
  @Observed var name = ""
  @Observed var age = 0
  @Observed var nickname: String?
  @Observed var friends: [Person] = []
  @Observed var titles: Set<String> = []
  @Observed var pets: [String]?
  @Observed var hobbies: Set<String>?
  var note = "none"
  let species = "human"
  var shelf: [String] = []
  var drawer: Set<String> = []

  convenience init(name: String, age: Int = 0) {
    self.init()
    self.name = name
    self.age = age
  }

  override class func registerKeys() {
    Person.declareKeys { keys in
      keys.stored("note", \.note)
      keys.stored("species", \.species)
      keys.accessors("shout", get: { $0.name.uppercased() }, set: { $0.name = $1.lowercased() })
      keys.automaticallyNotifies("note", true)
      keys.orderedToMany(
        "books", count: { $0.shelf.count }, element: { $0.shelf[$1] },
        elements: { Array($0.shelf[$1]) },
        insert: { person, books, indexes in
          for (book, index) in zip(books, indexes.ranges.joined()) {
            person.shelf.insert(book, at: index)
          }
        },
        remove: { $0.shelf.removeSubranges($1) },
        replace: { person, indexes, books in
          for (book, index) in zip(books, indexes.ranges.joined()) { person.shelf[index] = book }
        })
      keys.unorderedToMany(
        "keys", count: { $0.drawer.count }, contains: { $0.drawer.contains($1) },
        elements: { AnySequence($0.drawer) }, add: { $0.drawer.formUnion($1) },
        remove: { $0.drawer.subtract($1) }, intersect: { $0.drawer.formIntersection($1) },
        set: { $0.drawer = $1 })
      keys.orderedSet(
        "ranks", count: { $0.shelf.count }, element: { $0.shelf[$1] },
        index: { $0.shelf.firstIndex(of: $1) },
        insert: { person, ranks, indexes in
          for (rank, index) in zip(ranks, indexes.ranges.joined()) {
            person.shelf.insert(rank, at: index)
          }
        },
        remove: { $0.shelf.removeSubranges($1) },
        replace: { person, indexes, ranks in
          for (rank, index) in zip(ranks, indexes.ranges.joined()) { person.shelf[index] = rank }
        })
    }
  }
}

/// Overrides every hook that a class can override.
final class Particular: Person {
  var asked: [String] = []

  override class var accessInstanceVariablesDirectly: Bool { false }
  override class func automaticallyNotifiesObservers(forKey key: String) -> Bool {
    key != "age" && super.automaticallyNotifiesObservers(forKey: key)
  }

  override func isEqual(_ other: KVOObject) -> Bool { (other as? Particular)?.name == name }
  override func hash(into hasher: inout Hasher) { hasher.combine(name) }

  override func value(forUndefinedKey key: String) throws -> Any? {
    key == "magic" ? 42 : try super.value(forUndefinedKey: key)
  }
  override func setValue(_ value: Any?, forUndefinedKey key: String) throws { asked.append(key) }
  override func setNilValueForKey(_ key: String) throws {
    asked.append("nil \(key)")
    if key != "age" { try super.setNilValueForKey(key) }
  }
}

/// Observes by string.
final class Watcher: KVOObject {
  var seen: [String] = []

  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [KeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    let kind = change?[.kindKey] as? KeyValueChange
    let prior = change?[.notificationIsPriorKey] as? Bool == true ? " prior" : ""
    let old = change?[.oldKey].map { " old \($0)" } ?? ""
    let new = change?[.newKey].map { " new \($0)" } ?? ""
    let indexes = (change?[.indexesKey] as? RangeSet<Int>).map { " at \(Array($0.ranges))" } ?? ""
    seen.append("\(keyPath ?? "") \(kind!)\(prior)\(old)\(new)\(indexes)")
  }
}

/// Declares the dependencies of its computed keys, and validators.
final class Pupil: Person {
  @Observed var mate: Pupil?
  var greeting: String { "hello \(name)" }
  var initial: String { String(name.prefix(1)) }

  override class func registerKeys() {
    Pupil.declareKeys { keys in
      keys.computed("greeting", \.greeting, affectedBy: ["name"])
      keys.accessors("initial", \.initial, get: { $0.initial })
      keys.dependency("initial", on: ["name"])
      keys.validator("name") { (_: Pupil, name: inout String?) in
        let trimmed = name?.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()
        guard let trimmed, !trimmed.isEmpty else {
          throw KeyValueError.validationFailed(key: "name", className: "Pupil", reason: "empty")
        }
        name = String(trimmed)
      }
    }
  }
}

/// Declares nothing about its computed key.
final class Whisper: Person {
  var whisper: String { name.lowercased() }
}

/// Declares the dependencies by types.
final class Square: KVOObject, KeyValueObservingCustomization {
  @Observed var side = 1
  @Observed var silent = 0
  var area: Int { side * side }

  override class func registerKeys() {
    Square.declareKeys { $0.accessors("area", \.area, get: { $0.area }) }
  }

  static func keyPathsAffectingValue(for key: AnyKeyPath) -> Set<AnyKeyPath> {
    key == \Square.area ? [\Square.side] : []
  }

  static func automaticallyNotifiesObservers(for key: AnyKeyPath) -> Bool {
    key != \Square.silent
  }
}

/// Declares nothing itself: the macro does.
@KVO final class Labelled: KVOObject {
  var text = ""
  weak var owner: Labelled?
  @KVOIgnored var hidden = 0
  let model = Model()
  @KVOTracked var index: Int {
    get { model.index }
    set { model.index = newValue }
  }

  @KVO final class Model: KVOObject {
    var index = 0
  }
}
