// says: InStruct.swift:6:3: error: 'wrappedValue' is unavailable: @Observed works in KVOObject subclasses
// quoted: 'wrappedValue' is unavailable: @Observed works in KVOObject subclasses
import KVORuntime

struct Account {
  @Observed var balance = 0.0
}
