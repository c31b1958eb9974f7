internal import SwiftSource

/// A method by which Apple's key-value coding reads or changes a key's elements (Q4): its name, what it takes and what it
/// returns. A method of this name with other parameters is no accessor. One with these parameters, but wrong types or
/// effects, is reported.
struct ElementAccessor {
  enum Parameter { case element, elements, set, index, indexes }
  /// The result of a method that reads.
  enum Answer { case count, element, optionalElement, sequence }

  /// The method's name and labels as one word, in which an underscore stands for the capitalised key.
  let word: String
  let parameters: [Parameter]
  /// Nil for a method that changes the elements: it may return anything, and throw.
  let answer: Answer?

  private init(_ word: String, _ parameters: Parameter..., answer: Answer? = nil) {
    (self.word, self.parameters, self.answer) = (word, parameters, answer)
  }

  func word(for key: String) -> String { word.replacing("_", with: key.capitalizedFirst) }

  // MARK: - List of accessors

  static let count = Self("countOf_", answer: .count)

  static let object = Self("objectIn_At", .index, answer: .element)
  static let insert = Self("insert_At", .elements, .indexes)
  static let insertObject = Self("insertObjectIn_At", .element, .index)
  static let removeAt = Self("remove_At", .indexes)
  static let removeObject = Self("removeObjectFrom_At", .index)
  static let replace = Self("replace_AtWith_", .indexes, .elements)
  static let replaceWith = Self("replace_AtWith", .indexes, .elements)
  static let replaceObject = Self("replaceObjectIn_AtWith", .index, .element)
  static let ofLists = [
    object, insert, insertObject, removeAt, removeObject, replace, replaceWith, replaceObject,
  ]

  static let member = Self("memberOf_", .element, answer: .optionalElement)
  static let enumerator = Self("enumeratorOf_", answer: .sequence)
  static let add = Self("add_", .set)
  static let addObject = Self("add_Object", .element)
  static let remove = Self("remove_", .set)
  static let removeObjectOfSet = Self("remove_Object", .element)
  static let intersect = Self("intersect_", .set)
  static let ofSets = [member, enumerator, add, addObject, remove, removeObjectOfSet, intersect]

  // MARK: - Checking a method

  func hasShape(of function: Function) -> Bool {
    function.parameters.count == parameters.count
      && zip(function.parameters, parameters).allSatisfy { written, parameter in
        let type = WrittenType(written.type).text
        return parameter.beginnings.contains { type.hasPrefix($0) }
      }
  }

  /// The reason why a method of this shape can't be called as this accessor; nil if it can.
  /// - Parameter element: the type of the key's elements, if it is known.
  func misfit(_ function: Function, _ element: WrittenType?) -> String? {
    if answer != nil, function.isThrowing { return "it throws" }
    for (written, parameter) in zip(function.parameters, parameters) {
      if written.type.hasPrefix("inout ") { return "its parameter is inout" }
      let type = WrittenType(written.type)
      guard parameter.mayBe(type, of: element) else {
        return "it takes \(type.text), and not \(parameter.phrase(element))"
      }
    }
    return answer?.misfit(function.result.map { WrittenType($0) }, element)
  }
}

extension ElementAccessor.Parameter {
  fileprivate var beginnings: [String] {
    switch self {
    case .element: [""]
    case .elements: ["[", "NSArray"]
    case .set: ["Set<", "NSSet"]
    case .index: ["Int", "UInt", "NSInteger", "NSUInteger"]
    case .indexes: ["RangeSet", "IndexSet", "NSIndexSet"]
    }
  }

  fileprivate func mayBe(_ type: WrittenType, of element: WrittenType?) -> Bool {
    let own: WrittenType? =
      switch self {
      case .index: type.mayBe("Int") ? type : nil
      // An accessor by its parameters, so it is reported.
      case .indexes where type == "NSIndexSet": nil
      case .indexes: type == "IndexSet" || type.mayBe("RangeSet<Int>") ? type : nil
      case .element: type
      case .elements: type.elementOfArray
      case .set: type.elementOfSet
      }
    guard let own, let element, self != .index, self != .indexes else { return own != nil }
    return own.mayTake(element)
  }

  fileprivate func phrase(_ element: WrittenType?) -> String {
    switch self {
    case .element: element?.text ?? "an element"
    case .elements: element.map { "[\($0.text)]" } ?? "a Swift array of the elements"
    case .set: element.map { "Set<\($0.text)>" } ?? "a Swift set of the elements"
    case .index: "Int"
    case .indexes: "RangeSet<Int> or IndexSet"
    }
  }
}

extension ElementAccessor.Answer {
  fileprivate func misfit(_ result: WrittenType?, _ element: WrittenType?) -> String? {
    guard let result else { return "it returns nothing" }
    switch self {
    case .count where !result.mayBe("Int"): return "it returns \(result.text), and not Int"
    case .optionalElement where result.isKnown && result.wrapped == nil:
      return "it returns \(result.text), and not an optional"
    case .sequence where result.isKnown:
      let own = result.elementOfArray ?? result.elementOfSet
      if let own, element.map({ own.mayBe($0) }) ?? true { return nil }
      return "it returns \(result.text), and not a sequence of \(element?.text ?? "elements")"
    default: return nil
    }
  }
}

extension WrittenType: ExpressibleByStringLiteral {
  init(stringLiteral text: String) { self.init(text) }
}
