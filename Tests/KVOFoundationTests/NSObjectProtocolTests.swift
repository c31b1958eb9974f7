import Expectations
import Foundation
import KVOFoundation
import KVORuntime
import ModelFixtures
import TestScopes
import Testing

/// R1: objects where Foundation wants an `NSObjectProtocol`.
@Suite(.leakFree) struct NSObjectProtocolTests {
  final class Delegate: Tracked, CacheDelegate {
    @Observed var evicted = 0
    func cache(_ cache: NSCache<AnyObject, AnyObject>, willEvictObject obj: Any) { evicted += 1 }
  }

  /// Foundation's delegate protocols refine this one.
  protocol CacheDelegate: NSObjectProtocol {
    var evicted: Int { get }
  }

  /// Equal by content, as a subclass may define it.
  final class Coin: Tracked, CustomStringConvertible {
    let worth: Int
    init(_ worth: Int) {
      self.worth = worth
      super.init()
    }
    override func isEqual(_ other: KVOObject) -> Bool { (other as? Coin)?.worth == worth }
    override func hash(into hasher: inout Hasher) { hasher.combine(worth) }
    var description: String { "a coin of \(worth)" }
    var debugDescription: String { "coin" }
  }

  @Test("R1: an object equals only itself, and never nil or another kind of object")
  func identity() {
    let (object, other) = (Delegate(), Delegate())
    let seen: any NSObjectProtocol = object
    expect(seen.isEqual(object) && !seen.isEqual(other))
    expect(!seen.isEqual(nil) && !seen.isEqual(1) && !seen.isEqual(NSObject()))
    expect(seen.hash == object.hashValue && seen.hash != (other as any NSObjectProtocol).hash)
    expect(seen.`self`() as AnyObject === object)
    expect(!seen.isProxy())
    expect(seen.description.hasPrefix("<Delegate: 0x"))
  }

  @Test("R1: overridden isEqual and hash(into:) serve the protocol, optional or not")
  func overridden() {
    let (one, same, other) = (Coin(1), Coin(1), Coin(2))
    let seen: any NSObjectProtocol = one
    expect(seen.isEqual(same) && !seen.isEqual(other))
    expect(seen.isEqual(Optional(same) as Any?))
    expectEqual(seen.hash, (same as any NSObjectProtocol).hash)
  }

  @Test("R1: a subclass has descriptions of its own")
  func descriptions() {
    let coin = Coin(5)
    expect("\(coin)" == "a coin of 5" && coin.debugDescription == "coin")
    expectEqual(String(reflecting: Coin(2)), "a coin of 2")
  }

  @Test("R1: an object can be a delegate, and still be observed")
  func delegate() {
    let object = Delegate()
    weak let held: (any CacheDelegate)? = object
    var notified: [Int] = []
    let token = object.observe(\.evicted, options: .new) { notified.append($1.newValue!) }
    object.cache(NSCache(), willEvictObject: 1)
    expect(held?.evicted == 1 && notified == [1])
    withExtendedLifetime((object, token)) {}
  }
}
