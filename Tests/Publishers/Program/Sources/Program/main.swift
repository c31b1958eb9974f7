// R9: publishers of key-value changes, tested with a stand-in for OpenCombine. Prints a line for each case, and exits
// with 1 if one fails.
import Foundation
import KVOFoundation
import KVORuntime
import OpenCombine

final class Account: KVOObject {
  @Observed var balance = 0
  @Observed var other = 0
  var onDeath: (() -> Void)?
  deinit { onDeath?() }
}

/// Threads may share its storage. `onRead` is called with the value that the getter is about to return.
final class Gauge: KVOObject, @unchecked Sendable {
  private let lock = NSLock()
  private var stored = 0
  var onRead: (() -> Void)?

  var level: Int {
    get {
      let level = lock.withLock { stored }
      onRead?()
      return level
    }
    set { withChange(of: \.level) { lock.withLock { stored = newValue } } }
  }

  override class func registerKeys() { declareKeys { $0.computed("level", \.level) } }
}

/// Runs a body on another thread, and waits for its end.
func onAnotherThread(_ body: @escaping () -> Void) {
  nonisolated(unsafe) let body = body
  let end = DispatchSemaphore(value: 0)
  Thread {
    body()
    end.signal()
  }.start()
  end.wait()
}

/// Records its input, and requests as much as it is asked to.
final class Probe: Subscriber {
  var received: [Int] = []
  var subscription: (any Subscription)?
  let first: Subscribers.Demand
  var answer = Subscribers.Demand.none
  var onValue: ((Int) -> Void)?
  /// The number of calling threads, and how often two called at a time.
  private var callers: [Thread] = []
  var overlaps = 0

  init(_ first: Subscribers.Demand) { self.first = first }

  func receive(subscription: any Subscription) {
    self.subscription = subscription
    subscription.request(first)
  }

  func receive(_ input: Int) -> Subscribers.Demand {
    if callers.contains(where: { $0 !== Thread.current }) { overlaps += 1 }
    callers.append(.current)
    defer { callers.removeLast() }
    received.append(input)
    onValue?(input)
    return answer
  }

  func receive(completion: Subscribers.Completion<Never>) {}
}

nonisolated(unsafe) var failures = 0

func expect(_ name: String, _ found: [Int], _ expected: [Int]) {
  let isRight = found == expected
  print("\(isRight ? "ok    " : "FAILED") \(name)\(isRight ? "" : ": \(found), not \(expected)")")
  if !isRight { failures += 1 }
}

