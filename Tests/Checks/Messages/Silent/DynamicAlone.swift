import KVORuntime

class Account: KVOObject {
  dynamic var balance = 0.0
}
