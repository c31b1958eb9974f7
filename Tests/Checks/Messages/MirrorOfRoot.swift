// quoted: redundant conformance of 'Person' to protocol 'CustomReflectable'
import KVORuntime

class Person: KVOObject, CustomReflectable {
  var customMirror: Mirror { Mirror(reflecting: 1) }
}
