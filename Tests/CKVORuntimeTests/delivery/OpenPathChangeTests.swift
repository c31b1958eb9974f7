import CFixtures
import CKVORuntime
import Expectations
import TestSupport
import Testing

/// G5: changes behind a link whose own change is open are part of it.
@Suite(.recording) struct OpenPathChangeTests {
  @Test(
    "G5: once a link is stored, the object that it has left reaches no observer of the path",
    arguments: LinkChange.allCases, [[.KVO_OLD, .KVO_NEW], .KVO_OLD, .KVO_NEW] as [kvo_options])
  func left(_ way: LinkChange, _ options: kvo_options) {
    let path = Path()
    path.log.observe(path.root.object, "branch.mark", options)
    way.make(path) {
      path.store(path.second, by: way)
      tracked_setMark(path.first, 100)
      tracked_setMark(path.second, 3)
    }
    let old = options.contains(.KVO_OLD) ? " old 1" : ""
    let new = options.contains(.KVO_NEW) ? " new 3" : ""
    expectEqual(path.log.take(), ["a: branch.mark\(old)\(new)"])
    tracked_setMark(path.first, 5)
    tracked_setMark(path.second, 4)
    expectEqual(path.log.take().count, 1)
    path.end()
  }

  @Test(
    "G5: the link's change leads from the value that was delivered last",
    arguments: LinkChange.allCases)
  func lastDelivered(_ way: LinkChange) {
    let path = Path()
    path.log.observe(path.root.object, "branch.mark", [.KVO_OLD, .KVO_NEW])
    way.make(path) {
      if way == .batch { account_setBranch(path.root, path.first) }
      tracked_setMark(path.first, 7)
      path.store(path.second, by: way)
      tracked_setMark(path.first, 100)
      path.store(path.first, by: way)
      tracked_setMark(path.first, 8)
    }
    tracked_setMark(path.first, 9)
    expectEqual(
      path.log.take(), ["a: branch.mark old 1 new 8", "a: branch.mark old 8 new 9"])
    path.end()
  }

  @Test("G5 D6: of pairs that cross, the one that ends after the link's change is notified")
  func crossing() {
    let path = Path()
    path.log.observe(path.root.object, "branch.mark", [.KVO_PRIOR, .KVO_OLD, .KVO_NEW])
    kvo_will_change(path.root.object, "branch")
    kvo_will_change(path.first.object, "mark")
    kvo_did_change(path.root.object, "branch")
    path.first.pointee.mark = 5
    kvo_did_change(path.first.object, "mark")
    expectEqual(
      path.log.take(),
      [
        "a: prior branch.mark old 1", "a: branch.mark old 1 new 1", "a: prior branch.mark old 5",
        "a: branch.mark old 5 new 5",
      ])
    kvo_will_change(path.first.object, "mark")
    kvo_will_change(path.root.object, "branch")
    path.first.pointee.mark = 6
    kvo_did_change(path.first.object, "mark")
    kvo_did_change(path.root.object, "branch")
    expectEqual(
      path.log.take(),
      [
        "a: prior branch.mark old 5", "a: prior branch.mark old 5", "a: branch.mark old 5 new 6",
        "a: branch.mark old 5 new 6",
      ])
    path.end()
  }

  @Test(
    "G5: an observer that is registered while the link's change is open is notified of inner changes"
  )
  func registeredWithin() {
    let path = Path()
    path.log.observe(path.root.object, "branch.mark", [.KVO_NEW])
    kvo_will_change(path.root.object, "branch")
    let later = Recorder()
    later.observe(path.root.object, "branch.mark", [.KVO_NEW])
    tracked_setMark(path.first, 5)
    expectEqual(later.take(), ["a: branch.mark new 5"])
    expectEqual(path.log.take(), [])
    kvo_did_change(path.root.object, "branch")
    expectEqual(path.log.take(), ["a: branch.mark new 5"])
    later.end()
    path.end()
  }

