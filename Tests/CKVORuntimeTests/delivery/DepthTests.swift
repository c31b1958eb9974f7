import CFixtures
import CKVORuntime
import Expectations
import TestSupport
import Testing

/// D7: recursion may go deep, and endless recursion stops the program with a message before its stack ends.
@Suite struct DepthTests {
  private static let never = Int.max
  private static let megabyte = 1 << 20
  /// Enough for the default limit in each build: unoptimised levels take more than 6 KB under the thread sanitizer.
  private static let largeStack = 256 * megabyte

  @Test("D7: an observer that sets its own key for ever is stopped with class and key")
  func endless() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = depth_set_until(Self.never, Self.largeStack, 16)
    }
    let errors = String(decoding: try require(result).standardErrorContent, as: UTF8.self)
    expect(errors.contains("observers of \"first\" of CGauge set what they observe"))
    expect(errors.contains("\(KVO_DEFAULT_DEPTH) nested changes are being delivered"))
    expect(errors.contains("probably without an end"))
    expect(errors.contains("kvo_set_depth_limit and, in Swift, KVODiagnostics.depthLimit say"))
  }

  @Test("D7: the depth limit can be set, and is checked every sixteen levels")
  func limit() async throws {
    await #expect(processExitsWith: .success) {
      kvo_set_depth_limit(100)
      precondition(kvo_depth_limit() == 100)
      precondition(depth_set_until(95, Self.megabyte, 16) == 95)
    }
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      kvo_set_depth_limit(100)
      _ = depth_set_until(130, Self.megabyte, 16)
    }
    let errors = String(decoding: try require(result).standardErrorContent, as: UTF8.self)
    expect(errors.contains("of CGauge set what they observe"))
  }

  @Test(
    "D7: whatever the limit, the program stops before the stack ends",
    arguments: [(384, 16), (512, 16), (512, 1_000), (2_048, 8_000)])
  func stack(kilobytes: Int, each: Int) async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [kilobytes, each] in
      kvo_set_depth_limit(0)
      _ = depth_set_until(Self.never, kilobytes << 10, each)
    }
    let errors = String(decoding: try require(result).standardErrorContent, as: UTF8.self)
    expect(errors.contains("KB are left of the stack's"))
    expect(errors.contains("\"first\" of CGauge"))
    expect(errors.contains("larger stack") && !errors.contains("KVO_DEPTH"))
  }

  @Test("D7: open changes that are not being delivered do not count as depth")
  func suspended() async {
    await #expect(processExitsWith: .success) {
      kvo_set_depth_limit(50)
      _ = frames_of_overlapping_changes(400, 200)
    }
  }

  /// The way in which an observer sets what it observes.
  enum Way: String, CaseIterable, Codable {
    case key, path, derived, collection, hand

    /// Text that the message must contain.
    var notified: String {
      switch self {
      case .key: "\"value\" of CDisturbed1"
      case .path: "\"value\" of CDisturbed"
      case .derived: "\"other\" of CDisturbed1"
      case .collection: "\"items\" of CShelf"
      case .hand: "\"value\" of CDisturbed1"
      }
    }

    /// An observer that sets what it observes, nested this many times.
    func recurse(_ levels: Int) {
      let object = Disturbed.ofFreshClass()
      let log = Recorder()
      var level = 0
      var change = {}
      var end = { object.release() }
      let deeper: (Call) -> Void = { _ in
        if level < levels { change() }
      }
      let next = {
        level += 1
        return level
      }
      switch self {
      case .key:
        log.observe(object.object, "value", .KVO_NEW, reaction: deeper)
        change = { disturbed_setValue(object, next()) }
      case .path:
        let leaf = make(disturbed.self)
        disturbed_setNext(object, leaf)
        end = { releaseAll([object, leaf]) }
        log.observe(object.object, "next.value", .KVO_NEW, reaction: deeper)
        change = { disturbed_setValue(leaf, next()) }
      case .derived:
        kvo_class_add_dependency(kvo_class_of(object.object), "value", "other", nil)
        log.observe(object.object, "value", .KVO_NEW, reaction: deeper)
        change = { disturbed_setOther(object, next()) }
      case .collection:
        let shelf = makeShelf([.array, .singles], [1])
        end = { [object.object, shelf.object].forEach(kvo_object_release) }
        let proxy = Many(mutable: shelf.object)
        log.observe(shelf.object, "items", .KVO_NEW, reaction: deeper)
        change = { if next() % 2 == 0 { proxy.append(.int(1)) } else { proxy.remove(at: 0) } }
      case .hand:
        log.observe(object.object, "value", .KVO_NEW, reaction: deeper)
        change = {
          kvo_will_change(object.object, "value")
          _ = next()
          kvo_did_change(object.object, "value")
        }
      }
      change()
      precondition(level == levels)
      change = {}
      log.end()
      end()
    }
  }

  @Test(
    "D7: initial calls that register again endlessly are stopped, naming class and key"
  )
  func initialCalls() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      kvo_set_depth_limit(100)
      let object = make(gauge.self)
      let log = Recorder()
      func register() {
        log.observe(object.object, "first", [.KVO_INITIAL, .KVO_NEW]) { _ in register() }
      }
      register()
    }
    let errors = String(decoding: try require(result).standardErrorContent, as: UTF8.self)
    expect(errors.contains("observers of \"first\" of CGauge") && errors.contains("KVO_DEPTH"))
  }

  @Test(
    "D7: depth counts changes along key paths, of derived keys and of collections",
    arguments: Way.allCases)
  func changes(_ way: Way) async throws {
    await #expect(processExitsWith: .success) { [way] in
      kvo_set_depth_limit(100)
      way.recurse(95)
    }
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [way] in
      kvo_set_depth_limit(100)
      way.recurse(130)
    }
    let errors = String(decoding: try require(result).standardErrorContent, as: UTF8.self)
    expect(errors.contains("observers of \(way.notified)"))
    expect(errors.contains(" set what they observe, again and again"))
    expect(errors.contains(" nested changes are being delivered"))
  }
}
