import KVORuntime
import ModelFixtures

// A property that a subclass in this file overrides, and that classes in other files do not see.

@KVO class HiddenOriginal: KVOObject {
  fileprivate var value = 1
  func set(_ value: Int) { self.value = value }
  func log(in log: Recorder) { log.observe(self, \.value, [.old, .new], as: "base") }
}

@KVO class HiddenOverride: HiddenOriginal {
  fileprivate override var value: Int {
    didSet { if value > 10 { value = 10 } }
  }
  func logOverride(in log: Recorder) { log.observe(self, \.value, [.old, .new], as: "override") }
}
