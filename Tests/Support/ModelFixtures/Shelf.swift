import KVORuntime
import TestSupport

/// To-many properties of each kind.
open class Shelf: Tracked {
  @Observed open var books: [Book] = []
  @Observed open var numbers: [Int] = []
  @Observed open var tags: Set<String> = []
  @Observed open var wishes: [Int]?
  @Observed open var labels: Set<String>?
  @Observed open var count = 0
  /// Declared as a key, but not `@Observed`.
  public var notes: [String] = []
  public var marks: Set<Int> = []

  open override class func registerKeys() {
    declareKeys {
      $0.stored("notes", \.notes)
      $0.stored("marks", \.marks)
    }
  }
}

/// An element that is counted in the test that made it.
public final class Book: Hashable, CustomStringConvertible, @unchecked Sendable {
  public let title: String
  private let life = Life(of: Book.self)

  public init(_ title: String) { self.title = title }

  public var description: String { title }
  public static func == (a: Book, b: Book) -> Bool { a.title == b.title }
  public func hash(into hasher: inout Hasher) { hasher.combine(title) }
}
