// An XCTest file that does not import Testing. It must compile; other tests call its functions (S3).
import KVORuntime
import KVOTesting
import XCTest

extension KVOObject {
  /// Calls each function that has its caller's line as a default argument.
  static func expectsWithoutTesting() async throws {
    final class Account: KVOObject { @Observed var balance = 0 }
    let account = Account()
    account.expectChange(of: \.balance, to: 1) { account.balance = 1 }
    account.expectChanges(of: \.balance, [.setting(from: 1, to: 2)]) { account.balance = 2 }
    account.expectNoChange(of: \.balance) {}
    let recorder = account.recordChanges(of: \.balance)
    account.balance = 3
    try await recorder.waitForChanges(1)
    recorder.expect(newValues: [3])
    recorder.expectNone()
    let balance = try await account.next(\.balance) { $0 == 3 }
    XCTAssertEqual(balance, 3)
  }
}
