import CFixtures
import CKVORuntime
import Expectations
import KVOChangeLogs
import KVORuntime
import Testing

/// Change logs, spelled as in user code.
@Suite struct ChangeLogContractTests {
  private final class Page: KVOObject {
    @Observed var title = ""
    @Observed var lines: [Line] = []
  }

  private final class Line: KVOObject {
    @Observed var text = ""
  }

  private static func log(of page: Page) throws -> ChangeLog {
    let line: RecordedKeys = .keys(of: Line.self, \.text, making: { Line() })
    return try ChangeLog(of: page, recording: .keys(of: Page.self, "title", "lines"), line)
  }

  @Test func records() throws {
    let page = Page()
    let log = try Self.log(of: page)
    log.undoLimit = nil
    log.mergesRepeatedSets = false
    log.withGroup("insert") { page.mutableArray(\.lines).append(Line()) }
    page.title = "a"
    let record: ChangeLog.Record = log[0]
    expect(record.object === page && record.key == "lines" && record.kind == .insertion)
    expect(record.indexes == RangeSet(0..<1) && record.oldValue == nil && record.newValue != nil)
    expect(record.cause == ChangeLog.Cause.change && record.group != log[1].group)
    expect(log.count == 2 && log.firstPosition == 0)
    expectEqual(try log.records(from: 1).count, 1)
    expect(log.canUndo && !log.canRedo && log.undoName == nil)
    expect(try log.undo())
    expect(log.redoName == nil && log.undoName == "insert")
    expect(try log.redo())
    log.removeAll()
    #expect(throws: ChangeLogError.noRecord(position: 0, first: 4, count: 4)) {
      try log.records(from: 0)
    }
  }

  @Test func transcripts() throws {
    let (page, other) = (Page(), Page())
    let (log, copy) = (try Self.log(of: page), try Self.log(of: other))
    page.mutableArray(\.lines).append(Line())
    page.lines[0].text = "x"
    let transcript: ChangeLog.Transcript = try log.transcript(from: 0)
    try copy.apply(transcript)
    expect(transcript.count == 2 && other.lines[0].text == "x")
    expect(ChangeLog.userInfoKey.rawValue != "")
  }

  @Test func foreignValues() throws {
    let made = try require(kvo_object_create(account_class()))
    defer { kvo_object_release(made) }
    let object = ForeignObject(OpaquePointer(made))
    expectEqual(try object.value(forKeyPath: "balance", as: Int.self), 0)
  }
}
