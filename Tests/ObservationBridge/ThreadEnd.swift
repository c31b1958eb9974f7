// Reads after the bridge has given up what it keeps for a thread, whose end that is.
import Glibc
import KVORuntime
import Observation
import TestSupport

private final class Place: KVOObject {
  @Observed var x = 0
}

private let told = Count()

private func track() {
  let place = Place()
  withObservationTracking {
    _ = place.x
  } onChange: {
    told.add()
  }
  place.x = 1
}

/// A value of the thread's.
private final class AtEnd {
  deinit { track() }
}

/// How many of twenty threads were told of what they had read at their end.
func readAtThreadEnd() -> Int {
  for _ in 0..<20 {
    var thread = pthread_t()
    pthread_create(
      &thread, nil,
      { _ in
        // The bridge's value of the thread comes first, so it goes first as well.
        // It dies after the tracking has begun: Observation leaks what waits for an object that was dead by then.
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
  return told.value
}
