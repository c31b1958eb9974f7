import Foundation
import KVORuntime

func list(_ object: KVOObject) throws -> Double {
  (try object.value(forKey: "a") as! NSNumber).doubleValue
}
