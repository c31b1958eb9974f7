import CFixtures
import CKVORuntime
import TestSupport
import Testing

/// Records every call of its observers in order, as lines such as `a: balance old 0.0 new 10.0` and `a: prior balance
/// old 0.0`. A value that a change lacks is not written.
final class Recorder {
  private(set) var lines: [String] = []
  private var registrations: [Registration] = []
  private var sinks: [Sink] = []

  /// In a `.recording` test, the recorder ends with the test.
  init() { Self.ofThisTest?.recorders.append(self) }
  deinit { end() }

  /// Ends all registrations, and releases the objects that reactions refer to.
  func end() {
    for registration in registrations { registration.end() }
    for sink in sinks { sink.reaction = nil }
  }

  /// The lines since the last call of this function.
  func take() -> [String] {
    defer { lines = [] }
    return lines
  }

  func note(_ line: String) { lines.append(line) }

  /// Registers a callback. `reaction` runs in its calls, after the line is recorded.
  @discardableResult
  func observe(
    _ object: CObject, _ key: String, _ options: kvo_options = [], as name: String = "a",
    reaction: ((Call) -> Void)? = nil
  ) -> Registration {
    let registration = Registration(name: name, recorder: self, reaction: reaction)
    registrations.append(registration)
    registration.register(with: object, key, options)
    return registration
  }

  /// Makes an observer object record its notifications here.
  func listen(
    to watcher: UnsafeMutablePointer<watcher>, as name: String, reaction: ((Call) -> Void)? = nil
  ) {
    let sink = Sink(name: name, recorder: self, reaction: reaction)
    sinks.append(sink)
    watcher.pointee.sink_context = Unmanaged.passUnretained(sink).toOpaque()
    watcher.pointee.sink = { sink, level, key, object, change, context in
      Unmanaged<Sink>.fromOpaque(sink!).takeUnretainedValue()
        .notified(level, Call(object: object, key: key, change: change, context: context))
    }
  }
}

/// One call of an observer.
struct Call {
  let object: CObject
  let keyPath: String
  let change: OpaquePointer
  let context: UnsafeMutableRawPointer?

  init(
    object: CObject, key: UnsafePointer<CChar>, change: OpaquePointer,
    context: UnsafeMutableRawPointer? = nil
  ) {
    self.object = object
    self.keyPath = String(cString: key)
    self.change = change
    self.context = context
  }

  var isPrior: Bool { kvo_change_is_prior(change) }
  var old: String? { described(kvo_change_get_old(change)) }
  var new: String? { described(kvo_change_get_new(change)) }

  var line: String {
    var words = [keyPath]
    if isPrior { words.insert("prior", at: 0) }
    if kvo_change_get_kind(change) != .KVO_SETTING { words.append("of another kind") }
    if let old { words += ["old", old] }
    if let new { words += ["new", new] }
    return words.joined(separator: " ")
  }
}

/// A callback's registration. The recorder keeps it after its end, so that one `ended` call too many is counted and
/// does no harm.
final class Registration {
  let name: String
  private(set) var outcome = Outcome(status: .KVO_OK)
  private(set) var calls = 0
  private(set) var ended = 0
  private unowned let recorder: Recorder
  private var reaction: ((Call) -> Void)?
  /// Outside this object, because the handle is stored while callbacks already read it.
  private let slot = UnsafeMutablePointer<OpaquePointer?>.allocate(capacity: 1)

  fileprivate init(name: String, recorder: Recorder, reaction: ((Call) -> Void)?) {
    self.name = name
    self.recorder = recorder
    self.reaction = reaction
    slot.initialize(to: nil)
  }

  deinit { slot.deallocate() }

  var handle: OpaquePointer? { slot.pointee }
  var isValid: Bool { handle.map(kvo_handle_is_valid) ?? false }
  func invalidate() { handle.map(kvo_handle_invalidate) }

  /// Releases the handle. A second call does nothing.
  func release() {
    let handle = slot.pointee
    slot.pointee = nil
    kvo_handle_release(handle)
  }

  fileprivate func end() {
    release()
    reaction = nil
  }

  fileprivate func register(with object: CObject, _ key: String, _ options: kvo_options) {
    let context = Unmanaged.passUnretained(self).toOpaque()
    outcome = attempt { error in
      kvo_add_callback(
        object, key, options,
        { context, object, key, change in
          Registration.from(context).called(Call(object: object, key: key, change: change))
        },
        context, { Registration.from($0).ended += 1 }, slot, error)
    }
  }

  private static func from(_ context: UnsafeMutableRawPointer?) -> Registration {
    Unmanaged<Registration>.fromOpaque(context!).takeUnretainedValue()
  }

  private func called(_ call: Call) {
    calls += 1
    recorder.note("\(name): \(call.line)")
    reaction?(call)
  }
}

/// Where an observer object records its notifications.
private final class Sink {
  let name: String
  unowned let recorder: Recorder
  var reaction: ((Call) -> Void)?

  init(name: String, recorder: Recorder, reaction: ((Call) -> Void)?) {
    self.name = name
    self.recorder = recorder
    self.reaction = reaction
  }

  func notified(_ level: UnsafePointer<CChar>, _ call: Call) {
    let taker = String(cString: level)
    let who = taker == "CWatcher" ? name : "\(name)/\(taker)"
    let context = call.context.map { "[\(UInt(bitPattern: $0))]" } ?? ""
    recorder.note("\(who)\(context): \(call.line)")
    reaction?(call)
  }
}

// MARK: The end of a test

/// Ends a test's recorders, and the objects that the test uses by address, with the test. A reaction often refers to
/// its recorder or its own registration, a cycle that would keep them alive.
struct RecordingTrait: SuiteTrait, TestTrait, TestScoping {
  var isRecursive: Bool { true }

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    let mine = RecordersOfTest()
    let lifetimes = Lifetimes()
    defer {
      for recorder in mine.recorders { recorder.end() }
      lifetimes.end()
    }
    try await Lifetimes.$current.withValue(lifetimes) {
      try await Recorder.$ofThisTest.withValue(mine) { try await function() }
    }
  }
}

extension Trait where Self == RecordingTrait {
  static var recording: Self { Self() }
}

/// Used by the one thread that runs the test.
private final class RecordersOfTest: @unchecked Sendable {
  var recorders: [Recorder] = []
}

extension Recorder {
  @TaskLocal fileprivate static var ofThisTest: RecordersOfTest?
}

// MARK: Observer objects

/// A context that is only an address, at which nothing is stored.
func address(_ number: Int) -> UnsafeMutableRawPointer? {
  UnsafeMutableRawPointer(bitPattern: number)
}

@discardableResult
func add(
  _ observer: UnsafeMutablePointer<watcher>, to object: CObject, _ key: String,
  _ options: kvo_options = [], context: UnsafeMutableRawPointer? = nil
) -> Outcome {
  attempt { kvo_add_observer(object, observer.object, key, options, context, $0) }
}

@discardableResult
func remove(
  _ observer: UnsafeMutablePointer<watcher>, from object: CObject, _ key: String
) -> Outcome {
  attempt { kvo_remove_observer(object, observer.object, key, $0) }
}

@discardableResult
func remove(
  _ observer: UnsafeMutablePointer<watcher>, from object: CObject, _ key: String,
  context: UnsafeMutableRawPointer?
) -> Outcome {
  attempt { kvo_remove_observer_with_context(object, observer.object, key, context, $0) }
}
