import CFixtures
import CKVORuntime
import Expectations
import Testing

/// P5: libraries whose functions are methods.
@Suite struct PluggedTests {
  @Test("P5: a library without a method is unloaded when it is closed")
  func withoutMethod() async {
    await #expect(processExitsWith: .success) { precondition(!plugged_stays(.PLUGGED_NOWHERE)) }
  }

  @Test("P5: a library whose function is a method stays when it is closed")
  func method() async {
    await #expect(processExitsWith: .success) { precondition(plugged_stays(.PLUGGED_METHOD)) }
  }

  @Test("P5: a library whose function replaces a method stays when it is closed")
  func replacement() async {
    await #expect(processExitsWith: .success) { precondition(plugged_stays(.PLUGGED_REPLACEMENT)) }
  }

  @Test("P5: a library whose function is a class method stays when it is closed")
  func classMethod() async {
    await #expect(processExitsWith: .success) { precondition(plugged_stays(.PLUGGED_CLASS_METHOD)) }
  }

  @Test("P5: a library whose function becomes a method in a class's setup stays when it is closed")
  func setup() async {
    await #expect(processExitsWith: .success) { precondition(plugged_stays(.PLUGGED_SETUP)) }
    await #expect(processExitsWith: .success) { precondition(plugged_stays(.PLUGGED_INNER_SETUP)) }
  }

  @Test("P5: a library is reopened only after the outermost setup is over")
  func insideSetup() async {
    await #expect(processExitsWith: .success) {
      precondition(!plugged_stays_inside(.PLUGGED_SETUP))
    }
    await #expect(processExitsWith: .success) {
      precondition(!plugged_stays_inside(.PLUGGED_INNER_SETUP))
    }
  }
}
