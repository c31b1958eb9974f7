import KVOChangeLogs
import KVORuntime
import ModelFixtures

/// A graph of objects with every kind of recorded key.
final class Firm: Tracked {
  @Observed var name = ""
  @Observed var staff: [Clerk] = []
  @Observed var team: Set<Clerk> = []
  @Observed var boss: Clerk?
  @Observed var tags: Set<String> = []
  @Observed var figures: [Int] = []
  @Observed var note: String?

  static var recorded: RecordedKeys {
    .keys(
      of: Firm.self, \.name, \.staff, \.team, \.boss, \.tags, \.figures, \.note, making: { Firm() })
  }

  static func recorded(_ firm: Firm) throws -> ChangeLog {
    try ChangeLog(of: firm, recording: recorded, Clerk.recorded)
  }

  /// A firm's state by value; workers by a permanent identifier.
  var state: String {
    let people = staff.map(\.state).joined(separator: ", ")
    let members = team.map(\.id).sorted()
    return
      "\(name) \(note ?? "-") [\(people)] \(members) \(boss?.id ?? "-") \(tags.sorted()) \(figures)"
  }
}

class Clerk: Tracked {
  @Observed var id = ""
  @Observed var salary = 0
  @Observed var reports: [Clerk] = []
  /// Set by `follow`.
  private(set) weak var boss: Clerk?

  override class func registerKeys() {
    declareKeys { $0.stored("boss", \.boss) }
  }

  func follow(_ boss: Clerk?) { withChange(of: \.boss) { self.boss = boss } }

  init(_ id: String = "", salary: Int = 0) {
    super.init()
    self.id = id
    self.salary = salary
  }

  static var recorded: RecordedKeys {
    .keys(of: Clerk.self, \.id, \.salary, \.reports, \.boss, making: { Clerk() })
  }

  var state: String {
    let below = reports.map(\.state).joined(separator: ", ")
    return "\(id) \(salary) \(boss?.id ?? "-")" + (below.isEmpty ? "" : " {\(below)}")
  }
}
