import CFixtures
import CKVORuntime
import Expectations
import TestSupport
import Testing

/// G5: objects that a key path has left while the change of its link is still open.
@Suite(.recording) struct LeftPathTests {
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
    "G5: the link's change is delivered from the value that was delivered last",
    arguments: LinkChange.allCases)
  func lastDelivered(_ way: LinkChange) {
    let path = Path()
    path.log.observe(path.root.object, "branch.mark", [.KVO_OLD, .KVO_NEW])
    way.make(path) {
      // In a batch a link is open when it is stored.
      if way != .batch { tracked_setMark(path.first, 7) }
      path.store(path.second, by: way)
      tracked_setMark(path.first, 100)
      path.store(path.first, by: way)
      tracked_setMark(path.first, 8)
    }
    let before = way == .batch ? [] : ["a: branch.mark old 1 new 7"]
    let last = way == .batch ? "1" : "7"
    expectEqual(
      path.log.take(),
      before + ["a: branch.mark old \(last) new 8", "a: branch.mark old 8 new 8"])
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
      let change = kvo_uniform_will_key(path.root.object, kvo_key_intern("branch")!)
      body()
      kvo_uniform_did_key(change!, kvo_key_intern("branch")!)
    }
  }
}

private func dependentClass() -> CClass {
  let cls = kvo_class_create("CLeftDependent", account_class(), MemoryLayout<account>.size, nil)!
  kvo_class_add_dependency(cls, "balance", "branch.mark", nil)
  kvo_class_register(cls, nil)
  return cls
}
