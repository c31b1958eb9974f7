import Testing

/// A mutation by a proxy, its notifications, and the result.
struct ProxyStep<Proxy, Left: Sendable>: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let lines: [String]
  let left: Left
  let run: @Sendable (Proxy) throws -> Void

  init(
    _ name: String, _ lines: [String], left: Left,
    run: @escaping @Sendable (Proxy) throws -> Void
  ) {
    testDescription = name
    self.lines = lines
    self.left = left
    self.run = run
  }
}
