import KVORuntime
import ModelFixtures
import TestSupport

// `@KVO` classes, for the tests of chapter Q.

@KVO class Boat: KVOObject {
  var length = 1.0 { didSet { if length < 0 { length = 0 } } }
  var name: String? = "Argo"
  private var secret = 1
  weak var captain: Sailor?
  weak var mate: Sailor?
  unowned var harbour: Sailor
  var captainName: String { captain?.name ?? "nobody" }
  var area: Double {
    get { length * 2 }
    set { length = newValue / 2 }
  }
  @KVOIgnored var unseen = 0
  @KVOIgnored lazy var log = [String]()
  let built = 1900
  #if DEBUG || !DEBUG
    var conditional = 1
  #endif
  #if NEVER_SO
    var never = 1
  #endif

  init(_ harbour: Sailor) {
    self.harbour = harbour
    super.init()
  }
}

@KVO class Sailor: KVOObject {
  var name: String
  init(_ name: String) {
    self.name = name
    super.init()
  }
}

/// Overrides, with the macro.
@KVO final class Ship: Boat {
  var masts = 3
  override var length: Double { didSet { set.append(length) } }
  override var area: Double {
    get { super.area + 1 }
    set { super.area = newValue - 1 }
  }
  @KVOIgnored var set: [Double] = []
}

/// Overrides, without the macro.
final class Raft: Boat {
  var logs = 4
  override var name: String? {
    get { super.name.map { "raft " + $0 } }
    set { super.name = newValue }
  }
}

/// As written for Apple's platforms, without `@objc`.
@KVO class Marked: KVOObject {
  dynamic var level = 1 { didSet { if level > 9 { level = 9 } } }
  dynamic weak var next: Marked?
  dynamic private(set) var names: [String] = []
  @Observed var wrapped = 0
  private var stored = 0
  dynamic var count: Int {
    get { stored }
    set {
      willChangeValue(forKey: "count")
      stored = newValue
      didChangeValue(forKey: "count")
    }
  }
  var title: String { "\(level) \(names)" }
  var plain = 0

  class func automaticallyNotifiesObserversOfCount() -> Bool { false }
  func add(_ name: String) { names.append(name) }
}

/// An override of a marked property is observed without a mark of its own.
@KVO final class MarkedOverride: Marked {
  override var level: Int { didSet { set.append(level) } }
  dynamic var more = 0
  var set: [Int] = []
}

/// Two links of one type, neither weak nor observed unless the class says so.
@KVO final class Pair: KVOObject {
  @KVOIgnored var first: Sailor?
  @KVOIgnored var second: Sailor?
  var left: Sailor?
  var right: Sailor?
}

/// The typed customisation, and manual declarations.
@KVO final class Customised: KVOObject, KeyValueObservingCustomization {
  var quiet = 0
  var width = 1
  var height = 1
  var size: Int { width * height }
  var renamed = 5

  static func keyPathsAffectingValue(for key: AnyKeyPath) -> Set<AnyKeyPath> {
    key == \Customised.size ? [\Customised.width] : []
  }
  static func automaticallyNotifiesObservers(for key: AnyKeyPath) -> Bool {
    key != \Customised.quiet
  }
  override class func registerKeys() {
    declareKeys { $0.accessors("renamed", get: { $0.renamed * 10 }) }
  }
}

/// A manual declaration, and subclasses whose `registerKeys` declare other keys.
@KVO class DeclaredHere: KVOObject {
  var count = 1
  override class func registerKeys() {
    declareKeys { $0.accessors("count", get: { $0.count * 10 }) }
  }
}
@KVO final class DeclaredByMacro: DeclaredHere {
  var more = 1
  override class func registerKeys() { declareKeys { $0.accessors("twice", get: { $0.more * 2 }) } }
}
final class DeclaredByHand: DeclaredHere {
  override class func registerKeys() { declareKeys { $0.accessors("one", get: { _ in 1 }) } }
}

