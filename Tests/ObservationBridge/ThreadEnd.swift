// Reads at a thread's end, after the bridge has freed its thread-specific value.
import Glibc
import KVORuntime
import Observation
import TestSupport

private final class Place: KVOObject {
  @Observed var x = 0
}

private let notified = Count()

private func track() {
  let place = Place()
  withObservationTracking {
    _ = place.x
  } onChange: {
    notified.add()
  }
  place.x = 1
}

/// The test's thread-specific value.
private final class AtEnd {
  deinit { track() }
}

/// How many of twenty threads were notified of reads at their end.
func readAtThreadEnd() -> Int {
  for _ in 0..<20 {
    var thread = pthread_t()
    pthread_create(
      &thread, nil,
      { _ in
        // Creates the bridge's thread-specific value first, so that it ends first. `place` outlives the tracking,
        // because Observation leaks registrations for an object that is already dead.
        let place = Place()
        withObservationTracking {
          _ = place.x
        } onChange: {
        }
        _ = Place().x
        var key = pthread_key_t()
        pthread_key_create(&key) { Unmanaged<AtEnd>.fromOpaque($0!).release() }
        pthread_setspecific(key, Unmanaged.passRetained(AtEnd()).toOpaque())
        return nil
      }, nil)
    pthread_join(thread, nil)
  }
  return notified.value
}
