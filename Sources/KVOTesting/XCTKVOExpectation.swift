#if canImport(XCTest)
  public import KVORuntime
  public import XCTest

  // XCTest's expectations about the values of keys, with the names that they have on Apple's platforms (S4).
  // The rest of the library does not use XCTest.

  /// An expectation that is fulfilled when the value of a key path is the expected one; immediately, if it is
  /// already.
  ///
  /// ```swift
  /// let done = try XCTKVOExpectation(keyPath: "state", object: download, expectedValue: "done")
  /// wait(for: [done], timeout: 5)
  /// ```
  // Unchecked `Sendable`: the token and the state are under a lock.
  public final class XCTKVOExpectation: XCTestExpectation, @unchecked Sendable {
    /// A function that gets the object and a change, and returns true to fulfil the expectation.
    public typealias Handler = (Any, [KeyValueChangeKey: Any]) -> Bool

    /// The observed key path.
    public let keyPath: String
    /// The expected value; nil if the first change fulfils the expectation, or a handler decides.
    public let expectedValue: Any?
    private struct State {
      var isOver = false
      var token: KeyValueObservation?
      /// The expectation that represents this one in a test case.
      var registered: XCTestExpectation?
    }
    private let state = LockedValue(State())

    /// Creates an expectation that is fulfilled when the value of a key path is equal to the expected one,
    /// either now or later.
    ///
    /// Numbers are equal if their values are, whatever their types, and NaN equals NaN. A value is also equal to its
    /// raw value. Collections are equal if their elements are in these ways.
    ///
    /// - Parameters:
    ///   - keyPath: a key or key path.
    ///   - object: the object to observe, which is not retained.
    ///   - expectedValue: the expected value; if nil, the first change fulfils the expectation.
    /// - Throws: `KeyValueError.undefinedKey` if the object has no such key.
    public init(keyPath: String, object: KVOObject, expectedValue: Any? = nil) throws {
      self.keyPath = keyPath
      self.expectedValue = expectedValue
      super.init(description: XCTKVOExpectation.text(keyPath, object, expectedValue))
      try observe(object, expectedValue == nil ? [] : .initial) { object, _ in
        guard let expectedValue else { return true }
        do {
          return isExpected(try object.value(forKeyPath: keyPath), expectedValue)
        } catch {
          return false
        }
      }
    }

    /// Creates an expectation that is fulfilled when a handler returns true.
    ///
    /// - Parameters:
    ///   - keyPath: a key or key path.
    ///   - object: the object to observe, which is not retained.
    ///   - handler: called on each change, on its thread, with the old and the new value.
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

    /// Fulfils another expectation, which a test case waits for, together with this one.
    fileprivate func fulfil(_ other: XCTestExpectation) {
      let isOver = state.withLock { state in
        state.registered = state.isOver ? nil : other
        return state.isOver
      }
      if isOver { other.fulfill() }
    }

    // Has an effect only once, even if several threads change the value.
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

  /// XCTest's own expectations of changes, for Linux.
  extension XCTestCase {
    /// Creates an expectation for `waitForExpectations(timeout:)`. It is fulfilled when the value of a key
    /// path is equal to the expected one, either now or later.
    ///
    /// - Parameters:
    ///   - object: the object to observe, which is not retained.
    ///   - keyPath: a key or key path.
    ///   - expectedValue: the expected value; if nil, the first change fulfils the expectation.
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

    /// Creates an expectation for `waitForExpectations(timeout:)`. It is fulfilled when a handler returns
    /// true.
    ///
    /// - Parameters:
    ///   - object: the object to observe, which is not retained.
    ///   - keyPath: a key or key path.
    ///   - handler: called on each change, on its thread, with the object and the change.
    /// - Throws: `KeyValueError.undefinedKey` if the object has no such key.
    @discardableResult
    public func keyValueObservingExpectation(
      for object: KVOObject, keyPath: String, file: StaticString = #file, line: Int = #line,
      handler: @escaping XCTKVOExpectation.Handler
    ) throws -> XCTestExpectation {
      let observed = try XCTKVOExpectation(keyPath: keyPath, object: object, handler: handler)
      return waiting(for: observed, file, line)
    }

    // `waitForExpectations(timeout:)` waits only for expectations that the test case creates itself.
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
    /// The change as `observeValue(forKeyPath:of:change:context:)` gets it.
    fileprivate var dictionary: [KeyValueChangeKey: Any] {
      var dictionary: [KeyValueChangeKey: Any] = [.kindKey: kind]
      if let newValue { dictionary[.newKey] = newValue }
      if let oldValue { dictionary[.oldKey] = oldValue }
      if let indexes { dictionary[.indexesKey] = indexes }
      if isPrior { dictionary[.notificationIsPriorKey] = true }
      return dictionary
    }
  }
#endif
