import CFixtures
import CKVORuntime
import Expectations
import Synchronization
import TestSupport
import Testing

/// The context of registrations. It counts their calls and ends, and outlives them.
final class Probe: Sendable {
  private let counted = Count(), ends = Count()
  var calls: Int { counted.value }
  var ended: Int { ends.value }

  func count() { counted.add() }

  static func from(_ context: UnsafeMutableRawPointer?) -> Probe {
    Unmanaged<Probe>.fromOpaque(context!).takeUnretainedValue()
  }

  func register(_ object: CObject, _ key: String, _ options: kvo_options = []) -> OpaquePointer? {
    var handle: OpaquePointer?
    kvo_add_callback(
      object, key, options, { context, _, _, _ in Probe.from(context).counted.add() },
      Unmanaged.passUnretained(self).toOpaque(), { Probe.from($0).ends.add() }, &handle, nil)
    return handle
  }
}

/// Counters for short-lived registrations: how many were made, how many have ended, and whether one was called after
/// its end.
final class Tally: Sendable {
  private final class Single {
    unowned let tally: Tally
    let hasEnded = Atomic<Bool>(false)
    init(_ tally: Tally) { self.tally = tally }
  }

  private let made = Count(), ended = Count(), late = Count()
  private let singles = Locked<[Shared<Single>]>([])

  var isSettled: Bool { made.value == ended.value && late.value == 0 && made.value > 0 }

  func makeAndEnd(_ object: CObject, _ key: String, _ options: kvo_options) {
    let handle = make(object, key, options)
    expect(kvo_handle_is_valid(handle!))
    kvo_handle_invalidate(handle!)
    kvo_handle_release(handle)
  }

  func make(_ object: CObject, _ key: String, _ options: kvo_options) -> OpaquePointer? {
    let single = Single(self)
    singles.withLock { [shared = Shared(single)] in $0.append(shared) }
    made.add()
    var handle: OpaquePointer?
    kvo_add_callback(
      object, key, options,
      { context, _, _, _ in
        let single = Unmanaged<Single>.fromOpaque(context!).takeUnretainedValue()
        if single.hasEnded.load(ordering: .sequentiallyConsistent) { single.tally.late.add() }
      },
      Unmanaged.passUnretained(single).toOpaque(),
      { context in
        let single = Unmanaged<Single>.fromOpaque(context!).takeUnretainedValue()
        single.hasEnded.store(true, ordering: .sequentiallyConsistent)
        single.tally.ended.add()
      },
      &handle, nil)
    return handle
  }
}

/// Objects that threads replace and observe while others set them.
final class Stage: @unchecked Sendable {
  let deaths = Deaths()
  let made = Count()
  private let places: Locked<[Shared<UnsafeMutablePointer<gauge>>]>
  private let handlesLeft = Locked<[Shared<OpaquePointer?>]>([])

  init() {
    places = Locked([])
    for _ in 0..<3 {
      let object = Shared(makeObject())
      places.withLock { $0.append(object) }
    }
  }

  private func makeObject() -> UnsafeMutablePointer<gauge> {
    made.add()
    let object = make(gauge.self)
    object.pointee.tracked.deaths = deaths.counter
    return object
  }

  /// One of the objects, retained for the caller.
  private func borrow(_ round: Int) -> UnsafeMutablePointer<gauge> {
    places.withLock { places in
      let object = places[round % places.count]
      kvo_object_retain(object.value.object)
      return object
    }.value
  }

  func setSomething(_ round: Int) {
    let object = borrow(round)
    gauge_setFirst(object, round)
    gauge_setSecond(object, round)
    object.release()
  }

  /// Replaces an observed object by another. The old one dies with its registrations.
  func replaceObject(_ round: Int, _ tally: Tally) {
    let object = makeObject()
    let handles = ["first", "second"].map { tally.make(object.object, $0, [.KVO_OLD, .KVO_NEW]) }
    let new = Shared(object)
    let old = places.withLock { places in
      let old = places[round % places.count]
      places[round % places.count] = new
      return old
    }
    old.value.release()
    if round % 2 == 0 {
      for handle in handles { kvo_handle_release(handle) }
    } else {
      leftBehind(handles)
    }
  }

  private func leftBehind(_ handles: [OpaquePointer?]) {
    for handle in handles.map(Shared.init) { handlesLeft.withLock { $0.append(handle) } }
  }

  /// Observes an object with an observer that dies at once. In half of the cases the observer holds the object's last
  /// reference.
  func comeAndGo(_ round: Int) {
    let object = borrow(round)
    made.add()
    let observer = deaths.makeWatcher()
    add(observer, to: object.object, "first", [.KVO_OLD, .KVO_PRIOR])
    add(observer, to: object.object, "second", .KVO_INITIAL)
    if round % 2 == 0 { object.release() }
    observer.release()
    if round % 2 == 1 { object.release() }
  }

  func end() {
    places.withLock { for object in $0 { object.value.release() } }
    handlesLeft.withLock { for handle in $0 { kvo_handle_release(handle.value) } }
  }
}
