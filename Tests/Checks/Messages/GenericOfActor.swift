// quoted: cannot form key path to main actor-isolated property
import KVORuntime

@MainActor class Panel: KVOObject {}

@KVO final class Table<Row>: Panel {
  var rows: [Row] = []
}
