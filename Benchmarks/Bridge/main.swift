// Measures reads in a program that links KVOObservation. `Benchmarks` runs it for one case at a time and
// reads the printed nanoseconds of each repetition. With `--repeat NAME COUNT` it only repeats a case, so that its
// instructions can be counted.
import Glibc
import KVOObservation
import KVORuntime
import Observation

final class Account: KVOObject {
  @Observed final var balance = 0.0
}

@Observable final class NativeAccount {
  var balance = 0.0
}

/// Counts the notifications of trackers.
final class Notified: @unchecked Sendable {
  var count = 0
}

@inline(never)
func sum(_ account: Account, _ iterations: Int) -> Double {
  var sum = 0.0
  for _ in 0..<iterations { sum += account.balance }
  return sum
}

/// Tracks a body that reads a property, then sets the property.
@inline(never)
func track(_ account: Account, _ notified: Notified, _ iterations: Int) {
  for i in 0..<iterations {
    _ = withObservationTracking {
      account.balance
    } onChange: {
      notified.count += 1
    }
    account.balance = Double(i)
  }
}

@inline(never)
func track(_ account: NativeAccount, _ notified: Notified, _ iterations: Int) {
  for i in 0..<iterations {
    _ = withObservationTracking {
      account.balance
    } onChange: {
      notified.count += 1
    }
    account.balance = Double(i)
  }
}

func run(_ name: String, _ iterations: Int) {
  let notified = Notified()
  switch name {
  case "observation.bridge.read": track(Account(), notified, iterations)
  case "floor.observation.read": track(NativeAccount(), notified, iterations)
  case "observation.bridge.untracked":
    if sum(Account(), iterations) != 0 { exit(1) }
    return
  default: exit(2)
  }
  // Check that every change was delivered.
  if notified.count != iterations { exit(1) }
}

/// Processor time of this thread, in nanoseconds.
func now() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
}

let arguments = CommandLine.arguments
if arguments.count == 4, arguments[1] == "--repeat", let count = Int(arguments[3]) {
  run(arguments[2], count)
  exit(0)
}
guard arguments.count == 3, let repetitions = Int(arguments[2]) else { exit(2) }
let name = arguments[1]
let iterations = 4_000
for _ in 0..<4 { run(name, iterations) }
for _ in 0..<repetitions {
  let start = now()
  run(name, iterations)
  print((now() - start) / Double(iterations))
}
