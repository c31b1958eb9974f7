// The errors of calls by key, and their sentences. `CError.swift` creates them from the C core's errors.
// Advice comes from the classes of the name in the error (`KVOClass+Hints.swift`).

/// An error of a call by key. Values and registrations are unchanged after it. Class names are unqualified.
public enum KeyValueError: Error, Equatable, Sendable {
  /// The class has no property and no declaration for the key, and no hook answers it.
  case undefinedKey(key: String, className: String)
  /// Nil was set for a property that is not optional.
  case nilValue(key: String, className: String)
  /// The value can't be converted to the property's type.
  case typeMismatch(key: String, className: String, expected: String, found: String)
  /// The property can be read but not set.
  case readOnly(key: String, className: String)
  /// The key, collection or object can't be observed, for the given reason.
  case notObservable(key: String, className: String, reason: String)
  /// There is no such registration to remove.
  case observerNotRegistered(keyPath: String, className: String, observer: String)
  /// A component of the key path is empty, or is read from a value without keys.
  case invalidKeyPath(keyPath: String, component: String, className: String)
  /// The operator in the key path is unknown, or can't be applied there.
  case invalidOperator(String, keyPath: String)
  /// The index is not in the collection, which is unchanged.
  case indexOutOfBounds(key: String, className: String, index: Int, count: Int)
  /// The value is not valid: a validator of a C class rejected it, the collection that it was to change can't take it,
  /// or the key leads through a link that it forces, and that is nil.
  case validationFailed(key: String, className: String, reason: String)
}

extension KeyValueError: CustomStringConvertible {
  /// A sentence that names the class, the key and the cause, with a suggestion if there is one.
  public var description: String {
    switch self {
    case .undefinedKey(let key, let className):
      "\(className) has no key \(quoted(key))." + hint(key, className)
    case .nilValue(let key, let className):
      Self.noNil(key, className)
    case .typeMismatch(let key, let className, let expected, let found):
      Self.mismatch(key, className, expected, found)
        + FoundationLink.advice(onTypesNamed: expected, found)
    case .readOnly(let key, let className):
      "\(quoted(key)) of \(className) can be read but not set."
    case .notObservable(let key, let className, let reason):
      "\(quoted(key)) of \(className) can't be observed: \(reason)"
    case .observerNotRegistered(let keyPath, let className, let observer):
      "\(observer) is not registered as an observer of \(quoted(keyPath)) of \(className)."
    case .invalidKeyPath(let keyPath, let component, let className):
      "The key path \(quoted(keyPath)) of \(className) "
        + end(of: keyPath, in: className, at: component)
    case .invalidOperator(let name, let keyPath):
      Self.fault(ofOperator: name, in: keyPath)
        + FoundationLink.advice(onTypeAtEndOf: OperatorFault.text(of: name, in: keyPath) ?? "")
    case .indexOutOfBounds(let key, let className, let index, 0):
      "\(quoted(key)) of \(className) has no elements, and none at index \(index)."
    case .indexOutOfBounds(let key, let className, let index, let count):
      "Index \(index) is beyond the \(count) elements of \(quoted(key)) of \(className)."
    case .validationFailed(let key, let className, let reason):
      "The value for \(quoted(key)) of \(className) is not valid: \(reason)"
    }
  }
}

/// A key in quotation marks. Control characters are escaped, because a key may come from a client and must
/// not end a message or a line of it.
package func quoted(_ key: String) -> String {
  let isPlain = key.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
  return isPlain ? "\"\(key)\"" : String(reflecting: key)
}

private func hint(_ key: String, _ className: String) -> String {
  if key.contains(".") { return " Key paths are followed by the functions that say forKeyPath." }
  if key.hasPrefix("@") {
    let path = key == "@count" ? "<key>.@count" : "<key>.@sum.<key>"
    return " An operator belongs in a key path, after the key of a collection: \"\(path)\"."
  }
  if isOperator(key) { return " Did you mean \(quoted("@" + key))?" }
  let remedy =
    KVOClass.advice(on: key, inClassNamed: className)
    ?? KVOClass.suggestion(for: key, inClassNamed: className)
  return remedy.map { " " + $0 } ?? ""
}

