// quoted: main actor-isolated property 'count' can not be mutated from a Sendable closure
import KVORuntime

final class Download: KVOObject, @unchecked Sendable {}

@MainActor final class Progress {
  var count = 0
  var token: NSKeyValueObservation?
  func follow(_ download: Download) {
    token = download.onDeinit { self.count += 1 }
  }
}