  @Test("G5: an object that is reached by another path as well notifies the other's observers")
  func otherPath() {
    let path = Path()
    let other = make(account.self)
    account_setBranch(other, path.first)
    path.log.observe(path.root.object, "branch.mark", [.KVO_NEW])
    path.log.observe(other.object, "branch.mark", [.KVO_NEW], as: "b")
    path.log.observe(path.first.object, "mark", [.KVO_NEW], as: "c")
    coalescing(path.root.object) {
      account_setBranch(path.root, path.second)
      tracked_setMark(path.first, 5)
      expectEqual(path.log.take(), ["b: branch.mark new 5", "c: mark new 5"])
    }
    expectEqual(path.log.take(), ["a: branch.mark new 2"])
    other.release()
    path.end()
  }

  @Test("G5: a change by another thread is notified, though this one has the link's change open")
  func otherThread() {
    let path = Path()
    path.log.observe(path.root.object, "branch.mark", [.KVO_OLD, .KVO_NEW])
    kvo_will_change(path.root.object, "branch")
    onAnotherThread { tracked_setMark(path.first, 5) }
    expectEqual(path.log.take(), ["a: branch.mark old 1 new 5"])
    kvo_did_change(path.root.object, "branch")
    expectEqual(path.log.take(), ["a: branch.mark old 1 new 5"])
    path.end()
  }

  @Test("G5 D8: a will that is left open silences what is behind it on its own thread alone")
  func leftOpen() {
    let path = Path()
    path.log.observe(path.root.object, "branch.mark", [.KVO_NEW])
    onAnotherThread { kvo_will_change(path.root.object, "branch") }
    tracked_setMark(path.first, 5)
    onAnotherThread { tracked_setMark(path.first, 6) }
    expectEqual(path.log.take(), ["a: branch.mark new 5", "a: branch.mark new 6"])
    path.end()
  }

  @Test("G5: in an element's own observer, after the link's change, elements notify one by one")
  func afterwards() {
    let path = Path()
    path.log.observe(path.root.object, "branch.mark", [.KVO_NEW]) { _ in
      if path.second.pointee.mark == 2 { tracked_setMark(path.second, 3) }
    }
    account_setBranch(path.root, path.second)
    expectEqual(path.log.take(), ["a: branch.mark new 2", "a: branch.mark new 3"])
    path.end()
  }

  @Test("G5 D5: prior calls are made for the link's change alone", arguments: LinkChange.allCases)
  func prior(_ way: LinkChange) {
    let path = Path()
    path.log.observe(path.root.object, "branch.mark", [.KVO_PRIOR, .KVO_OLD, .KVO_NEW])
    way.make(path) {
      path.store(path.second, by: way)
      tracked_setMark(path.first, 100)
    }
    expectEqual(
      path.log.take(), ["a: prior branch.mark old 1", "a: branch.mark old 1 new 2"])
    path.end()
  }

  @Test("G5 D3: an observer that asks for distinct changes is notified by the link's change alone")
  func distinct() {
    let path = Path()
    path.log.observe(path.root.object, "branch.mark", [.KVO_NEW, .KVO_DISTINCT])
    coalescing(path.root.object) {
      account_setBranch(path.root, path.second)
      tracked_setMark(path.first, 100)
      tracked_setMark(path.second, 1)
    }
    expectEqual(path.log.take(), [])
    account_setBranch(path.root, path.first)
    expectEqual(path.log.take(), ["a: branch.mark new 100"])
    path.end()
  }

  @Test("G5 M1: a batch leaves an observer that several of its keys reach to the link's change")
  func severalKeys() {
    let cls = kvo_class_create("CTwoKeys", tally_class(), MemoryLayout<tally>.size, nil)!
    for path in ["next.x", "next.y"] { kvo_class_add_dependency(cls, "y", path, nil) }
    kvo_class_register(cls, nil)
    let root = UnsafeMutableRawPointer(make(cls)).assumingMemoryBound(to: tally.self)
    let next = make(tally.self)
    tally_setNext(root, next)
    let log = Recorder()
    log.observe(root.object, "y", [.KVO_PRIOR])
    kvo_will_change(root.object, "next")
    expectEqual(log.take(), ["a: prior y"])
    coalescing(next.object) {
      tally_setX(next, 5)
      tally_setY(next, 6)
    }
    expectEqual(log.take(), [])
    kvo_did_change(root.object, "next")
    expectEqual(log.take(), ["a: y"])
    log.end()
    root.release()
    next.release()
  }

