import KVORuntime
import ParameterEngine

/// The engine's `synth_point` as a Swift type. A C struct can be read as a Swift type with the same
/// scalars at the same offsets.
struct Point: Equatable, Sendable {
  var x = 0.0
  var y = 0.0
}

/// The values that the player requests. The engine's properties are bound to them. Used only on the
/// main thread.
final class Controls: KVOObject {
  @Observed var target = Point()
  @Observed var gain = 0.0
  @Observed var isPaused = false
}

/// A meter computed from the level that the engine's thread reports. It is used only on that
/// thread; other threads read `text` as an asynchronous sequence.
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

/// A voice of the engine, with its controls and its meter.
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

  /// The value that the engine has accepted, which may differ from the requested one. A struct read
  /// by key is an array of its bytes.
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
