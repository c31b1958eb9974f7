// quoted: cannot convert value of type 'MutableArrayProxy' to specified type 'NSMutableArray'
import Foundation
import KVORuntime

final class List: KVOObject {
  @Observed var tracks: [String] = []
  lazy var proxy: NSMutableArray = try! mutableArrayValue(forKey: "tracks")
}
