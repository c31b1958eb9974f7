// quoted: cannot find type 'IndexSet' in scope
import KVORuntime

class Account: KVOObject {
  @Observed var entries = [1]
  func removeEntries(at indexes: IndexSet) {}
}