func run() {
  do {
    let (account, probe) = (Account(), Probe(.unlimited))
    account.publisher(for: \.balance).subscribe(probe)
    account.balance = 1
    account.balance = 2
    probe.subscription?.cancel()
    account.balance = 3
    expect(
      "R9: the value that there is, and each that comes, until it is cancelled", probe.received,
      [0, 1, 2])
    expect(
      "R9: cancelling ends the registration", [account.observationInfo.registrations.count], [0])
  }
  do {
    let (account, probe) = (Account(), Probe(.unlimited))
    account.publisher(for: \.balance, options: [.new]).subscribe(probe)
    account.balance = 1
    expect("R9: without initial, changes alone", probe.received, [1])
    probe.subscription?.cancel()
  }
  do {
    let (account, probe) = (Account(), Probe(.none))
    account.publisher(for: \.balance).subscribe(probe)
    for balance in 1...3 { account.balance = balance }
    expect("R9: nothing where nothing is demanded", probe.received, [])
    probe.subscription?.request(.max(2))
    account.balance = 4
    account.balance = 5
    expect("R9: the newest is kept, and demand is counted", probe.received, [3, 4])
    probe.answer = .max(1)
    probe.subscription?.request(.max(1))
    account.balance = 6
    expect("R9: what a subscriber asks for while it receives counts", probe.received, [3, 4, 5, 6])
    probe.subscription?.cancel()
  }
  do {
    let (account, probe) = (Account(), Probe(.unlimited))
    probe.onValue = { value in if value == 1 { probe.subscription?.cancel() } }
    account.publisher(for: \.balance).subscribe(probe)
    account.balance = 1
    account.balance = 2
    expect("R9: cancelled while it receives, it receives nothing more", probe.received, [0, 1])
    let early = Probe(.unlimited)
    early.onValue = { _ in early.subscription?.cancel() }
    account.publisher(for: \.balance).subscribe(early)
    account.balance = 3
    expect(
      "R9: also by the first value", early.received + [account.observationInfo.registrations.count],
      [2, 0])
    early.onValue = nil
    probe.onValue = nil
  }
  do {
    let (gauge, probe) = (Gauge(), Probe(.unlimited))
    gauge.publisher(for: \.level).subscribe(probe)
    // A value that this thread reads is outdated when it arrives. The runtime may read as well.
    var reads = 0
    gauge.onRead = {
      guard Thread.isMainThread else { return }
      reads += 1
      onAnotherThread { gauge.level += 1 }
    }
    gauge.level = 1
    gauge.onRead = nil
    expect("R9: a value that is outdated is dropped", probe.received, [0] + Array(2..<2 + reads))
    probe.subscription?.cancel()
  }
  do {
    let (gauge, probe) = (Gauge(), Probe(.max(1)))
    gauge.onRead = { if Thread.isMainThread { onAnotherThread { gauge.level += 1 } } }
    gauge.publisher(for: \.level).subscribe(probe)
    probe.subscription?.request(.unlimited)
    gauge.onRead = nil
    expect(
      "R9: the value that there is at first as well", [probe.received.last ?? 0], [gauge.level])
    probe.subscription?.cancel()
  }
  do {
    let (gauge, probe) = (Gauge(), Probe(.unlimited))
    gauge.publisher(for: \.level).subscribe(probe)
    probe.onValue = { value in if value == 1 { onAnotherThread { gauge.level = 2 } } }
    gauge.level = 1
    expect(
      "R9: one thread calls a subscriber at a time", [probe.overlaps] + probe.received,
      [0, 0, 1, 2])
    probe.onValue = { value in if value == 3 { gauge.level = 4 } }
    gauge.level = 3
    expect("R9: it may change the property itself", probe.received, [0, 1, 2, 3, 4])
    probe.subscription?.cancel()
    probe.onValue = nil
  }
  do {
    var deaths = 0
    let probe = Probe(.unlimited)
    do {
      let account = Account()
      account.onDeath = { deaths += 1 }
      account.publisher(for: \.balance).subscribe(probe)
      account.balance = 1
    }
    expect("R9: a subscription does not retain the object", [deaths] + probe.received, [1, 0, 1])
    probe.subscription?.cancel()
  }
  do {
    let (account, probe) = (Account(), Probe(.unlimited))
    weak var publisherObject: Account?
    do {
      let other = Account()
      publisherObject = other
      let publisher = other.publisher(for: \.balance)
      expect(
        "R9: a publisher retains it, and equals one of the same object, key path and options",
        [
          publisher == publisherObject!.publisher(for: \.balance),
          publisher == account.publisher(for: \.balance),
          publisher == other.publisher(for: \.balance, options: [.new]),
          publisher == other.publisher(for: \.other),
        ].map { $0 ? 1 : 0 }, [1, 0, 0, 0])
    }
    expect("R9: and releases it", [publisherObject == nil ? 0 : 1], [0])
    var changes = 0
    let cancellable = account.publisher(for: \.balance, options: []).didChange().sink {
      changes += 1
    }
    account.publisher(for: \.balance, options: [.prior]).subscribe(probe)
    account.balance = 1
    account.balance = 1
    expect("R9: didChange() publishes that the property has changed", [changes], [2])
    expect("R9: prior publishes the value before a change too", probe.received, [0, 1, 1, 1])
    cancellable.cancel()
    probe.subscription?.cancel()
    account.balance = 2
    expect("R9: a cancelled one publishes nothing", [changes, probe.received.count], [2, 4])
  }
}

run()
exit(failures == 0 ? 0 : 1)
