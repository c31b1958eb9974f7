import CFixtures
import CKVORuntime
import Expectations
import TestSupport
import Testing

/// D3 and I3: `distinct` where changes of two threads overlap.
@Suite(.serialized, .recording) struct DistinctThreadTests {
  @Test(
    "D3 I3: a value that was read before a later one was compared is not delivered",
    arguments: DistinctWay.allCases, [0, 2])
  func overtaken(_ way: DistinctWay, _ later: Int) {
    let object = make(disturbed.self)
    let log = Recorder()
    let root = way.observe(object, log)
    object.interrupt(.DISTURBED_AFTER_LOAD) {
      disturbed_setValue(object, later)
    } in: {
      disturbed_setValue(object, 1)
    }
    expectEqual(log.take(), later == 0 ? [] : ["a: \(way.key) new 2"])
    object.pointee.value = 1
    for value in [later, 1, 1] { disturbed_setValue(object, value) }
    expectEqual(log.take(), ["a: \(way.key) new 1"])
    log.end()
    releaseAll([root, object])
  }

  @Test(
    "D3 I3: a change compares with the value at registration, also one that has begun before it")
  func registeredMeanwhile() {
    let object = make(disturbed.self)
    let log = Recorder()
    for (place, notified) in [
      (disturbance.DISTURBED_BEFORE_STORE, ["a: value new 1"]), (.DISTURBED_AFTER_STORE, []),
    ] {
      disturbed_setValue(object, 0)
      object.interrupt(place) {
        log.observe(object.object, "value", [.KVO_NEW, .KVO_PRIOR, .KVO_DISTINCT])
      } in: {
        disturbed_setValue(object, 1)
      }
      expectEqual(log.take().filter { !$0.contains("prior") }, notified)
      disturbed_setValue(object, 1)
      expectEqual(log.take(), ["a: prior value"])
      log.end()
    }
    object.release()
  }

  @Test("D3 I3: a change that is delivered while the observer registers counts as the last one")
  func deliveredMeanwhile() {
    let object = make(disturbed.self)
    let log = Recorder()
    object.interrupt(.DISTURBED_AFTER_LOAD) {
      disturbed_setValue(object, 1)
    } in: {
      log.observe(object.object, "value", [.KVO_NEW, .KVO_DISTINCT])
    }
    disturbed_setValue(object, 1)
    disturbed_setValue(object, 0)
    expectEqual(log.take(), ["a: value new 1", "a: value new 0"])
    log.end()
    object.release()
  }

  @Test(
    "D3: if a newer value has been delivered before the initial call, it is delivered again after it"
  )
  func initialOvertaken() {
    let object = make(disturbed.self)
    let log = Recorder()
    object.interrupt(.DISTURBED_AFTER_LOAD) {
      disturbed_setValue(object, 1)
    } in: {
      log.observe(object.object, "value", [.KVO_INITIAL, .KVO_NEW, .KVO_DISTINCT])
    }
    expectEqual(log.take(), ["a: value new 1", "a: value new 0", "a: value new 1"])
    disturbed_setValue(object, 1)
    expectEqual(log.take(), [])
    log.end()
    object.release()
  }

  @Test(
    "D3 I3: the value that the prior call of a late observer sets is delivered last",
    arguments: DistinctWay.allCases)
  func setInLatePriorCall(_ way: DistinctWay) {
    let object = make(disturbed.self)
    let log = Recorder()
    var root: Disturbed?
    var calls = 0
    object.interrupt(.DISTURBED_BEFORE_STORE) {
      root = way.observe(object, log, .KVO_PRIOR) { _ in
        calls += 1
        if calls == 1 { disturbed_setValue(object, 2) }
      }
    } in: {
      disturbed_setValue(object, 1)
    }
    let prior = "a: prior \(way.key)"
    expectEqual(log.take(), [prior, prior, "a: \(way.key) new 2"])
    for value in [2, 1] { disturbed_setValue(object, value) }
    expectEqual(log.take(), [prior, prior, "a: \(way.key) new 1"])
    log.end()
    releaseAll([root!, object])
  }

  @Test("D3 I3: the value that the prior call after an initial one sets is delivered last")
  func setInPriorCallAfterInitial() {
    let object = make(disturbed.self)
    let log = Recorder()
    var calls = 0
    object.interrupt(.DISTURBED_AFTER_LOAD) {
      disturbed_setValue(object, 1)
    } in: {
      log.observe(object.object, "value", [.KVO_INITIAL, .KVO_NEW, .KVO_PRIOR, .KVO_DISTINCT]) {
        _ in
        calls += 1
        if calls == 4 { disturbed_setValue(object, 2) }
      }
    }
    let prior = "a: prior value"
    let (first, later) = (
      [prior, "a: value new 1", "a: value new 0"], [prior, prior, "a: value new 2"]
    )
    expectEqual(log.take(), first + later)
    for value in [2, 1] { disturbed_setValue(object, value) }
    expectEqual(log.take(), [prior, prior, "a: value new 1"])
    log.end()
    object.release()
  }

