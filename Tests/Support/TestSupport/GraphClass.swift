/// The class of graph nodes as data: which keys it has, of what kind, and what affects them. The C
/// class `graph_node` is the same in code.
package enum GraphClass {
  package typealias Key = Int

  /// What a value of a key is. A nil link is `GraphValue.nil`, and so is a list that was never set.
  package enum Kind: Sendable { case number, link, list, set }

  package final class KeyDescription: Sendable {
    package let name: String
    package let kind: Kind
    /// Off: the setter tells nobody.
    package let isAutomatic: Bool
    /// The setter opens and closes a pair by hand, if the value is another one.
    package let bracketsByHand: Bool
    /// A to-many key that is read and mutated through accessor methods.
    package let hasAccessors: Bool
    /// Of a derived key: what it depends on, and what its getter reads. A number is the sum of what
    /// is read (nil counts 0), a link the first that is not nil.
    package let affecting: [GraphPath]
    package let terms: [GraphPath]
    package let isDerived: Bool

    fileprivate init(
      _ name: String, _ kind: Kind, isAutomatic: Bool = true, bracketsByHand: Bool = false,
      hasAccessors: Bool = false, affecting: [GraphPath] = [], terms: [GraphPath] = []
    ) {
      self.name = name
      self.kind = kind
      self.isAutomatic = isAutomatic
      self.bracketsByHand = bracketsByHand
      self.hasAccessors = hasAccessors
      self.affecting = affecting
      self.terms = terms
      isDerived = !affecting.isEmpty
    }

    package var isToMany: Bool { kind == .list || kind == .set }
  }

  package static let names = [
    "value", "extra", "quiet", "manual", "next", "other", "items", "tags", "wares",
    "total", "nextTotal", "both", "ringA", "ringB", "circle", "grand", "sum", "loud", "hush",
    "heir", "far",
  ]

  package static let keys: [KeyDescription] = [
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
    // Depends on itself where links make a circle.
    derived("circle", "value", "next.circle", reads: "value", "next.value"),
    derived("grand", "nextTotal", "total"),
    derived("sum", "items.@sum.value"),
    derived("loud", "quiet"),
    derived("hush", "value", isAutomatic: false),
    derived("heir", "next", "other", kind: .link),
    derived("far", "next.next.value"),
  ]

  /// The place of each key among the keys in alphabetical order.
  package static let ranks = names.map { name in
    names.count { $0.utf8.lexicographicallyPrecedes(name.utf8) }
  }

  package static func key(_ name: String) -> Key? { names.firstIndex(of: name) }

  private static func derived(
    _ name: String, _ affecting: String..., reads terms: String..., kind: Kind = .number,
    isAutomatic: Bool = true
  ) -> KeyDescription {
    let affecting = affecting.map(GraphPath.init)
    return KeyDescription(
      name, kind, isAutomatic: isAutomatic, affecting: affecting,
      terms: terms.isEmpty ? affecting : terms.map(GraphPath.init))
  }
}

/// A key path of graph nodes, in its components.
package final class GraphPath: Sendable, Equatable {
  package enum Component: Sendable, Equatable {
    case key(GraphClass.Key)
    case aggregate(Aggregate)
    /// No key of the class.
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
    components = text.split(separator: ".").map { part in
      if let aggregate = Aggregate(rawValue: String(part)) { return .aggregate(aggregate) }
      return GraphClass.key(String(part)).map { .key($0) } ?? .unknown
    }
  }

  package var count: Int { components.count }

  package static func == (a: GraphPath, b: GraphPath) -> Bool { a === b || a.text == b.text }
}
