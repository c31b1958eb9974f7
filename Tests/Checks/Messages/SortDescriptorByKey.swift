// quoted: 'init(key:ascending:)' has been renamed to 'init(keyPath:ascending:)'
import Foundation
import KVORuntime

let sort = NSSortDescriptor(key: "name", ascending: true)
