// The errors of calls by key, and their sentences. `CError.swift` makes them of what the C core reports; their
// advice is looked for in the classes of that name (`KVOClass+Hints.swift`).

/// Why a call by key failed. Values and registrations are as before it. Class names are
/// unqualified.
public enum KeyValueError: Error, Equatable, Sendable {
  /// The class has no property, no declaration and no answer for the key.
  case undefinedKey(key: String, className: String)
  /// Nil for a property that is not optional.
  case nilValue(key: String, className: String)
  /// The value is not of the property's type and can't become it.
  case typeMismatch(key: String, className: String, expected: String, found: String)
  /// The property can be read but not set.
  case readOnly(key: String, className: String)
  /// What was named can't be observed.
  case notObservable(key: String, className: String, reason: String)
  /// No such registration to remove.
  case observerNotRegistered(keyPath: String, className: String, observer: String)
  /// A key path with an empty component, or through something that has no keys.
  case invalidKeyPath(keyPath: String, component: String, className: String)
  /// An unknown `@operator`, or one without what it needs.
  case invalidOperator(String, keyPath: String)
  /// Beyond the collection; it is as it was.
  case indexOutOfBounds(key: String, className: String, index: Int, count: Int)
  /// A validator said no.
  case validationFailed(key: String, className: String, reason: String)
}

extension KeyValueError: CustomStringConvertible {
  /// A sentence that names class, key and cause.
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

/// A key in quotation marks. What would end a message or a line of it, and may come from a client, is
/// escaped.
func quoted(_ key: String) -> String {
  let isPlain = key.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
  return isPlain ? "\"\(key)\"" : String(reflecting: key)
}

private func hint(_ key: String, _ className: String) -> String {
  if key.contains(".") { return " Key paths are followed by the functions that say forKeyPath." }
  if key.hasPrefix("@") {
    let path = key == "@count" ? "<key>.@count" : "<key>.@sum.<key>"
    return " An operator stands in a key path, behind the key of a collection: \"\(path)\"."
  }
  if isOperator(key) { return " Did you mean \(quoted("@" + key))?" }
  let remedy =
    KVOClass.advice(on: key, inClassNamed: className)
    ?? KVOClass.suggestion(for: key, inClassNamed: className)
  return remedy.map { " " + $0 } ?? ""
}

private func end(of keyPath: String, in className: String, at component: String) -> String {
  guard !component.isEmpty else { return "has an empty component." }
  let nowhere = "leads nowhere at \(quoted(component)): "
  if let end = KVOClass.deadEnd(of: keyPath, inClassNamed: className), end.key == component,
    case .keyless(let object) = end.cause
  {
    return nowhere + "it goes through \(object.phrase). " + object.remedy(for: className)
  }
  let fault = nowhere + "what comes before it has no keys."
  guard keyPath.hasSuffix(".\(component)"), !component.hasPrefix("@") else { return fault }
  let head = keyPath.dropLast(component.count)
  guard KVOClass.hasKeyedElements(head.dropLast(), inClassNamed: className) else { return fault }
  return fault + " It is a collection, whose elements are observed by an operator: "
    + quoted("\(head)@unionOfObjects.\(component)") + "."
}

/// What the C core has said of the last operators that could not be used: `invalidOperator` has no room for the
/// class, nor for what is wrong.
enum OperatorFault {
  private struct Place: Hashable {
    let name, keyPath: String
  }

  private static let most = 100
  // An empty text where several classes, or faults, are meant.
  private static let texts = Locked<[Place: String]>([:])

  static func note(_ text: String, of name: String, in keyPath: String) {
    let place = Place(name: name, keyPath: keyPath)
    texts.withLock {
      if $0.count >= most { $0 = [:] }
      $0[place] = $0[place].map { $0 == text ? text : "" } ?? text
    }
  }

  /// Nil where nothing is known but the error.
  static func text(of name: String, in keyPath: String) -> String? {
    let text = texts.withLock { $0[Place(name: name, keyPath: keyPath)] }
    return text.flatMap { $0.isEmpty ? nil : $0 }
  }
}