  @Test("G5 E4 M1: what is left to a link's change stays so if a batch gets an observer as well")
  func batchInMutation() {
    let cls = kvo_class_create("CShift", tally_class(), MemoryLayout<tally>.size, nil)!
    for path in ["x", "next.x"] { kvo_class_add_dependency(cls, "y", path, nil) }
    kvo_class_register(cls, nil)
    let roots = (0..<2).map { _ in
      UnsafeMutableRawPointer(make(cls)).assumingMemoryBound(to: tally.self)
    }
    let next = make(tally.self)
    let log = Recorder()
    for (root, name) in zip(roots, ["a", "b"]) {
      tally_setNext(root, next)
      log.observe(root.object, "y", as: name)
    }
    kvo_will_change(roots[1].object, "next")
    coalescing(roots[0].object) {
      let x = kvo_key_intern("x")!
      let mutation = kvo_stored_property_will_change_key_in_place(roots[0].object, x)
      tally_setX(next, 5)
      mutation.map { kvo_stored_property_did_change($0) }
      expectEqual(log.take(), [])
    }
    expectEqual(log.take(), ["a: y"])
    kvo_did_change(roots[1].object, "next")
    expectEqual(log.take(), ["b: y"])
    log.end()
    for root in roots { root.release() }
    next.release()
  }

  @Test("G5 D6: of crossing pairs of links two may be open at once, however many there are")
  func ladder() {
    withLinks(80) { roots, next, log in
      kvo_will_change(roots[0].object, "next")
      for (index, newer) in roots.enumerated().dropFirst() {
        kvo_will_change(newer.object, "next")
        kvo_did_change(roots[index - 1].object, "next")
        _ = log.take()
        tally_setX(next, index)
        expectEqual(log.take().count, roots.count - 1, "\(index)")
      }
      kvo_did_change(roots[79].object, "next")
    }
  }

  @Test("G5: a thread's changes are part of those of 62 links, and notify observers behind others")
  func manyLinks() {
    withLinks(64) { roots, next, log in
      for root in roots { kvo_will_change(root.object, "next") }
      tally_setX(next, 5)
      expectEqual(log.take(), ["62: next.x", "63: next.x"])
      for root in roots { kvo_did_change(root.object, "next") }
      expectEqual(log.take(), roots.indices.map { "\($0): next.x" })
    }
  }

  /// Objects that all lead to one, with an observer of each path, named by its number.
  private func withLinks(
    _ count: Int,
    _ body: ([UnsafeMutablePointer<tally>], UnsafeMutablePointer<tally>, Recorder) -> Void
  ) {
    let roots = (0..<count).map { _ in make(tally.self) }
    let (next, log) = (make(tally.self), Recorder())
    for (index, root) in roots.enumerated() {
      tally_setNext(root, next)
      log.observe(root.object, "next.x", as: "\(index)")
    }
    body(roots, next, log)
    log.end()
    for root in roots { root.release() }
    next.release()
  }

  @Test(
    "G5 F1 M1: a key that two paths lead to is notified if the change of only one's link is open",
    arguments: [["next.x", "next.next.x"], ["next.next.x", "next.x"]])
  func twoPaths(_ paths: [String]) {
    let cls = kvo_class_create(
      "CTwoPaths\(paths[0].count)", tally_class(), MemoryLayout<tally>.size, nil)!
    for path in paths { kvo_class_add_dependency(cls, "y", path, nil) }
    kvo_class_register(cls, nil)
    let root = UnsafeMutableRawPointer(make(cls)).assumingMemoryBound(to: tally.self)
    let next = make(tally.self)
    tally_setNext(root, next)
    tally_setNext(next, next)
    let log = Recorder()
    log.observe(root.object, "y", [.KVO_PRIOR])
    kvo_will_change(next.object, "next")
    expectEqual(log.take(), ["a: prior y"])
    tally_setX(next, 5)
    expectEqual(log.take(), ["a: prior y", "a: y"])
    kvo_did_change(next.object, "next")
    expectEqual(log.take(), ["a: y"])
    kvo_will_change(next.object, "next")
    log.observe(next.object, "y", as: "b")
    let batch = kvo_batch_begin(next.object)
    tally_setX(next, 6)
    expectEqual(log.take(), ["a: prior y", "a: prior y"])
    tally_setY(next, 7)
    expectEqual(log.take(), [])
    batch.map { kvo_batch_end($0) }
    expectEqual(log.take(), ["a: y", "b: y"])
    kvo_did_change(next.object, "next")
    expectEqual(log.take(), ["a: y"])
    log.end()
    tally_setNext(next, nil)
    root.release()
    next.release()
  }

