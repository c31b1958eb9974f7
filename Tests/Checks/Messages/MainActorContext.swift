// quoted: main actor-isolated static property 'context' can not be referenced from a nonisolated context
import KVORuntime

@MainActor class Panel: KVOObject {
  private static let context = KVOContext()
  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [KeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    if context == Self.context { print(keyPath!) }
  }
}
