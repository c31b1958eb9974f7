import Expectations
import Foundation
import KVOChangeLogs
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

/// N4: untrusted transcripts. One that does not fit is refused, leaves the graph unchanged, and never stops the
/// program.
@Suite(.leakFree) struct HostileTranscriptTests {
  private func filled() -> Firm {
    let firm = Firm()
    firm.staff = [Clerk("a", salary: 1), Clerk("b", salary: 2)]
    firm.staff[0].reports = [Clerk("c", salary: 3)]
    firm.boss = firm.staff[1]
    firm.figures = [1, 2, 3, 4]
    firm.tags = ["p"]
    return firm
  }

  /// Changes of every kind, as text.
  private func transcript() throws -> [Any] {
    let firm = filled()
    let log = try Firm.recorded(firm)
    let newcomer = Clerk("d", salary: 4)
    newcomer.reports = [Clerk("e", salary: 5)]
    firm.name = "n"
    firm.mutableArray(\.staff).insert(newcomer, at: 1)
    firm.mutableArray(\.figures).append(contentsOf: [5, 6])
    firm.mutableArray(\.figures).remove(at: 0)
    firm.mutableArray(\.figures).swapAt(0, 2)
    firm.mutableSet(\.tags).formUnion(["q"])
    firm.mutableSet(\.team).insert(newcomer)
    firm.mutableSet(\.tags).subtract(["p"])
    firm.boss = newcomer
    newcomer.follow(firm.staff[0])
    firm.staff[0].mutableArray(\.reports).removeAll()
    firm.note = nil
    let data = try JSONEncoder().encode(log.transcript())
    return try require(JSONSerialization.jsonObject(with: data) as? [Any])
  }

  private func apply(_ lines: [Any], to log: ChangeLog) throws {
    let data = try JSONSerialization.data(withJSONObject: lines)
    let decoder = JSONDecoder()
    decoder.userInfo[ChangeLog.userInfoKey] = log
    try log.apply(decoder.decode(ChangeLog.Transcript.self, from: data))
  }

  private static let numbers = [
    0, 1, -1, 2, 3, 5, 8, 1 << 31, 1 << 53, .max, .max - 1, .min, .min + 1,
  ]

  private static let words = [
    "name", "staff", "team", "boss", "tags", "figures", "note", "salary", "Firm", "Clerk", "",
  ]

  /// The text with one part changed.
  private func spoilt(_ value: Any, _ random: inout Random) -> Any {
    switch value {
    case var lines as [Any] where !lines.isEmpty:
      let index = random.next(lines.count)
      switch random.next(12) {
      case 0: lines.remove(at: index)
      case 1: lines.append(lines[index])
      case 2: lines.swapAt(index, random.next(lines.count))
      default: lines[index] = spoilt(lines[index], &random)
      }
      return lines
    case var members as [String: Any] where !members.isEmpty:
      let key = members.keys.sorted()[random.next(members.count)]
      switch random.next(12) {
      case 0: members[key] = nil
      case 1: members[key] = members.values.map { "\($0)" }.sorted().first
      default: members[key] = spoilt(members[key]!, &random)
      }
      return members
    case is String: return Self.words[random.next(Self.words.count)]
    default: return Self.numbers[random.next(Self.numbers.count)]
    }
  }

  @Test(
    "N4: any untrusted transcript is applied or refused, and the log keeps working")
  func spoiltTranscripts() throws {
    let lines = try transcript()
    var refused = 0
    let seeds = max(Environment.steps(400) / 10, 8)
    for seed in 0..<seeds {
      var random = Random(seed: seed)
      var text: Any = lines
      for _ in 0..<1 + random.next(3) { text = spoilt(text, &random) }
      let firm = filled()
      let log = try Firm.recorded(firm)
      // Half of them meet an observer that changes joining objects.
      let token = firm.observe(\.name) { firm, _ in
        if seed % 2 == 0, firm.figures.count < 9 { firm.mutableArray(\.figures).append(0) }
      }
      let before = firm.state
      do {
        try apply(text as? [Any] ?? [text], to: log)
      } catch {
        refused += 1
        expectEqual(firm.state, before, "seed \(seed): \(error)")
      }
      while try log.undo() {}
      expectEqual(firm.state, before, "seed \(seed)")
      firm.name = "goes on"
      let joined = Clerk("joined")
      firm.mutableArray(\.staff).append(joined)
      joined.salary = 9
      expect(try log.undo() && log.undo() && log.undo())
      expectEqual(firm.state, before, "seed \(seed)")
      withExtendedLifetime(token) {}
    }
    expect(refused > seeds / 4)
  }

