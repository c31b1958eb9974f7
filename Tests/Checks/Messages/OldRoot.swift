// quoted: cannot find type 'NSObject' in scope
import KVORuntime

class Account: NSObject {
  var balance = 0.0
}
