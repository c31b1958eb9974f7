import Glibc
import TestScopes  // `.leakFree` and `ProxyStep`, visible in the whole module
import TestSupport
import Testing

/// Prints on stderr how far an exit test came.
func say(_ text: String) { _ = text.withCString { write(STDERR_FILENO, $0, strlen($0)) } }

/// Lines that handlers on any thread have collected.
final class Collected<Element: Sendable>: Sendable {
  private let elements = Locked<[Element]>([])

  var values: [Element] { elements.withLock { $0 } }
  func append(_ more: [Element]) { elements.withLock { $0 += more } }
}
