import CFixtures
import CKVORuntime
import Expectations
import TestSupport
import Testing

/// I1, I4: what changes and threads leave behind. Only open changes are searched.
@Suite struct FrameTests {
  @Test("I1: a removal does not look at threads that have ended")
  func endedThreads() async {
    await #expect(processExitsWith: .success) { precondition(records_after_threads(6) == 0) }
  }

  @Test(
    "I1: a removal looks at a thread that ended in a change until another has ended that change")
  func endedInChange() async {
    await #expect(processExitsWith: .success) {
      let left = records_of_suspended_change()
      precondition(left.meanwhile == 1 && left.then == 0)
    }
  }

  @Test(
    "I4: overlapping changes take memory for the open ones only",
    arguments: [(3, 1), (16, 1), (100, 7)])
  func overlapping(open: Int, blocks: Int) {
    let most = Locked(0)
    onThreads(1) { _ in
      let needed = Int(frames_of_overlapping_changes(2_000, CInt(open)))
      expectEqual(frames_blocks(), 0)
      most.withLock { $0 = needed }
    }
    expect(most.withLock { $0 } <= blocks + 1)
  }

  @Test("I4: also where another thread ends the changes than began them")
  func endedElsewhere() {
    expect(frames_of_changes_ended_elsewhere(1_000) <= 2)
  }

  @Test("D7: a change below others of which some have ended is delivered, and ends")
  func endsAboveHoles() {
    let objects = (0..<40).map { _ in make(gauge.self) }
    let log = Recorder()
    for object in objects { log.observe(object.object, "first", .KVO_NEW) }
    let first = kvo_key_intern("first")!
    let frames = objects.map { kvo_stored_property_will_change_key($0.object, first) }
    for index in stride(from: 0, to: 40, by: 3) { kvo_stored_property_did_change(frames[index]!) }
    expectEqual(log.take().count, 14)
    gauge_setFirst(objects[0], 1)
    expectEqual(log.take(), ["a: first new 1"])
    gauge_setFirst(objects[1], 1)  // joins the change that is open
    expectEqual(log.take(), [])
    for index in 0..<40 where index % 3 != 0 { kvo_stored_property_did_change(frames[index]!) }
    expectEqual(log.take().count, 26)
    expectEqual(frames_blocks(), 0)
    log.end()
    for object in objects { object.release() }
  }
}
