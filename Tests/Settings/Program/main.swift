/// Uses each of the package's features once, and prints the results: equal with all build settings.
import KVORuntime
import Model

if CommandLine.arguments.contains("keys") {
  names()
} else {
  try everything()
}

@MainActor
func everything() throws {
  properties()
  inheritance()
  tracking()
  generics()
  try coding()
  try contexts()
  lifetimes()
  releasing()
  try isolation()
}

func show<Value>(_ name: String, _ change: KeyValueObservedChange<Value>) {
  let old = change.oldValue.map { " from \($0)" } ?? ""
  let new = change.newValue.map { " to \($0)" } ?? ""
  print("\(name):\(old)\(new)\(change.isPrior ? " (prior)" : "")")
}
