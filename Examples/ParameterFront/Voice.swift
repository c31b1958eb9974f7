import KVORuntime
import ParameterEngine

/// The engine's `synth_point`, as Swift would have it: a struct of C is taken as any type of its size that has no
/// references.
struct Point: Equatable, Sendable {
  var x = 0.0
  var y = 0.0
}

/// What the player asks for, which the engine's properties are bound to. The main thread's alone.
final class Controls: KVOObject {
  @Observed var target = Point()
  @Observed var gain = 0.0
  @Observed var isPaused = false
}

/// What is made of the level that the engine's thread tells, on that thread and for it alone: to others `text`
/// goes as a sequence.
final class Meter: KVOObject {
  @Observed var level = 0.0 {
    didSet { if level > peak { peak = level } }
  }
  @Observed private(set) var peak = 0.0

  var text: String {
    let marks = (1...20).map { mark in
      let part = Double(mark) / 20
      return part <= level ? "#" : part <= peak ? "-" : " "
    }
    return "[\(marks.joined())]"
  }
}

/// A voice of the engine, what plays it, and what shows it.
@MainActor
final class Voice {
  let object: ForeignObject
  let controls = Controls()
  let meter = Meter()
  private let engine: OpaquePointer
  private let bindings: [KeyValueObservation]

  init(name: String) throws {
    engine = synth_voice_open(name)
    object = ForeignObject(OpaquePointer(synth_voice_object(engine)))
    bindings = [
      try object.bind("target", to: controls, \.target),
      try object.bind("gain", to: controls, \.gain),
      try object.bind("paused", to: controls, \.isPaused),
      try meter.bind(\.level, to: object, "level", isolation: nil),  // on the engine's thread
    ]
  }

  /// What the engine has taken, which need not be what it has been asked for. A struct by its key is its bytes.
  var target: Point {
    get throws {
      let bytes = try object.value(forKey: "target") as! [UInt8]
      return bytes.withUnsafeBytes { $0.loadUnaligned(as: Point.self) }
    }
  }

  var gain: Double {
    get throws { try object.value(forKey: "gain") as! Double }
  }

  var step: Int {
    get throws { try object.value(forKey: "step") as! Int }
  }

  func start(everyMilliseconds interval: UInt32) { synth_voice_start(engine, interval) }
  func stop() { synth_voice_stop(engine) }
  func run(ticks: UInt32) { synth_voice_run(engine, ticks) }

  func close() {
    synth_voice_stop(engine)
    for binding in bindings { binding.invalidate() }
    synth_voice_close(engine)
  }
}
