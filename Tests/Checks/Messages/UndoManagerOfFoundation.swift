// quoted: cannot find 'UndoManager' in scope
import Foundation
import KVORuntime

let manager = UndoManager()
