internal import SwiftSource

/// Declares a key by the methods for its elements (Q4), and by its property where methods are missing. A method that
/// does not fit is left out: the compiler would report the call of it in generated source, which the user can't see.

struct ElementDeclaration {
  let key: String
  private let conventions: ConventionMethods
  /// The words (`ElementAccessor.word`) of the methods that are left out.
  private var excluded: Set<String> = []
  /// The key's property, as its type is written; nil if that shows no elements.
  private var property: WrittenCollection?

  /// Methods and properties that the declaration would call, but that don't fit.
  private(set) var misfits: [Misfit] = []
  /// The call that declares the key; nil if there are too few methods for it.
  var line: String? { ordered() ?? unordered() }

  init(of key: String, in conventions: ConventionMethods) {
    (self.key, self.conventions) = (key, conventions)
    property = conventions.readable[key].flatMap { WrittenCollection(of: $0) }
    for (accessor, misfit) in unfitting where line != without(accessor).line {
      misfits.append(misfit)
    }
    excluded = Set(unfitting.map(\.0.word))
    if line == nil { misfits += unreadable }
  }

  private func without(_ accessor: ElementAccessor) -> Self {
    var other = self
    other.excluded.insert(accessor.word)
    return other
  }

  // MARK: - Methods that fit

  /// The methods and properties that have the name for an accessor and can't be called, with the reason.
  private var unfitting: [(ElementAccessor, Misfit)] {
    let lists = ElementAccessor.ofLists.map { ($0, elementOfList) }
    let sets = ElementAccessor.ofSets.map { ($0, elementOfSet) }
    let methods = (lists + sets + [(.count, nil)]).compactMap { accessor, element in
      shaped(accessor).flatMap { function in
        accessor.misfit(function, element).map { reason in
          (accessor, Misfit(name: function.name, of: key, isMethod: true, reason))
        }
      }
    }
    return methods + unfittingCount
  }

  private var unfittingCount: [(ElementAccessor, Misfit)] {
    guard let counter, let name = counter.name, let type = counter.type.map({ WrittenType($0) }),
      !type.mayBe("Int")
    else { return [] }
    let reason = "it is of \(type.text), and not of Int"
    return [(.count, Misfit(name: name, of: key, isMethod: false, reason))]
  }

  /// The methods that would be called if the property's type showed its elements.
  private var unreadable: [Misfit] {
    guard property == nil, misfits.isEmpty, conventions.readable[key] != nil else { return [] }
    let name = key.capitalizedFirst
    let kinds: [(WrittenCollection.Kind, [ElementAccessor], String)] = [
      (.list, [.insert, .insertObject], "countOf\(name)() and objectIn\(name)(at:)"),
      (
        .set, [.add, .addObject],
        "countOf\(name)(), memberOf\(name)(_:) and enumeratorOf\(name)()"
      ),
    ]
    return kinds.flatMap { kind, accessors, readers in
      // As if the property's type showed its elements.
      var shown = self
      shown.property = WrittenCollection(kind)
      guard shown.line != nil else { return [Misfit]() }
      let isCounted = conventions.readable[key].map(WrittenCollection.type)?.text == "NSCountedSet"
      let reason =
        isCounted
        ? "an NSCountedSet is read neither as an array nor as a set: add \(readers)"
        : """
        the written type of "\(key)" does not show its elements: write an array or a set in full, or add \(readers)
        """
      return accessors.compactMap(method).prefix(1).map {
        Misfit(name: $0.name, of: key, isMethod: true, reason)
      }
    }
  }

  private var elementOfList: WrittenType? {
    shaped(.object).flatMap { $0.result.map { WrittenType($0) } }
      ?? (property?.kind == .list ? property?.element : nil) ?? inserted
  }
  private var elementOfSet: WrittenType? {
    (property?.kind == .set ? property?.element : nil)
      ?? shaped(.member).flatMap { $0.parameters.first }.map { WrittenType($0.type) } ?? added
  }

  // What the methods take, where the property's elements are of any type.
  private var inserted: WrittenType? {
    parameter(of: .insertObject) ?? parameter(of: .insert)?.elementOfArray
  }
  private var added: WrittenType? {
    parameter(of: .addObject) ?? parameter(of: .add)?.elementOfSet
  }
  private func parameter(of accessor: ElementAccessor) -> WrittenType? {
    shaped(accessor)?.parameters.first.map { WrittenType($0.type) }
  }
  private var counter: Binding? { conventions.readable["countOf" + key.capitalizedFirst] }

  /// The method that has the accessor's name and shape.
  private func shaped(_ accessor: ElementAccessor) -> Function? {
    conventions.methods[accessor.word(for: key)].flatMap { accessor.hasShape(of: $0) ? $0 : nil }
  }

  /// The method that the declaration calls.
  private func method(_ accessor: ElementAccessor) -> Function? {
    excluded.contains(accessor.word) ? nil : shaped(accessor)
  }

