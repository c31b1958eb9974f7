internal import Testing

/// A mutation by a proxy, its notifications, and the result.
package struct ProxyStep<Proxy, Left: Sendable>: Sendable, CustomTestStringConvertible {
  package let testDescription: String
  package let lines: [String]
  package let left: Left
  package let run: @Sendable (Proxy) throws -> Void

  package init(
    _ name: String, _ lines: [String], left: Left,
    run: @escaping @Sendable (Proxy) throws -> Void
  ) {
    testDescription = name
    self.lines = lines
    self.left = left
    self.run = run
  }
}
