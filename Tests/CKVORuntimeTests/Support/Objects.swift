import CFixtures
import CKVORuntime
import TestSupport

typealias CObject = UnsafeMutablePointer<kvo_object>
typealias CClass = OpaquePointer

/// A C struct that begins with an object's header, and the class of its instances.
protocol CInstance {
  static var cClass: CClass { get }
}

extension account: CInstance { static var cClass: CClass { account_class() } }
extension savings: CInstance { static var cClass: CClass { savings_class() } }
extension interrupted_account: CInstance {
  static var cClass: CClass { interrupted_account_class() }
}
extension tracked: CInstance { static var cClass: CClass { tracked_class() } }
extension quirk: CInstance { static var cClass: CClass { quirk_class() } }
extension spelled: CInstance { static var cClass: CClass { spelled_class() } }
extension plain: CInstance { static var cClass: CClass { plain_class() } }
extension sealed: CInstance { static var cClass: CClass { sealed_class() } }
extension forgiving: CInstance { static var cClass: CClass { forgiving_class() } }
extension scalars: CInstance { static var cClass: CClass { scalars_class() } }
extension thrower: CInstance { static var cClass: CClass { thrower_class() } }
extension throwing_watcher: CInstance {
  static var cClass: CClass { throwing_watcher_class() }
}
extension watcher: CInstance { static var cClass: CClass { watcher_class() } }
extension base_watcher: CInstance { static var cClass: CClass { base_watcher_class() } }
extension sub_watcher: CInstance { static var cClass: CClass { sub_watcher_class() } }
extension gauge: CInstance { static var cClass: CClass { gauge_class() } }
extension concurrent_setter: CInstance { static var cClass: CClass { concurrent_setter_class() } }
extension hand: CInstance { static var cClass: CClass { hand_class() } }
extension automatic_by_key: CInstance { static var cClass: CClass { automatic_by_key_class() } }
extension automatic_general: CInstance { static var cClass: CClass { automatic_general_class() } }
extension automatic_sub: CInstance { static var cClass: CClass { automatic_sub_class() } }

/// An instance with one reference, owned by the caller. Tests release it in `defer`, so that nothing dies earlier
/// than the test says.
func make<T: CInstance>(_ type: T.Type) -> UnsafeMutablePointer<T> {
  UnsafeMutableRawPointer(make(T.cClass)).assumingMemoryBound(to: T.self)
}

func make(_ cls: CClass) -> CObject {
  guard let object = kvo_object_create(cls) else { preconditionFailure("no instance") }
  return object
}

extension UnsafeMutablePointer where Pointee: CInstance {
  var object: CObject { UnsafeMutableRawPointer(self).assumingMemoryBound(to: kvo_object.self) }
  func release() { kvo_object_release(object) }
}

func releaseAll<T: CInstance>(_ instances: [UnsafeMutablePointer<T>]) {
  for instance in instances { instance.release() }
}

/// Whether a dynamic subclass dispatches the object's methods now.
func isSwapped(_ object: CObject) -> Bool { kvo_isa(object) != kvo_class_of(object) }

func name(of cls: CClass?) -> String { cls.map { String(cString: kvo_class_name($0)) } ?? "NULL" }

/// A type in the form that a class definition names it.
func layout(_ encoding: StaticString, size: Int = 0, alignment: Int = 0) -> kvo_layout {
  let text = UnsafeRawPointer(encoding.utf8Start).assumingMemoryBound(to: CChar.self)
  return kvo_layout(encoding: text, size: size, alignment: alignment)
}

func signature(_ form: kvo_signature_form, _ layout: kvo_layout) -> kvo_signature {
  kvo_signature(form: form, layout: layout)
}

extension Deaths {
  func makeWatcher() -> UnsafeMutablePointer<watcher> {
    let made = CKVORuntimeTests.make(watcher.self)
    made.pointee.tracked.deaths = counter
    return made
  }
}