  /// A class of its own, since another test counts how often objects of the class itself are tracked.
  private func makeStoredPaths(
    _ name: String, _ count: Int
  ) -> [UnsafeMutablePointer<stored_path>] {
    let cls = kvo_class_create(name, stored_path_class(), MemoryLayout<stored_path>.size, nil)!
    kvo_class_register(cls, nil)
    return (0..<count).map { _ in
      UnsafeMutableRawPointer(make(cls)).assumingMemoryBound(to: stored_path.self)
    }
  }

  @Test(
    "G5 F6: a tracked path passes through an object of which another property has an open change")
  func otherProperty() {
    let objects = makeStoredPaths("COpenTurn", 2)
    let (root, next) = (objects[0], objects[1])
    stored_path_setNext(root, root)
    let log = Recorder()
    log.observe(root.object, "behind", [.KVO_OLD, .KVO_NEW])
    kvo_will_change(root.object, "x")
    stored_path_setNext(root, next)
    stored_path_setX(next, 5)
    expectEqual(log.take(), ["a: behind old 0 new 0", "a: behind old 0 new 5"])
    kvo_did_change(root.object, "x")
    expectEqual(log.take(), [])
    log.end()
    root.release()
    next.release()
  }

  @Test("G5 F6: a tracked path is silent behind a link of the object that is changed")
  func ownLink() {
    let root = makeStoredPaths("COpenLoop", 1)[0]
    stored_path_setNext(root, root)
    let log = Recorder()
    log.observe(root.object, "behind", [.KVO_OLD, .KVO_NEW])
    kvo_will_change(root.object, "next")
    stored_path_setX(root, 5)
    expectEqual(log.take(), [])
    kvo_did_change(root.object, "next")
    expectEqual(log.take(), ["a: behind old 0 new 5"])
    log.end()
    stored_path_setNext(root, nil)
    root.release()
  }

  @Test("G5 Q6: a tracked key with a link is silent behind it while the link's change is open")
  func ownLinkOfKey() {
    let objects = makeStoredPaths("COpenSum", 2)
    let (root, next) = (objects[0], objects[1])
    stored_path_setNext(root, next)
    let log = Recorder()
    log.observe(root.object, "sum", [.KVO_OLD, .KVO_NEW])
    kvo_will_change(root.object, "next")
    stored_path_setX(next, 5)
    expectEqual(log.take(), [])
    kvo_did_change(root.object, "next")
    expectEqual(log.take(), ["a: sum old 0 new 5"])
    log.end()
    root.release()
    next.release()
  }

  @Test("G5: a number that a path has read is part of a link to another object")
  func numberSelects() {
    let objects = makeStoredPaths("COpenNumber", 2)
    let (root, next) = (objects[0], objects[1])
    stored_path_setNext(root, next)
    let log = Recorder()
    log.observe(root.object, "sum", [.KVO_OLD, .KVO_NEW])
    kvo_will_change(root.object, "x")
    stored_path_setX(next, 5)
    expectEqual(log.take(), [])
    kvo_did_change(root.object, "x")
    expectEqual(log.take(), ["a: sum old 0 new 5"])
    log.end()
    root.release()
    next.release()
  }

  @Test("G5: the properties of one object that a computed link reads are beside each other")
  func besideLink() {
    let root = makeStoredPaths("COpenBeside", 1)[0]
    let log = Recorder()
    log.observe(root.object, "sum", [.KVO_OLD, .KVO_NEW])
    kvo_will_change(root.object, "next")
    stored_path_setX(root, 5)
    expectEqual(log.take(), ["a: sum old 0 new 5"])
    kvo_did_change(root.object, "next")
    expectEqual(log.take(), ["a: sum old 0 new 5"])
    log.end()
    root.release()
  }

