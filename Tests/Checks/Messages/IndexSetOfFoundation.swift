// quoted: cannot convert value of type 'IndexSet' to expected argument type 'RangeSet<Int>'
import Foundation
import KVORuntime

class Account: KVOObject {
  @Observed var entries = [1]
  func removeEntries(at indexes: IndexSet) {
    willChange(.removal, valuesAt: indexes, forKey: "entries")
    didChange(.removal, valuesAt: indexes, forKey: "entries")
  }
}
