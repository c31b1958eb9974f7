import Expectations
import Foundation
import KVOChangeLogs
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

/// N4: records sent to another process.
@Suite(.leakFree) struct TranscriptTests {
  private func filled() -> Firm {
    let firm = Firm()
    firm.staff = [Clerk("a", salary: 1), Clerk("b", salary: 2)]
    firm.staff[0].reports = [Clerk("c", salary: 3)]
    firm.boss = firm.staff[1]
    firm.figures = [1, 2]
    return firm
  }

  private func carry(_ transcript: ChangeLog.Transcript, to log: ChangeLog) throws {
    let data = try JSONEncoder().encode(transcript)
    let decoder = JSONDecoder()
    decoder.userInfo[ChangeLog.userInfoKey] = log
    let decoded = try decoder.decode(ChangeLog.Transcript.self, from: data)
    expectEqual(decoded.count, transcript.count)
    try log.apply(decoded)
  }

  @Test("N4: applied to an equal graph it makes that equal, again and again")
  func equal() throws {
    let (here, there) = (filled(), filled())
    let (log, other) = (try Firm.recorded(here), try Firm.recorded(there))
    var sent = 0
    func send() throws {
      try carry(log.transcript(from: sent), to: other)
      sent = log.count
      expectEqual(there.state, here.state)
    }
    here.name = "n"
    here.note = "x"
    here.note = nil
    here.staff[0].reports[0].salary = 9
    try send()
    let newcomer = Clerk("d", salary: 4)
    newcomer.reports = [Clerk("e", salary: 5)]
    newcomer.follow(here.boss)
    here.mutableArray(\.staff).insert(newcomer, at: 0)
    newcomer.salary = 6
    newcomer.reports[0].follow(newcomer)
    here.mutableSet(\.team).formUnion([newcomer, here.staff[1]])
    here.mutableArray(\.staff).swapAt(0, 2)
    here.mutableSet(\.tags).formUnion(["p", "q"])
    here.mutableSet(\.tags).subtract(["p"])
    try send()
    here.mutableArray(\.staff).removeAll()
    here.boss = newcomer
    try log.undo()
    try log.undo()
    try log.redo()
    here.mutableArray(\.figures).append(contentsOf: [7, 8])
    here.figures = [3]
    try send()
    try send()  // of nothing
  }

  @Test("N4: a joining object has the same number in both graphs, in any order of arrival")
  func numbers() throws {
    let (here, there) = (Firm(), Firm())
    let second = Clerk("second")
    // Joins before the one whose change caused it, and is recorded after it.
    let token = here.observe(\.staff) { firm, _ in
      if firm.staff.count == 1 { firm.mutableArray(\.staff).append(second) }
    }
    let (log, other) = (try Firm.recorded(here), try Firm.recorded(there))
    here.mutableArray(\.staff).append(Clerk("first"))
    try carry(log.transcript(), to: other)
    let sent = log.count
    second.salary = 2
    try carry(log.transcript(from: sent), to: other)
    expect(there.state == here.state && there.staff.last?.salary == 2)
    withExtendedLifetime(token) {}
  }

  @Test("N4: an applied transcript is one group of its own, which can be undone")
  func undone() throws {
    let (here, there) = (filled(), filled())
    let (log, other) = (try Firm.recorded(here), try Firm.recorded(there))
    let before = there.state
    here.name = "n"
    here.mutableArray(\.staff).append(Clerk("x"))
    here.staff[2].salary = 1
    try carry(log.transcript(), to: other)
    expectEqual(Set(try other.records().map(\.group)).count, 1)
    expect(try other.records().allSatisfy { $0.cause == .transcript })
    try other.undo()
    expectEqual(there.state, before)
    try other.redo()
    expectEqual(there.state, here.state)
  }

  @Test("N4: changes by observers here are not repeated there")
  func reactions() throws {
    let (here, there) = (Firm(), Firm())
    let (log, other) = (try Firm.recorded(here), try Firm.recorded(there))
    let tokens = [here, there].map { firm in
      firm.observe(\.name) { firm, _ in firm.mutableArray(\.figures).append(firm.figures.count) }
    }
    here.name = "a"
    here.name = "b"
    try carry(log.transcript(), to: other)
    expect(there.state == here.state && there.figures == [0, 1])
    withExtendedLifetime(tokens) {}
  }