/// Manual declarations that differ from the macro's for the same keys.
@KVO class DeclaredOtherwise: KVOObject {
  var items: [Int] { [7] }
  @KVOIgnored var songs: [String] = []
  @KVOIgnored var inserted = 0
  var a = 0
  var b = 0
  var sum: Int { a + b }
  var size: Int { 1 }

  class func keyPathsForValuesAffectingSum() -> Set<String> { ["a"] }
  func insertObject(_ song: String, inSongsAt index: Int) { inserted += 1 }
  func removeObject(fromSongsAt index: Int) {}

  override class func registerKeys() {
    declareKeys { keys in
      keys.orderedToMany("items", count: { _ in 3 }, element: { _, index in index })
      keys.accessors(
        "songs", get: { $0.songs },
        set: { object, songs in object.songs = songs.map { _ in "by hand" } })
      keys.computed("sum", \.sum, affectedBy: ["b"])
      keys.computed("extent", \.size)
      keys.computed("another", \.size)
    }
  }
}

final class DeclaredBelow: DeclaredOtherwise {}

@KVO final class DeclaredLate: KVOObject {
  var a = 0
  var sum: Int { a + 1 }
  var twice: Int { a * 2 }
  class func keyPathsForValuesAffectingSum() -> Set<String> { ["a"] }
}

/// The macro's declarations cause no warning.
@KVO class Aged: KVOObject {
  @available(*, deprecated) var old = 1
  @available(macOS 10.15, *) var older = 1
  @available(*, deprecated, message: "no longer needed") var sum: Int { old + older }

  @available(*, deprecated) class func keyPathsForValuesAffectingSum() -> Set<String> {
    ["old", "older"]
  }
  @available(macOS 12, *) class func automaticallyNotifiesObserversOfOlder() -> Bool { false }
  @available(*, deprecated) func validateOld(_ value: inout Int) { value = max(value, 0) }
}

@KVO final class AgedBelow: Aged {
  var more = 1
  @available(*, deprecated) override var sum: Int { super.sum + more }
}

/// Declares keys by hand, for each of its subclasses.
class Offer: KVOObject {
  @Observed var price = 1
  @Observed var tax = 1
  var total: Int { price }

  override class func registerKeys() {
    Self.declareKeys { keys in
      keys.accessors("total", get: { $0.price })
      keys.automaticallyNotifies("tax", false)
    }
  }
}

@KVO class TaxedOffer: Offer {
  override var total: Int { price + tax }
  class func automaticallyNotifiesObserversOfTax() -> Bool { true }
}

final class FinalOffer: TaxedOffer {}

struct Song: Hashable { var title: String }

/// Methods named by conventions.
@KVO class Album: KVOObject {
  var artist = "A"
  var year = 1999
  var label: String { "\(artist) \(year)" }
  @KVOIgnored private var storage: [Song] = []
  var songs: [Song] { storage }
  @KVOIgnored private(set) var tags: Set<String> = []
  var tracks: [Song] = []

  class func keyPathsForValuesAffectingLabel() -> Set<String> { ["artist"] }
  static func keyPathsForValuesAffectingCredits() -> Set<String> { ["artist"] }
  class func automaticallyNotifiesObserversOfYear() -> Bool { false }
  class func automaticallyNotifiesObserversOfArtist() -> Bool { true }
  func validateArtist(_ value: inout String?) throws {
    guard let name = value, !name.isEmpty else { throw AlbumError.noArtist }
    value = name.uppercased()
  }
  func validateYear(_ value: inout Int) { value = max(value, 1900) }

  var countOfPrimes: Int { 4 }
  func objectInPrimes(at index: Int) -> Int { [2, 3, 5, 7][index] }

