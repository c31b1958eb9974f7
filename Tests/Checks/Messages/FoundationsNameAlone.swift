// quoted: value of type 'MutableArrayProxy' has no member 'add'
import Foundation
import KVORuntime

func add(_ object: KVOObject) throws {
  let list = try object.mutableArrayValue(forKey: "list")
  try list.add(1)
}
