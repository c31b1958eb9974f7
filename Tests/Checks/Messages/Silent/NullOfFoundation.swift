import Foundation
import KVORuntime

func isNothing(_ change: [NSKeyValueChangeKey: Any]) -> Bool {
  change[.newKey] is NSNull
}
