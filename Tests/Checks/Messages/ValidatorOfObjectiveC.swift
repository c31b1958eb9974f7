// quoted: cannot find type 'AutoreleasingUnsafeMutablePointer' in scope
import KVORuntime

class Person: KVOObject {
  @Observed var name: String?
  func validateName(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {}
}
