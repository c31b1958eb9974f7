// quoted: value of type 'Operation' has no member 'observe'
import Foundation
import KVORuntime

func watch(_ operation: Operation) -> NSKeyValueObservation {
  operation.observe(\.isFinished) { _, _ in }
}
