// A synthesizer's voice is an engine of C (Examples/ParameterEngine), whose own thread moves its parameters; Swift
// draws them on the terminal as they come, and sets others by its keys. It has no more to do with the engine than
// sequences of the keys that it shows, and bindings of those that it sets. Where there is no terminal it prints a
// few steps.
import KVORuntime

if let terminal = Terminal() {
  let told: String
  do {
    defer { terminal.restore() }
    told = try await Player(terminal).play()
  }
  print(told)
} else {
  try await demonstrate()
}