  @Test("N4: elements that a key can't have are refused, also when it gets its value as a whole")
  func otherElements() throws {
    let here = filled()
    let log = try Firm.recorded(here)
    here.name = "n"
    here.mutableArray(\.figures).append(5)
    var lines = try require(
      JSONSerialization.jsonObject(with: JSONEncoder().encode(log.transcript())) as? [[String: Any]]
    )
    for ranges in [[[99, 100]], [[0, Int.max]], [[4, 5], [0, 7]]] {
      lines[1]["ranges"] = ranges
      let there = filled()
      let other = try Firm.recorded(there)
      #expect(throws: KeyValueError.self) { try apply(lines, to: other) }
      expectEqual(there.state, filled().state)
      let token = there.observe(\.name) { there, _ in
        if there.figures.count < 8 { there.mutableArray(\.figures).append(0) }
      }
      #expect(throws: ChangeLogError.otherElements(key: "figures", className: "Firm")) {
        try apply(lines, to: other)
      }
      expectEqual(there.state, filled().state)
      withExtendedLifetime(token) {}
    }
    lines[1]["ranges"] = [[-1, 0]]
    let there = filled()
    let other = try Firm.recorded(there)
    #expect(throws: DecodingError.self) { try apply(lines, to: other) }
    expectEqual(there.state, filled().state)
  }

  @Test("N4: object numbers that leave none for later objects are refused")
  func numbers() throws {
    let here = filled()
    let log = try Firm.recorded(here)
    here.boss = Clerk("new")
    let text = try require(String(data: JSONEncoder().encode(log.transcript()), encoding: .utf8))
    for number in ["0", "-1", "\(Int.max)"] {
      let spoilt = text.replacing("\"number\":5", with: "\"number\":\(number)")
      expect(spoilt != text)
      let there = filled()
      let other = try Firm.recorded(there)
      let lines = try JSONSerialization.jsonObject(with: Data(spoilt.utf8)) as? [Any]
      #expect(throws: DecodingError.self) { try apply(require(lines), to: other) }
      withExtendedLifetime(there) {}
    }
  }

  @Test("N4: a transcript refused because the log is busy takes no object numbers from it")
  func refusedMeanwhile() throws {
    let (here, there) = (filled(), filled())
    let second = Clerk("second")
    // Joins before the one whose change caused it, so its number is not its position.
    let order = here.observe(\.staff) { firm, _ in
      if firm.staff.count == 3 { firm.mutableArray(\.staff).append(second) }
    }
    let (log, other) = (try Firm.recorded(here), try Firm.recorded(there))
    here.name = "n"
    here.mutableArray(\.staff).append(Clerk("first"))
    let sent = try log.transcript()
    let token = there.observe(\.name) { _, _ in
      #expect(throws: ChangeLogError.isBusy) { try other.apply(sent) }
    }
    try other.apply(sent)
    expectEqual(there.state, here.state)
    second.salary = 7
    try other.apply(log.transcript(from: sent.count))
    expectEqual(there.state, here.state)
    withExtendedLifetime((order, token)) {}
  }

  @Test(
    "N4: objects of a refused transcript are discarded: it can be applied when it fits")
  func again() throws {
    let (here, there) = (filled(), filled())
    let (log, other) = (try Firm.recorded(here), try Firm.recorded(there))
    here.boss = Clerk("new")
    here.boss!.salary = 3
    here.mutableArray(\.figures).append(9)
    var lines = try require(
      JSONSerialization.jsonObject(with: JSONEncoder().encode(log.transcript())) as? [[String: Any]]
    )
    let good = lines
    lines[2]["ranges"] = [[50, 51]]
    #expect(throws: KeyValueError.self) { try apply(lines, to: other) }
    expectEqual(there.state, filled().state)
    try apply(good, to: other)
    expectEqual(there.state, here.state)
    here.boss!.salary = 4
    try other.apply(log.transcript(from: 3))
    expectEqual(there.state, here.state)
  }

  private final class Home: Tracked {
    @Observed var heads = 0
    @Observed var guest: Guest?
  }

  private final class Guest: Tracked {
    @Observed var home: Home? { didSet { home?.heads += 1 } }
  }

  @Test("N4: changes by setters of objects that join are rolled back as well")
  func settersOfArriving() throws {
    func recorded(_ home: Home) throws -> ChangeLog {
      try ChangeLog(
        of: home, recording: .keys(of: Home.self, \.heads, \.guest),
        .keys(of: Guest.self, \.home, making: { Guest() }))
    }
    let (here, there) = (Home(), Home())
    let (log, other) = (try recorded(here), try recorded(there))
    let guest = Guest()
    guest.home = here
    here.guest = guest
    var lines = try require(
      JSONSerialization.jsonObject(with: JSONEncoder().encode(log.transcript(from: 1)))
        as? [[String: Any]])
    let good = lines
    lines.append(lines[0])
    lines[1]["number"] = 77
    lines[1]["joined"] = [Any]()
    #expect(throws: ChangeLogError.unknownObject(number: 77)) { try apply(lines, to: other) }
    expect(there.heads == 0 && there.guest == nil && !other.canUndo)
    try apply(good, to: other)
    expect(there.guest?.home === there && there.heads == 0)  // inserts a record before these
    here.guest?.home = nil
    there.guest?.home = nil
  }

  private final class Anything: Tracked {
    @Observed var any: Any = 1
    @Observed var item: Clerk?
  }

  @Test("N4: for a value that may hold anything, only lists of objects have a known type")
  func anything() throws {
    let holder = Anything()
    let log = try ChangeLog(
      of: holder, recording: .keys(of: Anything.self, \.any, \.item), Clerk.recorded)
    let clerk = Clerk("c")
    holder.item = clerk
    for value in ["", [Int](), Set([clerk]), [String: Int]()] as [Any] {
      holder.any = value
      #expect(throws: ChangeLogError.self) { try log.transcript(from: log.count - 1) }
    }
    holder.any = [clerk]
    let known = try ChangeLog(
      of: holder, recording: .keys(of: Anything.self, \.any), Clerk.recorded)
    holder.any = [clerk, clerk]
    expectEqual(try known.transcript().count, 1)
    holder.any = 1
  }
}
