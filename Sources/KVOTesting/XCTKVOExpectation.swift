#if canImport(XCTest)
  public import KVORuntime
  public import XCTest

  // XCTest's expectations of what a key becomes, by the names that they have on Apple's platforms (S4). Only who uses
  // them needs XCTest: the rest of the library does not touch it.

  /// Fulfilled when the value of a key path is what is expected: at once, if it is already.
  ///
  /// ```swift
  /// let done = try XCTKVOExpectation(keyPath: "state", object: download, expectedValue: "done")
  /// wait(for: [done], timeout: 5)
  /// ```
  // Sendable: the token and the handler are under a lock.
  public final class XCTKVOExpectation: XCTestExpectation, @unchecked Sendable {
    /// Called with the object and the change; true fulfils the expectation.
    public typealias Handler = (Any, [KeyValueChangeKey: Any]) -> Bool

    /// The key path.
    public let keyPath: String
    /// What is expected; nil where the first change is, or what the handler says.
    public let expectedValue: Any?
    private struct State {
      var isOver = false
      var token: KeyValueObservation?
      /// What stands for this in a test case.
      var registered: XCTestExpectation?
    }
    private let state = LockedValue(State())

    /// Fulfilled when the value is equal to the expected one: the value that there is, or one that it gets; and without an
    /// expected value by the first change.
    ///
    /// - Throws: `KeyValueError.undefinedKey` if the object has no such key.
    public init(keyPath: String, object: KVOObject, expectedValue: Any? = nil) throws {
      self.keyPath = keyPath
      self.expectedValue = expectedValue
      super.init(description: XCTKVOExpectation.text(keyPath, object, expectedValue))
      try observe(object, expectedValue == nil ? [] : .initial) { object, _ in
        guard let expectedValue else { return true }
        return areEqual(try? object.value(forKeyPath: keyPath), expectedValue)
      }
    }

    /// Fulfilled when the handler says so, which is called on each change, on its thread, with old and new value.
    ///
    /// - Throws: `KeyValueError.undefinedKey` if the object has no such key.
    public init(keyPath: String, object: KVOObject, handler: @escaping Handler) throws {
      self.keyPath = keyPath
      expectedValue = nil
      super.init(description: XCTKVOExpectation.text(keyPath, object, nil))
      try observe(object, [.old, .new]) { object, change in handler(object, change.dictionary) }
    }

    private static func text(_ keyPath: String, _ object: KVOObject, _ expected: Any?) -> String {
      let end = expected.map { "become \(described($0))" } ?? "change"
      return "Expect \"\(keyPath)\" of \(type(of: object)) to \(end)"
    }

    private func observe(
      _ object: KVOObject, _ options: KeyValueObservingOptions,
      _ isWanted: @escaping (KVOObject, KeyValueObservedChange<Any>) -> Bool
    ) throws {
      let token = try object.observe(keyPath: keyPath, options: options) {
        [weak self] object, change in
        guard let self, !state.withLock({ $0.isOver }), isWanted(object, change) else { return }
        finish()
      }
      let isOver = state.withLock { state in
        state.token = token
        return state.isOver
      }
      if isOver { token.invalidate() }
    }

    /// Has another expectation, which a test case waits for, be fulfilled with this one.
    fileprivate func fulfil(_ other: XCTestExpectation) {
      let isOver = state.withLock { state in
        state.registered = state.isOver ? nil : other
        return state.isOver
      }
      if isOver { other.fulfill() }
    }

    // Once, whichever threads' changes come.
    private func finish() {
      let last = state.withLock { state in
        defer { state.isOver = true }
        return state
      }
      guard !last.isOver else { return }
      fulfill()
      last.registered?.fulfill()
      last.token?.invalidate()
    }
  }

  extension XCTestCase {
    /// An expectation that `waitForExpectations(timeout:)` waits for: fulfilled when the value of the key path is equal to
    /// the expected one, at once if it is already; without an expected value by the first change.
    ///
    /// - Throws: `KeyValueError.undefinedKey` if the object has no such key.
    @discardableResult
    public func keyValueObservingExpectation(
      for object: KVOObject, keyPath: String, expectedValue: Any? = nil, file: StaticString = #file,
      line: Int = #line
    ) throws -> XCTestExpectation {
      let observed = try XCTKVOExpectation(
        keyPath: keyPath, object: object, expectedValue: expectedValue)
      return waiting(for: observed, file, line)
    }

    /// The same with a handler, which is called on each change and says whether that was the one.
    ///
    /// - Throws: `KeyValueError.undefinedKey` if the object has no such key.
    @discardableResult
    public func keyValueObservingExpectation(
      for object: KVOObject, keyPath: String, file: StaticString = #file, line: Int = #line,
      handler: @escaping XCTKVOExpectation.Handler
    ) throws -> XCTestExpectation {
      let observed = try XCTKVOExpectation(keyPath: keyPath, object: object, handler: handler)
      return waiting(for: observed, file, line)
    }

    // Only an expectation that the case makes itself is waited for by `waitForExpectations(timeout:)`.
    private func waiting(
      for observed: XCTKVOExpectation, _ file: StaticString, _ line: Int
    ) -> XCTestExpectation {
      let made = expectation(description: observed.expectationDescription, file: file, line: line)
      observed.fulfil(made)
      addTeardownBlock { withExtendedLifetime(observed) {} }
      return made
    }
  }

  extension KeyValueObservedChange<Any> {
    /// As `observeValue(forKeyPath:of:change:context:)` is given it.
    fileprivate var dictionary: [KeyValueChangeKey: Any] {
      var dictionary: [KeyValueChangeKey: Any] = [.kindKey: kind]
      if let newValue { dictionary[.newKey] = newValue }
      if let oldValue { dictionary[.oldKey] = oldValue }
      if let indexes { dictionary[.indexesKey] = indexes }
      if isPrior { dictionary[.notificationIsPriorKey] = true }
      return dictionary
    }
  }

  /// Equal as `isEqual` has it: numbers by their value, whatever their types.
  private func areEqual(_ found: Any?, _ expected: Any) -> Bool {
    guard let found = found.flatMap(flattened), let expected = flattened(expected) else {
      return false
    }
    if let found = found as? AnyHashable, let expected = expected as? AnyHashable, found == expected
    {
      return true
    }
    // An NSNumber is cast to the number that it is equal to.
    func compare<E: Equatable>(_ found: E) -> Bool { expected as? E == found }
    if (found as? any Equatable).map({ compare($0) }) == true { return true }
    return areNumbersEqual(found, expected) || isRawValue(expected, of: found)
  }

  private func areNumbersEqual(_ found: Any, _ expected: Any) -> Bool {
    guard let found = Number(found), let expected = Number(expected) else { return false }
    return found == expected
  }

  private func isRawValue(_ expected: Any, of found: Any) -> Bool {
    guard !(expected is any RawRepresentable), let rawValue = ValueConversion.rawValue(of: found)
    else { return false }
    return areEqual(rawValue, expected)
  }
#endif
