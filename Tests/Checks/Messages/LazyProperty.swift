// quoted: property 'owner' with a wrapper cannot also be lazy
import KVORuntime

class Person: KVOObject {
  @Observed lazy var owner = "x"
}