private func end(of keyPath: String, in className: String, at component: String) -> String {
  guard !component.isEmpty else { return "has an empty component." }
  if component == keyPath, keyPath.contains("."), !KVOClass.used(named: className).isEmpty {
    return """
      is one key, with dots: in a string a dot separates the keys of a key path. Declare a property for the key, \
      declareKeys { $0.computed(\(quoted(keyPath)), \\.name) }, and use its key path or a KeyValueKey.
      """
  }
  let nowhere = "leads nowhere at \(quoted(component))"
  if component == keyPath { return nowhere + endAtElements(of: className) }
  if let (end, known) = KVOClass.unresolvedPath(of: keyPath, inClassNamed: className),
    end.key == component, end.isKeyless
  {
    return "\(nowhere). \(end.reason(in: known))"
  }
  let fault = nowhere + ": what comes before it has no keys."
  guard keyPath.hasSuffix(".\(component)"), !component.hasPrefix("@") else { return fault }
  let head = keyPath.dropLast(component.count)
  let hint = isOperator(component) ? " Did you mean \(quoted("@" + component))?" : ""
  if let (dictionary, type) = dictionary(in: head.dropLast(), of: className) {
    // It may be a dictionary, whose keys are read and set, but have no mutable proxies.
    guard dictionary == head.dropLast() else {
      return """
        \(nowhere): the value before it, in the dictionary \(quoted(dictionary)), is no object with keys.
        """ + hint
    }
    guard type.hasKeys else {
      return "\(nowhere): the keys of the dictionary \(quoted(dictionary)) are no strings." + hint
    }
    // Reading it never fails.
    return """
      \(nowhere): the dictionary \(quoted(dictionary)) has no mutable proxies. To change what it contains, set a changed \
      value for the key path.
      """
  }
  let owner = KVOClass.end(of: head.dropLast(), inClassNamed: className)
  if owner?.abilities.contains(.reference) == true {
    return "\(nowhere): \(quoted(String(head.dropLast()))) is nil."
  }
  let isByOperator = head.contains("@")
  guard isByOperator || owner?.shape != nil else { return fault }
  guard isByOperator || owner?.hasKeyedElements == true else { return fault + hint }
  return fault + " It is a collection, whose elements an operator reads and observes: "
    + quoted("\(head)\(elementOperator(behind: head)).\(component)") + "."
}

/// An operator that reads the elements of a collection, with a result on which the operator before it works.
private func elementOperator(behind head: Substring) -> String {
  switch head.split(separator: ".").last(where: { $0.hasPrefix("@") }) {
  case let name? where ["@sum", "@avg", "@min", "@max"].contains(name): String(name)
  case "@unionOfSets", "@distinctUnionOfSets": "@distinctUnionOfObjects"
  default: "@unionOfObjects"
  }
}

// Reading a dictionary's keys never fails, so such elements were to be set.
private func endAtElements(of collection: String) -> String {
  let areDictionaries =
    collection.hasPrefix("[[String: ") || collection.hasPrefix("[[AnyHashable: ")
    || ["[NSDictionary]", "[NSMutableDictionary]"].contains(collection)
  guard areDictionaries else { return ": the elements have no keys." }
  return """
    : the elements are dictionaries, which can't be changed in place. Set the key path from the object that holds them, or \
    replace them by changed ones.
    """
}

/// The beginning of a key path that is a dictionary, and its type; nil if none is.
private func dictionary(
  in keyPath: Substring, of className: String
) -> (path: String, type: any KeyedValue.Type)? {
  let ends = keyPath.indices.filter { keyPath[$0] == "." } + [keyPath.endIndex]
  return ends.lazy.map { keyPath[..<$0] }.compactMap { path in
    KVOClass.end(of: path, inClassNamed: className)?.dictionary.map { (String(path), $0) }
  }.first
}

/// The C core's texts for the last operators that could not be used. An `invalidOperator` has no room for the
/// class or the cause.
enum OperatorFault {
  private struct Place: Hashable {
    let name, keyPath: String
  }

  private static let most = 100
  // A text is empty if several classes or causes have the same operator and path.
  private static let texts = LockedValue<[Place: String]>([:])

  static func note(_ text: String, of name: String, in keyPath: String) {
    let place = Place(name: name, keyPath: keyPath)
    texts.withLock {
      if $0.count >= most { $0 = [:] }
      $0[place] = $0[place].map { $0 == text ? text : "" } ?? text
    }
  }

  /// The text, or nil if it is unknown or ambiguous.
  static func text(of name: String, in keyPath: String) -> String? {
    let text = texts.withLock { $0[Place(name: name, keyPath: keyPath)] }
    return text.flatMap { $0.isEmpty ? nil : $0 }
  }
}
