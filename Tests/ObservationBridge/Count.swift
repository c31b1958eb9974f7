import Glibc
import Synchronization

/// What several threads count.
final class Count: Sendable {
  private let number = Atomic(0)
  func add() { number.add(1, ordering: .relaxed) }
  var value: Int { number.load(ordering: .relaxed) }
}

/// Without what main has open.
func exit(_ status: Int32) -> Never { Glibc.exit(status) }
