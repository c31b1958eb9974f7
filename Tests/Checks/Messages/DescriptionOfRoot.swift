// quoted: property does not override any property from its superclass
import KVORuntime

class Person: KVOObject {
  override var description: String { "a" }
}