  // MARK: - Generated calls

  private func ordered() -> String? {
    guard let count = size, let element = elementAt else { return nil }
    var arguments = ["count: \(count)", "element: \(element)"]
    let insert =
      method(.insert).map { batch($0, "$0", ["$1", indexes($0, 1, "$2")]) }
      ?? method(.insertObject).map {
        each(
          $0, "zip(elements, indexes.ranges.joined())", "(element, index)", ["element", "index"],
          "object, elements, indexes")
      }
    let remove =
      method(.removeAt).map { batch($0, "$0", [indexes($0, 0, "$1")]) }
      ?? method(.removeObject).map {
        each($0, "Array(indexes.ranges.joined()).reversed()", "index", ["index"], "object, indexes")
      }
    let isChanged = insert != nil && remove != nil
    guard isRead || isChanged else { return nil }
    // If the class overrides one of the superclass's methods, those that it lacks are the superclass's.
    let addsSome = isChanged || conventions.overridesElements(of: key)
    if addsSome, let insert { arguments.append("insert: \(insert)") }
    if addsSome, let remove { arguments.append("remove: \(remove)") }
    let replace =
      (method(.replace) ?? method(.replaceWith)).map {
        batch($0, "$0", [indexes($0, 0, "$1"), "$2"])
      }
      ?? method(.replaceObject).map {
        each(
          $0, "zip(indexes.ranges.joined(), elements)", "(index, element)", ["index", "element"],
          "object, indexes, elements")
      }
    if addsSome, let replace { arguments.append("replace: \(replace)") }
    return "keys.orderedToMany(\"\(key)\", \(arguments.joined(separator: ", ")))"
  }

  private func unordered() -> String? {
    let set = property?.kind == .set ? property : nil
    let contains =
      method(.member).map { "{ $0.\($0.name.text)(\(member("$1", of: "$0"))) != nil }" }
      ?? set?.contains(key.inSource)
    let elements =
      method(.enumerator).map { members(from: $0) }
      ?? set?.elements(key, as: hasMembersOfAnyType ? "AnyHashable" : elementOfSet)
    guard let count = size, let contains, let elements else { return nil }
    let add =
      method(.add).map { batch($0, "$0", ["$1"]) }
      ?? method(.addObject).map {
        each($0, "elements", "element", [member("element", of: "object")], "object, elements")
      }
    let remove =
      method(.remove).map { batch($0, "$0", ["$1"]) }
      ?? method(.removeObjectOfSet).map {
        each($0, "elements", "element", [member("element", of: "object")], "object, elements")
      }
    guard let add, let remove else { return nil }
    var arguments = ["count: \(count)", "contains: \(contains)", "elements: \(elements)"]
    arguments += ["add: \(add)", "remove: \(remove)"]
    if let intersect = method(.intersect) {
      arguments.append("intersect: \(batch(intersect, "$0", ["$1"]))")
    }
    return "keys.unorderedToMany(\"\(key)\", \(arguments.joined(separator: ", ")))"
  }

  /// Whether the methods take members as `Any` or another type that is not hashable, as those of a set are. The
  /// generated code has them as `AnyHashable`.
  private var hasMembersOfAnyType: Bool { elementOfSet?.isExistential == true }

  /// A member in the form that the class's method takes.
  private func member(_ value: String, of object: String) -> String {
    hasMembersOfAnyType ? "\(object)._element(\(value), of: \"\(key)\")" : value
  }

  /// A closure that returns the members in the form that the runtime takes.
  private func members(from enumerator: Function) -> String {
    let call = "\(enumerator.name.text)()"
    let isOfFoundation = enumerator.result.map { WrittenType($0) } == "NSEnumerator"
    guard hasMembersOfAnyType || isOfFoundation,
      let type = hasMembersOfAnyType ? "AnyHashable" : elementOfSet
    else { return "{ AnySequence($0.\(call)) }" }
    let made = "object._element($0, of: \"\(key)\") as \(type.text)"
    return "{ object in AnySequence(object.\(call).map { \(made) }) }"
  }

  private var isRead: Bool { countOfElements != nil && method(.object) != nil }

  private var size: String? {
    countOfElements ?? property?.count(key.inSource)
  }

  private var countOfElements: String? {
    if let count = method(.count) { return "{ $0.\(count.name.text)() }" }
    guard let name = counter?.name, !excluded.contains(ElementAccessor.count.word) else {
      return nil
    }
    return "{ $0.\(name.text) }"
  }

  private var elementAt: String? {
    method(.object).map { "{ \(call($0, "$0", ["$1"])) }" }
      ?? (property?.kind == .list ? property : nil)?.element(of: key, as: elementOfList)
  }

  /// `object.insertSongs($1, at: $2)`.
  private func call(_ function: Function, _ object: String, _ arguments: [String]) -> String {
    let labelled = zip(function.parameters, arguments).map { parameter, argument in
      parameter.label.map { "\($0): \(argument)" } ?? argument
    }
    let effect = function.isThrowing ? "try " : ""
    return "\(effect)\(object).\(function.name.text)(\(labelled.joined(separator: ", ")))"
  }

