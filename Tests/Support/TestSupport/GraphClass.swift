/// The interface for which a program is written. It does not use what only the other interface has.
package enum GraphDialect: Sendable { case c, swift }

/// The class of graph nodes as data: its keys, their kinds and dependencies. The C class `graph_node` and the Swift
/// class `GraphNode` implement it.
package enum GraphClass {
  package typealias Key = Int

  /// The kind of a key's value. A nil link is `GraphValue.nil`, and so is a list that was never set.
  package enum Kind: Sendable { case number, link, list, set }

  package final class KeyDescription: Sendable {
    package let name: String
    package let kind: Kind
    /// If false, the setter does not notify.
    package let isAutomatic: Bool
    /// The setter has a manual pair, if the value differs.
    package let bracketsByHand: Bool
    /// A to-many key that is read and mutated through accessor methods.
    package let hasAccessors: Bool
    /// A weak link in a plain stored property. It notifies if set by its key, otherwise not.
    package let isWeak: Bool
    /// For a derived key: its dependencies, and what its getter reads. A number is the sum of the reads (nil counts
    /// as 0); a link is the first that is not nil.
    package let affecting: [GraphPath]
    package let terms: [GraphPath]
    package let isDerived: Bool
    /// For a derived key that depends on whatever its getter reads.
    package let tracking: Tracking?

    fileprivate init(
      _ name: String, _ kind: Kind, isAutomatic: Bool = true, bracketsByHand: Bool = false,
      hasAccessors: Bool = false, isWeak: Bool = false, affecting: [GraphPath] = [],
      terms: [GraphPath] = [], tracking: Tracking? = nil
    ) {
      self.name = name
      self.kind = kind
      self.isAutomatic = isAutomatic
      self.bracketsByHand = bracketsByHand
      self.hasAccessors = hasAccessors
      self.isWeak = isWeak
      self.affecting = affecting
      self.terms = terms
      self.tracking = tracking
      isDerived = !affecting.isEmpty || tracking != nil
    }

    package var isToMany: Bool { kind == .list || kind == .set }
    /// Whether a tracked getter's read of it is recorded.
    package var isSeen: Bool { !isWeak && !bracketsByHand }
    /// Whether the Swift class declares it: on a key path it is followed as a key of its own.
    package var isDeclared: Bool { !isKeyPath && (isDerived || !isSeen) }
    /// A Swift key path, which only tokens can observe.
    package var isKeyPath: Bool { name.hasPrefix("\\") }
  }

  /// How the value of a tracked key is computed.
  package enum Tracking: Sendable {
    /// The value is the sum of the terms.
    case computed
    /// The value is the first term if this key is not 0, otherwise the second.
    case choice(of: String)
    /// The value is at the end of the only term. With `path`, observers are ordered by registration among those of
    /// the changed key; with `computedPath` they come after them.
    case path
    case computedPath
  }

  package static let names = [
    "value", "extra", "quiet", "manual", "next", "other", "items", "tags", "wares",
    "total", "nextTotal", "both", "ringA", "ringB", "circle", "grand", "sum", "loud", "hush",
    "heir", "far", "joint", "friend", "reach", "\\choice", "\\crowd", "\\nextReach",
    "\\next?.value",
    "\\next?.total", "\\next?.next", "\\next?.next?.value", "\\next?.items",
    "\\next?.friend?.extra", "\\other?.reach", "\\items.count", "\\heir?.value",
  ]

  /// The number of keys that a program of the dialect may change, which excludes Swift key paths.
  package static func count(_ dialect: GraphDialect) -> Int {
    dialect == .c ? keysOfC.count : keysOfC.count + keysOfSwift.count
  }

  package static let keys = keysOfC + keysOfSwift + keyPaths

  private static let keysOfC: [KeyDescription] = [
    KeyDescription("value", .number),
    KeyDescription("extra", .number),
    KeyDescription("quiet", .number, isAutomatic: false),
    KeyDescription("manual", .number, isAutomatic: false, bracketsByHand: true),
    KeyDescription("next", .link),
    KeyDescription("other", .link),
    KeyDescription("items", .list, hasAccessors: true),
    KeyDescription("tags", .set, hasAccessors: true),
    KeyDescription("wares", .list),
    derived("total", "value", "extra"),
    derived("nextTotal", "next.total"),
    derived("both", "next.value", "other.value"),
    // Depend on each other; their getters do not.
    derived("ringA", "ringB", "value", reads: "value", "extra"),
    derived("ringB", "ringA", "extra", reads: "value", "extra"),
    // Depends on itself where links form a cycle.
    derived("circle", "value", "next.circle", reads: "value", "next.value"),
    derived("grand", "nextTotal", "total"),
    derived("sum", "items.@sum.value"),
    derived("loud", "quiet"),
    derived("hush", "value", isAutomatic: false),
    derived("heir", "next", "other", kind: .link),
    derived("far", "next.next.value"),
    derived("joint", "next.value", "total"),
  ]

  private static let keysOfSwift: [KeyDescription] = [
    KeyDescription("friend", .link, isAutomatic: false, isWeak: true),
    tracked("reach", .computed, "items.@sum.value", "next.value"),
  ]

  /// In the order in which the class `GraphNode` first meets them.
  private static let keyPaths: [KeyDescription] = [
    tracked("\\choice", .choice(of: "value"), "next.extra", "other.extra"),
    tracked("\\crowd", .computed, "tags.@sum.total", "wares.@sum.extra"),
    tracked("\\nextReach", .computed, "next.reach"),
    tracked("\\next?.value", .path, "next.value"),
    tracked("\\next?.total", .path, "next.total"),
    tracked("\\next?.next", .path, "next.next", kind: .link),
    tracked("\\next?.next?.value", .path, "next.next.value"),
    tracked("\\next?.items", .path, "next.items", kind: .list),
    tracked("\\next?.friend?.extra", .path, "next.friend.extra"),
    tracked("\\other?.reach", .path, "other.reach"),
    tracked("\\items.count", .path, "items.@count"),
    tracked("\\heir?.value", .computedPath, "heir.value"),
  ]

  /// Each key's position in alphabetical order. Key paths come first, in the order in which they were first met.
  package static let ranks = keys.indices.map { key in
    keys[key].isKeyPath
      ? key - names.count
      : names.count { $0.utf8.lexicographicallyPrecedes(names[key].utf8) }
  }

  /// The keys of stored links and collections that retain objects, and of those that do not.
  package static let strong = stored.filter { !keys[$0].isWeak }
  package static let weak = stored.filter { keys[$0].isWeak }
  private static let stored = keys.indices.filter {
    !keys[$0].isDerived && keys[$0].kind != .number
  }

  /// Each key alone, as a path.
  package static let paths = names.map(GraphPath.init)

  package static func key(_ name: String) -> Key? { numbers[name] }

  private static let numbers = Dictionary(
    uniqueKeysWithValues: names.enumerated().map { ($1, $0) })

  private static func derived(
    _ name: String, _ affecting: String..., reads terms: String..., kind: Kind = .number,
    isAutomatic: Bool = true
  ) -> KeyDescription {
    let affecting = affecting.map(GraphPath.init)
    return KeyDescription(
      name, kind, isAutomatic: isAutomatic, affecting: affecting,
      terms: terms.isEmpty ? affecting : terms.map(GraphPath.init))
  }

  private static func tracked(
    _ name: String, _ tracking: Tracking, _ terms: String..., kind: Kind = .number
  ) -> KeyDescription {
    KeyDescription(name, kind, terms: terms.map(GraphPath.init), tracking: tracking)
  }
}

/// A key path over graph nodes, as components.
package final class GraphPath: Sendable, Equatable {
  package enum Component: Sendable, Equatable {
    case key(GraphClass.Key)
    case aggregate(Aggregate)
    /// Not a key of the class.
    case unknown
  }

  package enum Aggregate: String, Sendable {
    case count = "@count"
    case sum = "@sum"
    case avg = "@avg"
    case min = "@min"
    case max = "@max"
  }

  package let text: String
  package let components: [Component]

  package init(_ text: String) {
    self.text = text
    components = Self.components(of: text)
  }

  /// A Swift key path is one key, whatever it contains.
  private static func components(of text: String) -> [Component] {
    if let key = GraphClass.key(text) { return [.key(key)] }
    return text.split(separator: ".").map { part in
      if let aggregate = Aggregate(rawValue: String(part)) { return .aggregate(aggregate) }
      return GraphClass.key(String(part)).map { .key($0) } ?? .unknown
    }
  }

  package var count: Int { components.count }

  package static func == (a: GraphPath, b: GraphPath) -> Bool { a === b || a.text == b.text }
}
