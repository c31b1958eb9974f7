// quoted: method does not override any method from its superclass
import KVORuntime

class Person: KVOObject {
  override func isEqual(_ object: Any?) -> Bool { false }
}
