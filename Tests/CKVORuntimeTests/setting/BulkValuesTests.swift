import CFixtures
import CKVORuntime
import Expectations
import TestSupport
import Testing

/// Limits: things of which there may be very many.
@Suite struct BulkValuesTests {
  @Test(
    "C1 C5: objects with one observer each are notified and end, in any order and number")
  func objects() {
    let notified = many_objects(5001)
    expect(notified.all == 5001 && notified.half == 2500 && notified.none == 0)
  }

  // In a process of its own, which can make no more root classes afterwards.
  @Test("A1: more than 256 kinds of root classes is an error that says so")
  func roots() async {
    await #expect(processExitsWith: .success) {
      var error = kvo_error()
      let count = many_roots(&error)
      precondition((200...256).contains(count))
      precondition(error.status == .KVO_INVALID_ARGUMENT)
      let message = withUnsafeBytes(of: error.message) { String(decoding: $0, as: UTF8.self) }
      precondition(message.hasPrefix("CManyRoots\(count) can't be made: there are 256 kinds"))
    }
  }
}
