// quoted: Objective-C interoperability is disabled
import KVORuntime

@objcMembers class Account: KVOObject {
  dynamic var balance = 0.0
}
