import KVORuntime
import ParameterEngine

/// The contents of the screen: the values that the engine has reported, not the ones requested.
struct Picture {
  var name = ""
  var target = Point()
  var position = Point()
  var gain = 0.0
  var level = 0.0
  var meter = ""
  var isPaused = false
  var step = 0
  var ticks = 0

  var lines: [String] {
    let edge = "+" + String(repeating: "-", count: Int(SYNTH_PAD_WIDTH) + 1) + "+"
    return [name, edge] + (0...Int(SYNTH_PAD_HEIGHT)).map(row) + [
      edge,
      "at \(position.rounded), to \(target.rounded)",
      "gain \(gain.rounded), level \(level.rounded) \(meter)",
      "tick \(ticks), step \(step), \(isPaused ? "paused" : "playing")",
      "",
      "arrows: target   + -: gain   space: pause   q: quit",
    ]
  }

  private func row(_ y: Int) -> String {
    let marks = (0...Int(SYNTH_PAD_WIDTH)).map { x in
      position.isShown(x, y) ? "o" : target.isShown(x, y) ? "x" : " "
    }
    return "|\(marks.joined())|"
  }
}

extension Point {
  fileprivate var rounded: String { "\(x.rounded) \(y.rounded)" }

  fileprivate func isShown(_ column: Int, _ row: Int) -> Bool {
    Int(x.rounded()) == column && Int(y.rounded()) == row
  }
}

extension Double {
  // Two digits after the decimal point; for numbers that are not negative.
  fileprivate var rounded: String {
    let hundredths = Int((self * 100).rounded())
    return "\(hundredths / 100).\(hundredths / 10 % 10)\(hundredths % 10)"
  }
}

/// Plays a voice on the terminal.
@MainActor
final class Player {
  private let terminal: Terminal
  private let voice: Voice
  private var picture = Picture() {
    didSet { terminal.show(picture.lines) }
  }
  private var readers: [Task<Void, Never>] = []

  init(_ terminal: Terminal) throws {
    self.terminal = terminal
    voice = try Voice(name: "Reed")
    picture.name = try voice.object.value(forKey: "name") as! String
  }

  /// Plays until the user quits. Returns a closing message.
  func play() async throws -> String {
    defer { close() }
    try follow()
    voice.start(everyMilliseconds: 50)
    var bytes = terminal.bytes.makeAsyncIterator()
    while let key = await Key.next(&bytes), key != .quit { try press(key) }
    return "\(picture.name) stopped at step \(try voice.step)."
  }

  private func press(_ key: Key) throws {
    switch key {
    case .up: try move(0, -1)
    case .down: try move(0, 1)
    case .right: try move(1, 0)
    case .left: try move(-1, 0)
    case .louder: voice.controls.gain = try voice.gain + 0.1
    case .softer: voice.controls.gain = try voice.gain - 0.1
    case .pause: voice.controls.isPaused.toggle()
    case .quit: break
    }
  }

  private func move(_ columns: Double, _ rows: Double) throws {
    let target = try voice.target
    voice.controls.target = Point(x: target.x + columns, y: target.y + rows)
  }

  private func follow() throws {
    try follow("target", \.target)
    try follow("position", \.position)
    try follow("gain", \.gain)
    try follow("level", \.level)
    try follow("paused", \.isPaused)
    try follow("step", \.step)
    try follow("ticks", \.ticks)
    followMeter()
  }

  // The engine locks its properties, so the task may register at any time.
  private func follow<Value: Sendable>(
    _ key: String, _ part: WritableKeyPath<Picture, Value>
  ) throws {
    let values = try voice.object.values(of: key, as: Value.self)
    readers.append(
      Task { for await value in values { picture[keyPath: part] = value } })
  }

  // The meter belongs to the engine's thread: observers must register before that thread starts.
  private func followMeter() {
    var texts = voice.meter.values(of: \.text).makeAsyncIterator()
    readers.append(
      Task { while let text = await texts.next(isolation: #isolation) { picture.meter = text } })
  }

  private func close() {
    for reader in readers { reader.cancel() }
    voice.close()
  }
}
