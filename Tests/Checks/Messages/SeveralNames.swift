// quoted: property wrapper can only apply to a single variable
import KVORuntime

class Person: KVOObject {
  @Observed var a = 1, b = 2
}
