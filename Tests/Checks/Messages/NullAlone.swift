// quoted: cannot find type 'NSNull' in scope
import KVORuntime

func isNothing(_ change: [NSKeyValueChangeKey: Any]) -> Bool {
  change[.newKey] is NSNull
}
