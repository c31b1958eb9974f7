// quoted: cannot convert return expression of type 'MutableArrayProxy' to return type 'NSMutableArray'
import Foundation
import KVORuntime

func list(_ object: KVOObject) throws -> NSMutableArray {
  try object.mutableArrayValue(forKey: "a")
}