  @Test("D3 I3: an observer that is added while a new value is read is not notified of that change")
  func registeredWhileRead() {
    let object = make(disturbed.self)
    let log = Recorder()
    let other = Recorder()
    other.observe(object.object, "value", .KVO_NEW)
    object.interrupt(.DISTURBED_AFTER_LOAD) {
      log.observe(object.object, "value", [.KVO_NEW, .KVO_DISTINCT])
      disturbed_setValue(object, 2)
    } in: {
      disturbed_setValue(object, 1)
    }
    expectEqual(log.take(), ["a: value new 2"])
    for value in [2, 1] { disturbed_setValue(object, value) }
    expectEqual(log.take(), ["a: value new 1"])
    log.end()
    other.end()
    object.release()
  }

  // MARK: All orders of two threads

  /// The type of a number. A comparison of two numbers may be interrupted by the other thread.
  private nonisolated(unsafe) static let numberType: UnsafePointer<kvo_type> = {
    let type = UnsafeMutablePointer<kvo_type>.allocate(capacity: 1)
    type.initialize(
      to: kvo_type(
        encoding: kvo_type_for_encoding("q", nil)!.pointee.encoding, size: 8, alignment: 8,
        kind: .KVO_KIND_BINDING, copy: nil, destroy: nil,
        equal: { _, a, b in
          Orders.gate()
          return a.load(as: Int64.self) == b.load(as: Int64.self)
        }, describe: nil, binding: nil, operations: nil))
    return UnsafePointer(type)
  }()

  private final class Numbers: @unchecked Sendable {
    let node = make(graph_node.self)
    let notified = Locked<[Int64]>([])
    private var handle: OpaquePointer?

    init() {
      set(0)
      // Called first: the other thread may go on between the reading of a new value and its comparison.
      let first = attempt {
        kvo_add_callback(
          node.object, "wares", [], { _, _, _, _ in Orders.gate() }, nil, nil, nil, $0)
      }
      precondition(first.status == .KVO_OK)
      let outcome = attempt { error in
        withUnsafeMutablePointer(to: &handle) { handle in
          kvo_add_callback(
            node.object, "wares", [.KVO_NEW, .KVO_DISTINCT],
            { context, _, _, change in
              let numbers = Unmanaged<Numbers>.fromOpaque(context!).takeUnretainedValue()
              let list = kvo_value_get_object(kvo_change_get_new(change))
              numbers.notified.withLock { $0.append(Numbers.number(in: OpaquePointer(list!))) }
            }, Unmanaged.passUnretained(self).toOpaque(), nil, handle, error)
        }
      }
      precondition(outcome.status == .KVO_OK)
    }

    func set(_ number: Int64) {
      var value = kvo_value()
      withUnsafePointer(to: number) { _ = kvo_value_init(&value, numberType, $0) }
      let list = kvo_collection_create(.KVO_ARRAY, &value, 1, nil)!
      graph_node_setWares(node, list)
      kvo_object_release(CObject(list))
    }

    private static func number(in list: OpaquePointer) -> Int64 {
      var element = kvo_value()
      kvo_collection_get(list, 0, &element, nil)
      return kvo_value_bytes(&element)!.load(as: Int64.self)
    }

    /// Whether no number was delivered twice in a row, and the last one is the property's.
    func isRight() -> Bool {
      let notified = notified.withLock { $0 }
      let last = Self.number(in: node.pointee.wares!)
      return zip([0] + notified, notified).allSatisfy { $0 != $1 } && (notified.last ?? 0) == last
    }

    func end() {
      kvo_handle_release(handle)
      node.release()
    }
  }

  @Test(
    "D3 I3: whenever two threads set, no value is delivered twice in a row, and the last value is",
    arguments: [[1], [1, 0]] as [[Int64]], [1, 0, 2] as [Int64])
  func allOrders(_ first: [Int64], _ second: Int64) async {
    let tried = await inAllOrders { orders in
      let numbers = Numbers()
      orders.run {
        for number in first { numbers.set(number) }
      } and: {
        numbers.set(second)
      }
      defer { numbers.end() }
      return numbers.isRight()
    }
    expectEqual(tried.failure, nil)
    expect(tried.count > 1)
  }
}