  func insertObject(_ song: Song, inSongsAt index: Int) {
    withChange(.insertion, at: RangeSet(integer: index), forKey: "songs") {
      storage.insert(song, at: index)
    }
  }
  func removeObject(fromSongsAt index: Int) {
    withChange(.removal, at: RangeSet(integer: index), forKey: "songs") {
      _ = storage.remove(at: index)
    }
  }
  func replaceObject(inSongsAt index: Int, with song: Song) {
    withChange(.replacement, at: RangeSet(integer: index), forKey: "songs") {
      storage[index] = song
    }
  }
  func addTags(_ more: Set<String>) { tags.formUnion(more) }
  func removeTagsObject(_ tag: String) { tags.remove(tag) }
  // Accessors of an observed property, whose elements are changed in place.
  func insertObject(_ song: Song, inTracksAt index: Int) {
    mutableArray(\.tracks).insert(song, at: index)
  }
  func removeObject(fromTracksAt index: Int) { mutableArray(\.tracks).remove(at: index) }
}

/// Overrides the answers of its superclass, without the macro.
final class Single: Album {
  override class func keyPathsForValuesAffectingLabel() -> Set<String> { ["artist", "year"] }
  override class func automaticallyNotifiesObserversOfYear() -> Bool { true }
  override class func automaticallyNotifiesObserversOfArtist() -> Bool { false }
}

enum AlbumError: Error { case noArtist }

@KVO class Crate<Content: Equatable>: KVOObject {
  var content: Content
  weak var next: Crate<Content>?
  var isFull: Bool { content != nothing }
  @KVOIgnored let nothing: Content
  init(_ content: Content, nothing: Content) {
    (self.content, self.nothing) = (content, nothing)
    super.init()
  }
}

enum Outer {
  @KVO final class Inner: KVOObject {
    var value = 1
  }
}

/// Names that are Swift keywords.
@KVO final class OddlyNamed: KVOObject {
  var `class` = 1
  var get = 3
  var weak = 4
}

/// Members whose last token could continue.
@KVO final class Tune: KVOObject {
  var tags: Set<String>?
  var volume = 0.5 { didSet { if volume > 1 { volume = 1 } } }
  var rating: Range<Int>?
  var percent: Int { Int(volume * 100) }
  @KVOIgnored private var raw: Set<Range<Int>> = []
  typealias Ranges = Set<Range<Int>>
  class func keyPathsForValuesAffectingLoudness() -> Set<String> { ["volume"] }
  var loudness: Int { 11 }
  #if compiler(>=5)
    @usableFromInline
  #endif
  var speed = 1
}

/// A class with a type of the wrapper's name.
@KVO final class Shadowing: KVOObject {
  struct Observed {}
  struct KVOAccessed {}
  var value = 1
  weak var owner: Sailor?
}

/// Two classes with the same properties, one with `@Observed` and one with the macro.
final class Handmade: KVOObject {
  @Observed var a = 1
  @Observed var b = 2.0
}
@KVO final class Macromade: KVOObject {
  var a = 1
  var b = 2.0
}

/// A setter whose notification the class does not show, bracketed as the macro advises.
@KVO final class Facade: KVOObject {
  final class Model { var index = 0 }
  let model = Model()
  var index: Int {
    get { model.index }
    set { withChange(of: \.index) { model.index = newValue } }
  }
}

/// A `@KVO` subclass of a `@KVO` class in another module.
@KVO final class Violin: Instrument {
  var strings = 4
  override var pitch: Int { didSet { heard.append(pitch) } }
  @KVOIgnored var heard: [Int] = []
}

/// A class cluster: each class is nested in its superclass.
@KVO class Figure: KVOObject {
  var sides = 0
  @KVO class Square: Figure {
    var length = 1 { didSet { if length < 0 { length = 0 } } }
    @KVO final class Red: Square { var shade = 0.5 }
  }
  enum Round {
    @KVO final class Circle: Figure { var radius = 2 }
  }
}

@propertyWrapper struct UpToTen {
  private var value: Int
  var wrappedValue: Int {
    get { value }
    set { value = min(newValue, 10) }
  }
  init(wrappedValue: Int) { value = min(wrappedValue, 10) }
}
@propertyWrapper struct Fixed {
  let wrappedValue: Int
}
@KVO final class Wrapping: KVOObject {
  @KVOIgnored @UpToTen var level = 3
  @KVOIgnored @Fixed var fixed = 4
}
