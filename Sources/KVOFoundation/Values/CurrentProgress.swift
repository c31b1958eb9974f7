import Foundation
import KVORuntime

/// A progress that is current on a thread, and the one that was current before.
final class CurrentProgress {
  let progress: KVOProgress
  let units: Int64
  let outer: CurrentProgress?
  var hasChild = false

  private init(_ progress: KVOProgress, _ units: Int64, inside outer: CurrentProgress?) {
    self.progress = progress
    self.units = units
    self.outer = outer
  }

  // `Thread.current` would create an object for each thread that creates a progress.
  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    let status = pthread_key_create(&key) { Unmanaged<CurrentProgress>.fromOpaque($0!).release() }
    if status != 0 {
      KVODiagnostics.stop("The process has no thread-local key left for KVOProgress.")
    }
    return key
  }()

  /// Whether a progress is current on this thread, here or in an outer call.
  func includes(_ progress: KVOProgress) -> Bool {
    var at: CurrentProgress? = self
    while let current = at, current.progress !== progress { at = current.outer }
    return at != nil
  }

  /// The innermost one on this thread.
  static var innermost: CurrentProgress? {
    guard let address = pthread_getspecific(key) else { return nil }
    return Unmanaged<CurrentProgress>.fromOpaque(address).takeUnretainedValue()
  }

  static func begin(_ progress: KVOProgress, _ units: Int64) {
    set(CurrentProgress(progress, units, inside: innermost))
  }

  static func end(_ current: CurrentProgress) { set(current.outer) }

  private static func set(_ current: CurrentProgress?) {
    let old = innermost
    let status = pthread_setspecific(key, current.map { Unmanaged.passRetained($0).toOpaque() })
    if status != 0 {
      KVODiagnostics.stop("No memory for the progress that is current on a thread.")
    }
    if let old { Unmanaged.passUnretained(old).release() }
  }
}
