import CFixtures
import CKVORuntime
import Expectations
import TestSupport
import Testing

/// E4: mutations in place that are never closed: an exception or a fork interrupts them.
@Suite(.recording) struct InterruptedInPlaceTests {
  fileprivate typealias Guest = UnsafeMutablePointer<bound_object>

  @Test("E4 D9: a mutation in an observer that throws does not hold back later changes")
  func exception() {
    withGuest { guest in
      let log = Recorder()
      log.observe(guest.header, "summary")
      withThrowing { object, trap in
        trap.pointee.first_context = UnsafeMutableRawPointer(guest)
        trap.pointee.first = {
          _ = $0!.assumingMemoryBound(to: bound_object.self).beginMutation(of: \.length)
        }
        trap.pointee.final = 7
        expectEqual(thrown_by_set_reading(object, 1), 7)
      }
      guest.set(\.mood, 3)
      expectEqual(log.take(), ["a: summary"])
      log.end()
    }
  }

  // In a process of its own: at the fork, no other test's thread may hold a lock of Swift's runtime.
  @Test(
    "E4 C4: a mutation that another thread had open at a fork is none in the child",
    .enabled(if: fixture_can_fork(), "the thread sanitizer follows no forks"))
  func fork() async {
    await #expect(processExitsWith: .success) {
      withGuest { guest in
        let log = Recorder()
        log.observe(guest.header, "summary")
        let turn = UnsafeMutablePointer<Int32>.allocate(capacity: 1)
        turn.initialize(to: 0)
        let shared = Shared((guest, turn))
        onThreads(2) { index in
          let (guest, turn) = shared.value
          if index == 0 {
            let frame = guest.beginMutation(of: \.length)!
            fixture_raise(turn)
            awaitTurn(turn, 2)
            kvo_stored_property_did_change(frame)
          } else {
            awaitTurn(turn, 1)
            precondition(fixture_fork({ mutatesInChild($0!) }, guest) == 0)
            fixture_raise(turn)
          }
        }
        log.end()
        turn.deallocate()
      }
    }
  }

  private func withThrowing(
    _ body: (UnsafeMutablePointer<thrower>, UnsafeMutablePointer<trap>) -> Void
  ) {
    let object = make(thrower.self)
    let trap = UnsafeMutablePointer<trap>.allocate(capacity: 1)
    trap.initialize(to: .init())
    var handle: OpaquePointer?
    kvo_add_callback(object.object, "reading", [], trap_callback, trap, nil, &handle, nil)
    body(object, trap)
    kvo_handle_release(handle)
    object.release()
    trap.deallocate()
  }
}

/// In a forked child: whether mutations on new threads hold back what depends on them until they have ended. All threads are
/// there at once, so one of them gets the record of the thread that is gone.
private func mutatesInChild(_ context: UnsafeMutableRawPointer) -> Bool {
  let count: Int32 = 8
  let guest = context.assumingMemoryBound(to: bound_object.self)
  let log = Recorder()
  log.observe(guest.header, "summary", as: "in the child")
  var calls: [String] = []
  var turn: Int32 = 0
  withUnsafeMutablePointer(to: &calls) { calls in
    withUnsafeMutablePointer(to: &turn) { turn in
      let shared = Shared((guest, log, calls, turn))
      onThreads(Int(count)) { index in
        let (guest, log, calls, turn) = shared.value
        awaitTurn(turn, Int32(index))
        let frame = guest.beginMutation(of: \.length)!
        guest.set(\.mood, Int64(index))
        calls.pointee.append("\(index): \(log.take().count)")
        kvo_stored_property_did_change(frame)
        calls.pointee.append("\(index): \(log.take().count)")
        fixture_raise(turn)
        awaitTurn(turn, count)
      }
    }
  }
  return calls == (0..<count).flatMap { ["\($0): 0", "\($0): 1"] }
}
