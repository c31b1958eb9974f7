// quoted: property wrapper cannot be applied to a computed property
import KVORuntime

class Person: KVOObject {
  @Observed var name: String { "a" }
}
