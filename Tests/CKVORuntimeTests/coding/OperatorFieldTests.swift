import CFixtures
import CKVORuntime
import Expectations
import TestSupport
import Testing

/// B6: operators read fields directly and look accessors up once per class. The result is the same as from the
/// getters.
@Suite struct OperatorFieldTests {
  @Test("B6: numbers of every kind are folded alike, read from fields or by getters")
  func kinds() async {
    await #expect(processExitsWith: .success) {
      var random = Random(seed: 66)
      for _ in 0..<20 {
        let objects = (0..<random.next(6)).map { _ in makeScalars(&random) }
        let many = collection(of: objects.map(\.object))
        for key in numberKeys {
          for path in ["@sum.\(key)", "@avg.\(key)", "@min.\(key)", "@max.\(key)"] {
            let both = readBothWays(many.object, path)
            expectEqual(both.short, both.long, "\(path)")
          }
        }
        expectEqual(Double(readPath(many.object, "@sum.real")), objects.map(\.pointee.real).sum)
        expectEqual(
          Double(readPath(many.object, "@sum.int32")), objects.map { Double($0.pointee.int32) }.sum)
        releaseAll(objects)
      }
    }
  }

  @Test("B5 B6: elements of several classes are each read in their own way, in any order")
  func classes() {
    let crew = Crew()
    let boss = crew.make()
    let worker = crew.make("w", age: 1)
    let other = crew.make("v", age: 20)
    // Its class computes ages in its own way.
    let oracle = make(oracle.self)
    oracle.pointee.worker.age = 300
    let objects = [worker.object, other.object, oracle.object]
    for order in [[0, 1, 2], [0, 2, 1], [2, 0, 1], [2, 1, 0]] {
      boss.lead(order.map { objects[$0] })
      expectEqual(readPath(boss.object, "staff.@sum.age"), "1321")
      expectEqual(readPath(boss.object, "staff.@max.age"), "1300")
      expectEqual(readPath(boss.object, "staff.@sum.staff.@count"), "0")
    }
    worker_setStaff(boss, nil)
    oracle.release()
    crew.end()
  }

  @Test("B6: nil, numbers and objects in one collection")
  func mixtures() {
    let account = make(account.self)
    account.pointee.balance = 2.5
    var held = kvo_value_object(account.object)
    defer { kvo_value_destroy(&held) }
    let elements = [kvo_value(), held, kvo_value()]
    let many = Many(.KVO_ARRAY, elements: elements)
    expectEqual(readPath(many.object, "@sum.balance"), "2.5")
    expectEqual(readPath(many.object, "@avg.balance"), "\(2.5 / 3)")
    let wrong = Many(.KVO_ARRAY, elements: elements + [kvo_value_int(1)])
    expect(readPath(wrong.object, "@sum.balance").hasPrefix("KVO_INVALID_KEY_PATH"))
    account.release()
  }

  @Test(
    "B4 B6: a getter that a class gets during the reading answers from then on")
  func newGetter() {
    let cls = interrupted_account_subclass("CInterludeOfNewGetter")
    interrupted_account_interrupt_getter(cls)
    let objects = (0..<3).map { _ in
      UnsafeMutableRawPointer(make(cls)).assumingMemoryBound(to: interrupted_account.self)
    }
    for object in objects { object.pointee.account.balance = 1 }
    objects[0].pointee.context = UnsafeMutableRawPointer(mutating: UnsafeRawPointer(cls))
    objects[0].pointee.during = { interrupted_account_add_getter(OpaquePointer($0!)) }
    let many = collection(of: objects.map(\.object))
    expectEqual(readPath(many.object, "@sum.balance"), "2001.0")
    releaseAll(objects)
  }

  @Test("B6 F5: what an operator reads is passed to the read recorder")
  func recorded() async {
    await #expect(processExitsWith: .success) {
      let objects = (0..<3).map { _ in make(account.self) }
      for object in objects { object.pointee.balance = 1 }
      let many = collection(of: objects.map(\.object))
      var notified = 0
      kvo_set_read_listener { recorder, _, _ in
        recorder.assumingMemoryBound(to: Int.self).pointee += 1
      }
      expectEqual(readPath(many.object, "@sum.balance"), "3.0")
      withUnsafeMutablePointer(to: &notified) { notified in
        kvo_set_recorder(notified)
        expectEqual(readPath(many.object, "@sum.balance"), "3.0")
        expectEqual(readPath(many.object, "@max.balance"), "1.0")
        kvo_set_recorder(nil)
      }
      expectEqual(notified, 6)
      releaseAll(objects)
    }
  }

  @Test("B6: a getter may release the collection that is being folded")
  func collectionLetGo() {
    let cls = interrupted_account_subclass("CInterludeThatLetsGo")
    interrupted_account_interrupt_getter(cls)
    let crew = Crew()
    let boss = crew.make()
    let objects = (0..<3).map { _ in
      UnsafeMutableRawPointer(make(cls)).assumingMemoryBound(to: interrupted_account.self)
    }
    for object in objects { object.pointee.account.balance = 1 }
    objects[0].pointee.context = UnsafeMutableRawPointer(boss)
    objects[0].pointee.during = { worker_setStaff($0!.assumingMemoryBound(to: worker.self), nil) }
    boss.lead(objects.map(\.object))
    for object in objects { object.release() }
    expectEqual(readPath(boss.object, "staff.@sum.balance"), "3.0")
    expectEqual(readPath(boss.object, "staff.@sum.balance"), "nil")
    crew.end()
  }
}

private func collection(of objects: [CObject]) -> Many {
  var values = objects.map { kvo_value_object($0) }
  defer { for i in values.indices { kvo_value_destroy(&values[i]) } }
  return Many(.KVO_ARRAY, elements: values)
}

private let numberKeys = [
  "flag", "letter", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
  "longest", "ulongest", "single", "real", "extended",
]

private func makeScalars(_ random: inout Random) -> UnsafeMutablePointer<scalars> {
  let made = make(scalars.self)
  let number = random.next(1 << 30) - 1 << 29
  let real = Double(number) / 1024
  let large = random.next(2) == 0 ? UInt64.max - UInt64(random.next(100)) : UInt64(random.next(100))
  made.pointee.flag = number & 1 == 1
  made.pointee.letter = CChar(truncatingIfNeeded: number)
  made.pointee.int8 = Int8(truncatingIfNeeded: number)
  made.pointee.uint8 = UInt8(truncatingIfNeeded: number)
  made.pointee.int16 = Int16(truncatingIfNeeded: number)
  made.pointee.uint16 = UInt16(truncatingIfNeeded: number)
  made.pointee.int32 = Int32(truncatingIfNeeded: number)
  made.pointee.uint32 = UInt32(truncatingIfNeeded: number)
  made.pointee.int64 = number
  made.pointee.uint64 = UInt(large)
  made.pointee.longest = Int64(number)
  made.pointee.ulongest = large
  made.pointee.single = Float(real)
  made.pointee.real = real
  storeNumber(made.object, "extended", real)
  return made
}

private func storeNumber(_ object: CObject, _ key: String, _ number: Double) {
  var value = kvo_value_double(number)
  kvo_set_value_for_key(object, key, &value, nil)
}

private func readBothWays(_ object: CObject, _ path: String) -> (short: String, long: String) {
  kvo_set_fast_path_disabled(false)
  let short = readPath(object, path)
  kvo_set_fast_path_disabled(true)
  let long = readPath(object, path)
  kvo_set_fast_path_disabled(false)
  return (short, long)
}

extension [Double] {
  fileprivate var sum: Double { reduce(0, +) }
}
