// quoted: Objective-C interoperability is disabled
import KVORuntime

class Account: KVOObject {
  @objc dynamic var balance = 0.0
}
