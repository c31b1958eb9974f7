/// A value of a graph node's key. Objects are numbers.
package enum GraphValue: Sendable, Equatable {
  case `nil`
  case number(Double)
  case object(Int)
  case list([Int])
  /// Ascending, each once.
  case set([Int])

  package static func set(of members: [Int]) -> GraphValue {
    var sorted: [Int] = []
    for member in members.sorted() where sorted.last != member { sorted.append(member) }
    return .set(sorted)
  }

  /// A collection's elements; empty for any other value.
  package var elements: [Int] {
    switch self {
    case .list(let elements), .set(let elements): elements
    default: []
    }
  }

  package var isCollection: Bool {
    switch self {
    case .list, .set: true
    default: false
    }
  }

  /// The objects that an owner of the value retains.
  package var objects: [Int] {
    if case .object(let object) = self { return [object] }
    return elements
  }

  /// The value with its objects replaced.
  package func mapped(_ number: (Int) -> Int) -> GraphValue {
    switch self {
    case .nil, .number: self
    case .object(let object): .object(number(object))
    case .list(let elements): .list(elements.map(number))
    case .set(let elements): .set(of: elements.map(number))
    }
  }
}

/// The options of a registration; the raw values are the runtime's.
package struct GraphOptions: OptionSet, Sendable {
  package let rawValue: UInt32
  package init(rawValue: UInt32) { self.rawValue = rawValue }

  package static let new = Self(rawValue: 1)
  package static let old = Self(rawValue: 2)
  package static let initial = Self(rawValue: 4)
  package static let prior = Self(rawValue: 8)
  package static let distinct = Self(rawValue: 16)

  package static let words: [(String, GraphOptions)] = [
    ("new", .new), ("old", .old), ("initial", .initial), ("prior", .prior), ("distinct", .distinct),
  ]
}

/// The mutations of a to-many key.
package struct Mutation: Sendable, Equatable {
  package enum Form: Int, Sendable, CaseIterable {
    case insert, remove, replace
    case union, minus, intersect, assign

    package var isOfSet: Bool { rawValue >= Form.union.rawValue }

    package var kind: ChangeKind {
      switch self {
      case .insert, .union: .insertion
      case .remove, .minus, .intersect: .removal
      case .replace, .assign: .replacement
      }
    }
  }

  package let form: Form
  /// For a list, ascending: indexes before the change for removed elements, after it for inserted ones.
  package var indexes: [Int] = []
  package var objects: [Int] = []

  package init(_ form: Form, indexes: [Int] = [], objects: [Int] = []) {
    self.form = form
    self.indexes = indexes
    self.objects = objects
  }

  package func mapped(_ number: (Int) -> Int) -> Mutation {
    Mutation(form, indexes: indexes, objects: objects.map(number))
  }

  /// The collection after the mutation; indexes beyond it do nothing.
  package func applied(to value: GraphValue) -> GraphValue {
    form.isOfSet
      ? .set(of: applied(toSet: value.elements)) : .list(applied(toList: value.elements))
  }

  private func applied(toList list: [Int]) -> [Int] {
    var list = list
    switch form {
    case .remove:
      for index in indexes.reversed() where index < list.count { list.remove(at: index) }
    case .insert:
      for (index, object) in zip(indexes, objects) where index <= list.count {
        list.insert(object, at: index)
      }
    default:
      for (index, object) in zip(indexes, objects) where index < list.count { list[index] = object }
    }
    return list
  }

  private func applied(toSet members: [Int]) -> [Int] {
    switch form {
    case .union: members + objects
    case .minus: members.filter { !objects.contains($0) }
    case .intersect: members.filter(objects.contains)
    default: objects
    }
  }

  /// Whether its indexes follow one another.
  package var isContiguous: Bool { zip(indexes, indexes.dropFirst()).allSatisfy { $0 + 1 == $1 } }

  /// Whether a proxy may perform it on a collection of that many elements.
  package func fits(_ count: Int) -> Bool {
    guard !form.isOfSet, let last = indexes.last else { return true }
    return last < (form == .insert ? count + indexes.count : count)
  }

  package static func elements(of value: GraphValue, at indexes: [Int]) -> GraphValue {
    let all = value.elements
    return .list(indexes.filter { $0 < all.count }.map { all[$0] })
  }
}

package enum ChangeKind: Int, Sendable {
  case setting = 1
  case insertion, removal, replacement
}
