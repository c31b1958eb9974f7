// quoted: cannot find type 'KVOObject' in scope

class Account: KVOObject {
  @Observed var balance = 0.0
}