  @Test("G5: a number that a path has read does not lead to its own object")
  func numberOfSameObject() {
    let objects = makeStoredPaths("COpenArea", 2)
    let (root, next) = (objects[0], objects[1])
    stored_path_setX(next, 1)
    stored_path_setY(next, 1)
    stored_path_setNext(root, next)
    let log = Recorder()
    log.observe(root.object, "area", [.KVO_OLD, .KVO_NEW])
    kvo_will_change(next.object, "y")
    stored_path_setX(next, 5)
    expectEqual(log.take(), ["a: area old 1 new 5"])
    kvo_did_change(next.object, "y")
    expectEqual(log.take(), ["a: area old 1 new 5"])
    log.end()
    root.release()
    next.release()
  }

  @Test("G5 F6: a tracked path is notified of the change of a property on its way alone")
  func trackedPath() {
    let objects = makeStoredPaths("COpenTrail", 2)
    let (root, next) = (objects[0], objects[1])
    stored_path_setNext(root, next)
    let log = Recorder()
    log.observe(root.object, "behind", [.KVO_OLD, .KVO_NEW])
    kvo_will_change(root.object, "next")
    stored_path_setX(next, 5)
    expectEqual(log.take(), [])
    kvo_did_change(root.object, "next")
    stored_path_setX(next, 6)
    expectEqual(log.take(), ["a: behind old 0 new 5", "a: behind old 5 new 6"])
    log.end()
    root.release()
    next.release()
  }

  @Test("G5: a link's change that is cancelled ends with a notification if it stands for others")
  func cancelled() {
    let path = Path()
    path.log.observe(path.root.object, "branch.mark", [.KVO_OLD, .KVO_NEW])
    for mark in [nil, 5, nil] as [Int32?] {
      let change = kvo_stored_property_will_change_key(path.root.object, kvo_key_intern("branch")!)
      if let mark { tracked_setMark(path.first, mark) }
      kvo_stored_property_cancel_change(change!)
      expectEqual(path.log.take(), mark == nil ? [] : ["a: branch.mark old 1 new 5"])
    }
    path.end()
  }

  @Test("G5 F1: a key that depends on a path is not affected by an object that the path has left")
  func dependency() {
    let path = Path(of: dependentClass())
    path.log.observe(path.root.object, "balance")
    kvo_will_change(path.root.object, "branch")
    path.store(path.second, by: .pair)
    tracked_setMark(path.first, 5)
    expectEqual(path.log.take(), [])
    kvo_did_change(path.root.object, "branch")
    expectEqual(path.log.take(), ["a: balance"])
    path.end()
  }
}

/// A key path of two objects, and another object for its link.
private final class Path {
  let root: UnsafeMutablePointer<account>
  let first = make(tracked.self)
  let second = make(tracked.self)
  let log = Recorder()

  init(of cls: CClass = account_class()) {
    root = UnsafeMutableRawPointer(make(cls)).assumingMemoryBound(to: account.self)
    tracked_setMark(first, 1)
    tracked_setMark(second, 2)
    account_setBranch(root, first)
  }

  /// Stores the link as code inside the change does.
  func store(_ target: UnsafeMutablePointer<tracked>, by way: LinkChange) {
    if way == .batch {
      account_setBranch(root, target)
    } else {
      kvo_object_retain(target.object)
      kvo_object_release(
        UnsafeMutableRawPointer(root.pointee.branch!).assumingMemoryBound(to: kvo_object.self))
      root.pointee.branch = target
    }
  }

  func end() {
    log.end()
    root.release()
    first.release()
    second.release()
  }
}

/// Ways in which a link's change may be open.
enum LinkChange: CaseIterable {
  case batch, pair, setter

  fileprivate func make(_ path: Path, _ body: @escaping () -> Void) {
    switch self {
    case .batch: coalescing(path.root.object, body)
    case .pair:
      kvo_will_change(path.root.object, "branch")
      body()
      kvo_did_change(path.root.object, "branch")
    case .setter:
      let change = kvo_stored_property_will_change_key(path.root.object, kvo_key_intern("branch")!)
      body()
      kvo_stored_property_did_change_key(change!, kvo_key_intern("branch")!)
    }
  }
}

private func dependentClass() -> CClass {
  let cls = kvo_class_create("CLeftDependent", account_class(), MemoryLayout<account>.size, nil)!
  kvo_class_add_dependency(cls, "balance", "branch.mark", nil)
  kvo_class_register(cls, nil)
  return cls
}
