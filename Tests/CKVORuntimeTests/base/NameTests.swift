import CFixtures
import CKVORuntime
import Expectations
import TestSupport
import Testing

/// B5, C8: names from outside leave nothing behind, however many there are.
@Suite struct NameTests {
  /// Less than the smallest allocation.
  private static let bytesOfOne = 16

  @Test(
    "B5 C8: unused names are freed, whether read, set, validated, failed or observed",
    arguments: Array(0..<12))
  func nothingLeft(_ way: Int) async {
    await #expect(processExitsWith: .success) { [way] in
      let names = Int(Environment.times(1_000))
      let left = names_left_by(names_way(rawValue: UInt32(way)), Int32(names))
      precondition(left < names * Self.bytesOfOne, "\(left) bytes are left")
      precondition(kvo_name_count() == 0)
    }
  }

  @Test("C8: as many keys that only a hook answers can be observed as the limit allows")
  func limit() async {
    await #expect(processExitsWith: .success) {
      precondition(kvo_name_limit() == KVO_DEFAULT_NAMES)
      kvo_set_name_limit(100)
      precondition(names_observed_by_hook(150) == 100)
      precondition(kvo_name_count() == 100)
      precondition(names_observed_by_hook(150) == 100)  // the known ones
      precondition(names_left_by(NAMES_OBSERVED_PATH, 1_000) < 1_000 * Self.bytesOfOne)
    }
  }

  @Test("C8: beyond the limit, keys that the class has can still be observed")
  func beyondLimit() async {
    await #expect(processExitsWith: .success) {
      kvo_set_name_limit(0)
      precondition(names_observed_by_hook(3) == 0)
      let object = make(account.self)
      let log = Recorder()
      precondition(log.observe(object.object, "balance", .KVO_NEW).outcome.status == .KVO_OK)
      account_setBalance(object, 1)
      precondition(log.take() == ["a: balance new 1.0"])
      log.end()
      object.release()
    }
  }

  @Test("C8 J3: beyond the limit a manual change is reported, once, with the reason")
  func changeByHandBeyondLimit() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      kvo_set_name_limit(0)
      let object = make(account.self)
      kvo_will_change(object.object, "unheard")
      kvo_did_change(object.object, "unheard")
      object.release()
    }
    let errors = String(decoding: try require(result).standardErrorContent, as: UTF8.self)
    let reports = errors.split(separator: "\n").filter { $0.contains("KVO misuse") }
    expectEqual(reports.count, 1)
    expectEqual(reports.first?.contains("notifies no observer: \"unheard\" of CAccount"), true)
    expectEqual(
      reports.first?.contains(
        "KVO_NAMES, kvo_set_name_limit and, in Swift, KVODiagnostics.nameLimit say how many"), true)
  }

  @Test("C8: each of very many key paths is found again")
  func manyPaths() {
    let object = make(worker.self)
    let observer = make(watcher.self)
    let paths = (60..<200).map { "boss." + String(repeating: "self.", count: $0) + "name" }
    for path in paths { add(observer, to: object.object, path) }
    for path in paths {
      expectEqual(remove(observer, from: object.object, path).status, .KVO_OK)
      expectEqual(remove(observer, from: object.object, path).status, .KVO_NOT_REGISTERED)
    }
    observer.release()
    object.release()
  }

  @Test("B5 C8: registrations of one key path share it, however it was first named")
  func sharedPath() {
    let object = make(worker.self)
    let observer = make(watcher.self)
    let log = Recorder()
    log.listen(to: observer, as: "w")
    // Too long to be cached.
    let path = "boss." + String(repeating: "self.", count: 60) + "name"
    add(observer, to: object.object, path)
    add(observer, to: object.object, path, context: address(1))
    expectEqual(remove(observer, from: object.object, path, context: nil).status, .KVO_OK)
    expectEqual(remove(observer, from: object.object, path).status, .KVO_OK)
    expectEqual(remove(observer, from: object.object, path).status, .KVO_NOT_REGISTERED)
    log.end()
    observer.release()
    object.release()
  }
}
