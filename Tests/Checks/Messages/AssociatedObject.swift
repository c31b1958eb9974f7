// quoted: cannot find 'objc_setAssociatedObject' in scope
import Foundation
import KVORuntime

class Panel: KVOObject {}
nonisolated(unsafe) var key = 0

func keep(_ panel: Panel) {
  objc_setAssociatedObject(panel, &key, "x", .OBJC_ASSOCIATION_RETAIN)
}
