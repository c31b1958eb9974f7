import KVORuntime

/// Shown if there is no terminal: some ticks that do not depend on the clock.
@MainActor
func demonstrate() async throws {
  let voice = try Voice(name: "Reed")
  let observed = voice.object
  var moves = try observed.changes(of: "position", as: Point.self).makeAsyncIterator()
  var meters = voice.meter.values(of: \.text).makeAsyncIterator()

  func run(_ ticks: UInt32, _ state: String) async throws {
    let before = try voice.step
    voice.run(ticks: ticks)
    print("\(state) for \(ticks) ticks")
    for step in before..<(try voice.step) {
      let move = await moves.next(isolation: #isolation)!
      print("step \(step + 1): from \(move.oldValue!) to \(move.newValue!)")
    }
    print(await meters.next(isolation: #isolation)!)
  }

  print("The voice is called \(try observed.value(forKey: "name")!).")
  voice.controls.target = Point(x: 16, y: 4)
  voice.controls.gain = 0.5
  try await run(3, "played")
  voice.controls.target.y = -1
  voice.controls.gain = 7
  print("The engine takes \(try voice.target), and a gain of \(try voice.gain).")
  try await run(3, "played")
  voice.controls.gain = 0
  try await run(2, "played")
  voice.controls.isPaused = true
  voice.run(ticks: 2)
  print("paused for 2 ticks, at step \(try voice.step)")
  voice.close()
}
