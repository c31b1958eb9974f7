// A synthesizer's voice is an engine in C (Examples/ParameterEngine), whose own thread moves its
// parameters. Swift draws them on the terminal as they change, and sets others by key. It touches
// the engine only through asynchronous sequences of the keys that it shows, and bindings of those
// that it sets. Without a terminal it prints a few steps.
import KVORuntime

if let terminal = Terminal() {
  let outcome: String
  do {
    defer { terminal.restore() }
    outcome = try await Player(terminal).play()
  }
  print(outcome)
} else {
  try await demonstrate()
}
