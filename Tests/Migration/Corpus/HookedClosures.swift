// Closures that observe, in an extension of NSObject that stores them as an associated object.
import Foundation
import ObjectiveC

private var hooksHandle: UInt8 = 0

private final class Hook: NSObject {
  let body: (Any?) -> Void

  init(_ body: @escaping (Any?) -> Void) {
    self.body = body
    super.init()
  }

  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    body(change?[.newKey])
  }
}

extension NSObject {
  private var hooks: [String: [Hook]] {
    get { return objc_getAssociatedObject(self, &hooksHandle) as? [String: [Hook]] ?? [:] }
    set {
      objc_setAssociatedObject(
        self, &hooksHandle, newValue, objc_AssociationPolicy.OBJC_ASSOCIATION_RETAIN_NONATOMIC)
    }
  }

  func hook(_ key: String, _ body: @escaping (Any?) -> Void) {
    let hook = Hook(body)
    hooks[key, default: []].append(hook)
    addObserver(hook, forKeyPath: key, options: [.new], context: nil)
  }

  func unhook(_ key: String) {
    for hook in hooks[key] ?? [] { removeObserver(hook, forKeyPath: key) }
    hooks[key] = nil
  }
}

final class Kettle: NSObject {
  @objc dynamic var water: Int = 0
}

func hookedClosures(_ journal: Journal) {
  let kettle = Kettle()
  kettle.hook("water") { new in journal.write("\(new as? Int ?? -1)") }
  kettle.hook("water") { _ in journal.write("again") }
  kettle.water = 3
  kettle.unhook("water")
  kettle.water = 4
  journal.write("end")
}
