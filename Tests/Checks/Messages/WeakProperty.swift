// quoted: property 'owner' with a wrapper cannot also be weak
import KVORuntime

class Person: KVOObject {
  @Observed weak var owner: Person?
}
