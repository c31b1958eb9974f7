// quoted: value of type 'UserDefaults' has no member 'observe'
import Foundation
import KVORuntime

func watch() -> NSKeyValueObservation {
  UserDefaults.standard.observe(\.description) { _, _ in }
}