  /// The call in a form that discards a result.
  private func change(_ function: Function, _ object: String, _ arguments: [String]) -> String {
    (function.isReturning ? "_ = " : "") + call(function, object, arguments)
  }

  /// A closure that makes one call for all elements.
  private func batch(_ function: Function, _ object: String, _ arguments: [String]) -> String {
    "{ \(change(function, object, arguments)) }"
  }

  /// A closure that makes a call for each element.
  private func each(
    _ function: Function, _ sequence: String, _ element: String, _ arguments: [String],
    _ parameters: String
  ) -> String {
    """
    { \(parameters) in
            for \(element) in \(sequence) { \(change(function, "object", arguments)) }
          }
    """
  }

  /// Indexes as the method's parameter at a place takes them. KVOFoundation converts Swift's sets of indexes to
  /// Foundation's.
  private func indexes(_ function: Function, _ place: Int, _ argument: String) -> String {
    WrittenType(function.parameters[place].type) == "IndexSet" ? "IndexSet(\(argument))" : argument
  }
}

/// A method or property that is named for a key but can't be called for it.
struct Misfit {
  let name: Token
  let message: String

  init(name: Token, of key: String, isMethod: Bool, _ reason: String) {
    self.name = name
    message = """
      @KVO: this \(isMethod ? "method" : "property") is not used for "\(key)", since \(reason).
      """
  }
}

/// A property's type that shows that it is a collection, and how generated code reads its elements.
private struct WrittenCollection {
  enum Kind { case list, set }
  let kind: Kind
  /// Nil if the collection is one of Foundation's, whose elements are of any type.
  let element: WrittenType?
  private var isOptional = false

  init(_ kind: Kind) { (self.kind, element) = (kind, nil) }

  /// The type that is written, or shown by the initial value.
  static func type(of property: Binding) -> WrittenType {
    WrittenType(property.type ?? property.initialValue.flatMap(\.typeOfCall) ?? "")
  }

  /// Nil if the type shows no collection.
  init?(of property: Binding) {
    let written = Self.type(of: property)
    let type = written.wrapped ?? written
    if let element = type.elementOfArray {
      (kind, self.element) = (.list, element)
    } else if let element = type.elementOfSet {
      (kind, self.element) = (.set, element)
    } else if let kind = Self.ofFoundation[type.text] {
      (self.kind, element) = (kind, nil)
    } else {
      return nil
    }
    isOptional = written.wrapped != nil
  }

  private static let ofFoundation: [String: Kind] = [
    "NSArray": .list, "NSMutableArray": .list, "NSOrderedSet": .list, "NSMutableOrderedSet": .list,
    "NSSet": .set, "NSMutableSet": .set,
  ]

  func count(_ property: String) -> String {
    isOptional ? "{ $0.\(property)?.count ?? 0 }" : "{ $0.\(property).count }"
  }

  func contains(_ property: String) -> String {
    isOptional
      ? "{ $0.\(property)?.contains($1) == true }" : "{ $0.\(property).contains($1) }"
  }

  func element(of key: String, as type: WrittenType?) -> String {
    let element = "$0.\(key.inSource)\(isOptional ? "!" : "")[$1]"
    return "{ \(cast("$0", element, of: key, as: type)) }"
  }

  func elements(_ key: String, as type: WrittenType?) -> String {
    guard element == nil else {
      return "{ AnySequence($0.\(key.inSource)\(isOptional ? " ?? []" : "")) }"
    }
    // Foundation's sets have no literals.
    let members = "object.\(key.inSource)\(isOptional ? "?" : "").map"
    let made = "\(members) { \(cast("object", "$0", of: key, as: type)) }"
    return "{ object in AnySequence(\(made)\(isOptional ? " ?? []" : "")) }"
  }

  private func cast(
    _ object: String, _ value: String, of key: String, as type: WrittenType?
  ) -> String {
    guard element == nil, let type else { return value }
    return "\(object)._element(\(value), of: \"\(key)\") as \(type.text)"
  }
}

extension String {
  /// The type in a call of an initializer: `Set<Int>` in `Set<Int>([1])`.
  fileprivate var typeOfCall: String? {
    let tokens = LexedSource(self).tokens.dropLast()  // the end
    guard tokens.last?.is(")") == true else { return nil }
    var depth = 0
    let open = tokens.last { token in
      depth += token.is(")") ? 1 : token.is("(") ? -1 : 0
      return depth == 0
    }
    return open.flatMap { String(utf8.prefix($0.offset)) }
  }

  /// The name, in backticks if it can't be written without them.
  var inSource: String {
    let tokens = LexedSource(self).tokens
    return tokens.count == 2 && tokens[0].kind == .identifier ? self : "`\(self)`"
  }
}
