import CFixtures
import CKVORuntime
import Expectations
import TestSupport
import Testing

/// P2: values that a program keeps with objects, in C.
@Suite struct AssociationTests {
  /// Values are addresses of this array's elements, which count the releases.
  private final class Places {
    let counts = UnsafeMutablePointer<Int32>.allocate(capacity: 8)
    init() { counts.initialize(repeating: 0, count: 8) }
    deinit { counts.deallocate() }
    subscript(index: Int) -> UnsafeMutableRawPointer { UnsafeMutableRawPointer(counts + index) }
    var all: [Int32] { (0..<8).map { counts[$0] } }
  }

  private static let release: @convention(c) (UnsafeMutableRawPointer) -> Void = {
    $0.assumingMemoryBound(to: Int32.self).pointee += 1
  }

  private let places = Places()
  private var keys: [UnsafeRawPointer] { (0..<4).map { UnsafeRawPointer(places[$0]) } }

  private func keep(_ object: UnsafeMutablePointer<kvo_object>, _ key: Int, _ value: Int?) {
    let status = kvo_object_associate(
      object, keys[key], value.map { places[$0] }, Self.release, nil)
    expectEqual(status, .KVO_OK)
  }

  private func read(_ object: UnsafeMutablePointer<kvo_object>, _ key: Int) -> Int? {
    kvo_object_associated(object, keys[key], nil).map { found in
      (0..<8).first { places[$0] == found } ?? -1
    }
  }

  @Test("P2: a value is released when it is replaced, set to nil, or its object dies")
  func ends() {
    let object = make(gauge.self)
    keep(object.object, 0, 0)
    keep(object.object, 1, 1)
    expect(read(object.object, 0) == 0 && read(object.object, 1) == 1)
    expect(read(object.object, 2) == nil)
    keep(object.object, 0, 2)
    expectEqual(read(object.object, 0), 2)
    expectEqual(places.all, [1, 0, 0, 0, 0, 0, 0, 0])
    keep(object.object, 1, nil)
    keep(object.object, 1, nil)
    expect(read(object.object, 1) == nil && places.all == [1, 1, 0, 0, 0, 0, 0, 0])
    keep(object.object, 3, 3)
    object.release()
    expectEqual(places.all, [1, 1, 1, 1, 0, 0, 0, 0])
  }

  @Test("P2: values stay while registrations are added and removed, and the reverse")
  func registrations() {
    let object = make(gauge.self)
    let probe = Probe()
    let first = probe.register(object.object, "first")
    keep(object.object, 0, 0)
    gauge_setFirst(object, 1)
    let others = ["second", "first", "second"].map { probe.register(object.object, $0) }
    expectEqual(read(object.object, 0), 0)
    kvo_handle_release(first)
    for handle in others { kvo_handle_release(handle) }
    expectEqual(kvo_isa(object.object), gauge_class())
    gauge_setFirst(object, 2)
    expect(read(object.object, 0) == 0 && probe.calls == 1)
    keep(object.object, 0, nil)
    expect(object.object.pointee.observations == nil)
    object.release()
  }

  @Test("P2: a value without a release function is not released")
  func plain() {
    let object = make(gauge.self)
    expectEqual(kvo_object_associate(object.object, keys[0], places[5], nil, nil), .KVO_OK)
    keep(object.object, 1, 1)
    object.release()
    expectEqual(places.all, [0, 1, 0, 0, 0, 0, 0, 0])
  }

  // A unique address.
  private nonisolated(unsafe) static let key = UnsafeMutablePointer<CChar>.allocate(capacity: 1)
  private static let keepOnceMore: @convention(c) (UnsafeMutableRawPointer) -> Void = { value in
    let object = value.assumingMemoryBound(to: kvo_object.self)
    expect(!kvo_object_try_retain(object))
    let last: @convention(c) (UnsafeMutableRawPointer) -> Void = { _ in lastCalls.add() }
    expectEqual(kvo_object_associate(object, key, value, last, nil), .KVO_OK)
    expectEqual(kvo_object_associated(object, key, nil), value)
  }
  private static let lastCalls = Count()

  @Test("P2: a value added while the object dies is released as well; no new reference is given")
  func whileDying() {
    let object = make(gauge.self)
    expect(kvo_object_try_retain(object.object))
    kvo_object_release(object.object)
    let status = kvo_object_associate(
      object.object, keys[0], object.object, Self.keepOnceMore, nil)
    expectEqual(status, .KVO_OK)
    object.release()
    expectEqual(Self.lastCalls.value, 1)
  }

  @Test("P2: `retain` is called with the current value")
  func retains() {
    let object = make(gauge.self)
    keep(object.object, 0, 7)
    expectEqual(kvo_object_associated(object.object, keys[0], Self.release), places[7])
    expect(kvo_object_associated(object.object, keys[1], Self.release) == nil)
    expectEqual(places.all[7], 1)
    object.release()
  }
}
