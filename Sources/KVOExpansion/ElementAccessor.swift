internal import SwiftSource

/// Each method by which Apple's key-value coding gets at the elements of a key (Q4): how it is called, and what it takes and
/// returns. A method of another shape only has such a name; one of that shape whose types or effects don't fit is told of.

struct ElementAccessor {
  enum Parameter { case element, elements, set, index, indexes }
  /// What a method that is asked returns.
  enum Answer { case count, element, optionalElement, sequence }

  /// Its name and labels as one word, in which an underscore stands for the key with a capital.
  let word: String
  let parameters: [Parameter]
  /// Nil if it changes something: it may return what it likes, and throw.
  let answer: Answer?

  private init(_ word: String, _ parameters: Parameter..., answer: Answer? = nil) {
    (self.word, self.parameters, self.answer) = (word, parameters, answer)
  }

  func word(for key: String) -> String { word.replacing("_", with: key.capitalizedFirst) }

  // MARK: - All of them

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

  // MARK: - Looking at a method

  func hasShape(of function: Function) -> Bool {
    function.parameters.count == parameters.count
      && zip(function.parameters, parameters).allSatisfy { written, parameter in
        let type = WrittenType(written.type).text
        return parameter.beginnings.contains { type.hasPrefix($0) }
      }
  }

  /// Why a method of its shape can't be called for it.
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
    case .elements: ["["]
    case .set: ["Set<"]
    case .index: ["Int", "UInt", "NSInteger", "NSUInteger"]
    case .indexes: ["RangeSet", "IndexSet"]
    }
  }

  fileprivate func mayBe(_ type: WrittenType, of element: WrittenType?) -> Bool {
    let own: WrittenType? =
      switch self {
      case .index: type.mayBe("Int") ? type : nil
      case .indexes: type == "IndexSet" || type.mayBe("RangeSet<Int>") ? type : nil
      case .element: type
      case .elements: type.elementOfArray
      case .set: type.elementOfSet
      }
    guard let own, let element, self != .index, self != .indexes else { return own != nil }
    return own.mayTake(element)
  }

  fileprivate func phrase(_ element: WrittenType?) -> String {
    let element = element?.text ?? "the elements' type"
    return switch self {
    case .element: element
    case .elements: "[\(element)]"
    case .set: "Set<\(element)>"
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