  @Test("N4: another graph is refused, and left unchanged")
  func different() throws {
    let here = filled()
    let log = try Firm.recorded(here)
    let worker = Clerk("n")
    here.name = "changed"
    here.mutableArray(\.staff).append(worker)
    worker.salary = 2
    here.staff[0].reports[0].salary = 7

    let empty = Firm()
    let other = try Firm.recorded(empty)
    let before = empty.state
    #expect(throws: ChangeLogError.self) { try carry(log.transcript(), to: other) }
    expect(empty.state == before && other.count == 0 && !other.canUndo)
    #expect(throws: ChangeLogError.knownObject(number: 5)) {
      let same = filled()
      let again = try Firm.recorded(same)
      same.boss = Clerk("other")
      try carry(log.transcript(), to: again)
    }
    let short = filled()
    short.figures = []
    here.mutableArray(\.figures).remove(at: 1)
    let shortLog = try Firm.recorded(short)
    let shortBefore = short.state
    #expect(throws: KeyValueError.self) { try carry(log.transcript(), to: shortLog) }
    expect(short.state == shortBefore && !shortLog.canUndo)
  }

  private final class Opaque: Tracked {
    struct Plain {}
    @Observed var plain = Plain()
    @Observed var any: Any = 1
    @Observed var number: Double? = 1
  }

  @Test("N4: a value that can't be encoded is an error that names class, key and cause")
  func notCodable() throws {
    let object = Opaque()
    let log = try ChangeLog(of: object, recording: .keys(of: Opaque.self, \.plain, \.any, \.number))
    object.number = nil
    object.number = 2.5
    expectEqual(try log.transcript().count, 2)
    object.plain = .init()
    #expect(
      throws: ChangeLogError.notCodable(
        key: "plain", className: "Opaque", found: "Plain is not Codable")
    ) { try log.transcript(from: 2) }
    object.any = 2
    #expect(
      throws: ChangeLogError.notCodable(
        key: "any", className: "Opaque", found: "Any is not Codable")
    ) { try log.transcript(from: 3) }
    try log.undo()
    expect(object.any as? Int == 1)
  }

  @Test("N4: members of a set have no order in which two processes could number them")
  func members() throws {
    let firm = Firm()
    let worker = Clerk("w")
    firm.team = [worker]
    let log = try Firm.recorded(firm)
    worker.salary = 1
    do {
      _ = try log.transcript()
      Issue.record("a transcript of what has no number")
    } catch {
      expect("\(error)".contains("\"salary\" of Clerk"))
      expect("\(error)".contains("a member of a set when the log began"))
    }
  }

  @Test("N4: a decoder without a log, and unknown classes or keys, are errors")
  func decoding() throws {
    let firm = filled()
    let log = try Firm.recorded(firm)
    firm.boss = Clerk("new")
    let data = try JSONEncoder().encode(log.transcript())
    #expect(throws: ChangeLogError.noLog) {
      try JSONDecoder().decode(ChangeLog.Transcript.self, from: data)
    }
    let decoder = JSONDecoder()
    decoder.userInfo[ChangeLog.userInfoKey] = try ChangeLog(
      of: Clerk("w"), recording: .keys(of: Clerk.self, \.salary))
    #expect(throws: ChangeLogError.unknownKey(key: "boss", className: "Firm")) {
      try decoder.decode(ChangeLog.Transcript.self, from: data)
    }
    let there = filled()
    let unmade = try ChangeLog(
      of: there,
      recording: .keys(of: Firm.self, \.name, \.staff, \.team, \.boss, \.tags, \.figures, \.note),
      .keys(of: Clerk.self, \.id, \.salary, \.reports, \.boss))
    #expect(throws: ChangeLogError.cannotMake(className: "Clerk")) {
      try carry(log.transcript(), to: unmade)
    }
  }
}
