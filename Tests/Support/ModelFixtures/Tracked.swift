import KVORuntime
import TestSupport

/// The fixtures' root class: each instance is counted in the test that made it.
open class Tracked: KVOObject {
  private var life: Life?

  override public init() {
    super.init()
    life = Life(of: type(of: self))
  }
}
