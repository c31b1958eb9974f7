// quoted: main actor-isolated property 'title' can not be mutated from a nonisolated context
import KVORuntime

@MainActor class Panel: KVOObject {
  @Observed var title = ""
  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [KeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    title = "changed"
  }
}
