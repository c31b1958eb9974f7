import CFixtures
import CKVORuntime
import Expectations
import TestSupport
import Testing

extension tally: CInstance {
  static var cClass: CClass { tally_class() }
}

extension stored_path: CInstance {
  static var cClass: CClass { stored_path_class() }
}

/// F5: computed keys that a binding tracks, where a getter usually reads the same again.
@Suite struct TrackingTests {
  @Test(
    "C12 F5: a key with a dot is tracked as a key, but is a key path when named as a string")
  func divided() {
    var isPath = false
    expectEqual(moving_reads_calls_of_divided(&isPath), 2)
    expect(isPath)
  }

  @Test("F5: a computed key is read once per change, and once before it only if old is wanted")
  func once() {
    for (options, got) in [([], 0), (.KVO_NEW, 0), ([.KVO_OLD, .KVO_NEW], 1)]
      as [(kvo_options, Int32)]
    {
      let object = make(tally.self)
      let log = Recorder()
      log.observe(object.object, "chosen", options)
      for x in 1...3 {
        object.pointee.tracked = 0
        object.pointee.got = 0
        tally_setX(object, x)
        expectEqual(object.pointee.tracked, 1)
        expectEqual(object.pointee.got, got)
        let values =
          (got > 0 ? " old \(x - 1)" : "") + (options.contains(.KVO_NEW) ? " new \(x)" : "")
        expectEqual(log.take(), ["a: chosen\(values)"])
      }
      log.end()
      object.release()
    }
  }

  @Test(
    "F5 G4 F1: a path of stored properties is reread only if a link or its class has changed"
  )
  func route() async {
    // In a process of its own: while another thread declares a class, a path that is read gets no cache.
    await #expect(processExitsWith: .success) { TrackingTests.followStoredPath() }
  }

  private static func followStoredPath() {
    let (root, first, second) = (
      make(stored_path.self), make(stored_path.self), make(stored_path.self)
    )
    let log = Recorder()
    stored_path_setNext(root, first)
    log.observe(root.object, "behind", [.KVO_OLD, .KVO_NEW])
    func tracked(_ body: () -> Void) -> Bool {
      root.pointee.tracked = 0
      body()
      return root.pointee.tracked > 0
    }
    expect(!tracked { stored_path_setX(first, 1) })
    expectEqual(log.take(), ["a: behind old 0 new 1"])
    kvo_class_forget_dependencies(stored_path_class())
    expect(tracked { stored_path_setX(first, 2) })
    expect(!tracked { stored_path_setX(first, 3) })
    expectEqual(log.take(), ["a: behind old 1 new 2", "a: behind old 2 new 3"])
    // Direct stores do not notify.
    root.pointee.next = second
    expect(tracked { stored_path_setX(first, 4) })
    expectEqual(log.take(), [])
    stored_path_setX(second, 1)
    expectEqual(log.take(), ["a: behind old 0 new 1"])
    root.pointee.next = first
    stored_path_setNext(root, nil)
    stored_path_setNext(root, second)
    expectEqual(log.take(), ["a: behind old 4 new -1", "a: behind old -1 new 1"])
    expect(!tracked { stored_path_setX(second, 2) })
    expectEqual(log.take(), ["a: behind old 1 new 2"])
    log.end()
    for object in [root, first, second] { object.release() }
  }

  @Test("F5: another property of the same object, read instead of the first, is followed")
  func anotherKey() {
    let object = make(tally.self)
    let log = Recorder()
    log.observe(object.object, "chosen", .KVO_NEW)
    tally_setX(object, 1)
    tally_setWhich(object, 1)
    tally_setY(object, 2)
    expectEqual(log.take(), ["a: chosen new 1", "a: chosen new 0", "a: chosen new 2"])
    tally_setX(object, 3)
    expectEqual(log.take(), [])
    tally_setWhich(object, 0)
    tally_setX(object, 4)
    expectEqual(log.take(), ["a: chosen new 3", "a: chosen new 4"])
    log.end()
    object.release()
  }

  @Test("F5: what is no longer read is no longer followed, and is again once it is read again")
  func fewer() {
    let objects = (0..<3).map { _ in make(tally.self) }
    let log = Recorder()
    tally_setNext(objects[0], objects[1])
    tally_setNext(objects[1], objects[2])
    log.observe(objects[0].object, "total", .KVO_NEW)
    tally_setX(objects[2], 1)
    tally_setX(objects[2], 2)
    tally_setNext(objects[1], nil)
    tally_setX(objects[2], 3)
    expectEqual(log.take(), ["a: total new 1", "a: total new 2", "a: total new 0"])
    tally_setNext(objects[1], objects[2])
    tally_setX(objects[2], 4)
    tally_setNext(objects[0], objects[2])
    tally_setX(objects[1], 5)
    tally_setX(objects[2], 6)
    expectEqual(
      log.take(),
      [
        "a: total new 3", "a: total new 4", "a: total new 4", "a: total new 6",
      ])
    tally_setNext(objects[1], nil)
    log.end()
    releaseAll(objects)
  }

  @Test("F5: an object that was read may die, and its replacement is followed")
  func death() {
    let object = make(tally.self)
    let log = Recorder()
    log.observe(object.object, "total", .KVO_NEW)
    for x in 1...40 {
      let next = make(tally.self)
      tally_setNext(object, next)
      next.release()
      tally_setX(next, x)
      tally_setX(next, x + 1)
      expectEqual(log.take().last, "a: total new \(x + 1)")
    }
    tally_setNext(object, nil)
    tally_setX(object, 7)
    expectEqual(log.take(), ["a: total new 0", "a: total new 7"])
    log.end()
    object.release()
  }

  @Test("F5 D5: what a getter sets while it runs is in the value delivered last")
  func setByAnotherGetter() {
    let object = make(tally.self)
    let log = Recorder()
    log.observe(object.object, "both", .KVO_NEW)
    log.observe(object.object, "echo", .KVO_NEW, as: "b")
    object.pointee.echoes = true
    tally_setX(object, 3)
    expectEqual(log.take().last { $0.hasPrefix("a:") }, "a: both new 303")
    log.end()
    object.release()
  }

  @Test("F5 D3: a computed key delivers only distinct changes to observers that ask for them")
  func distinct() {
    let object = make(tally.self)
    let log = Recorder()
    log.observe(object.object, "chosen", [.KVO_NEW, .KVO_DISTINCT])
    for x in [1, 1, 2] { tally_setX(object, x) }
    expectEqual(log.take(), ["a: chosen new 1", "a: chosen new 2"])
    log.end()
    object.release()
  }
}
