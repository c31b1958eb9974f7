// Observing by key path: old and new values, the first value, before and after, links and tokens.
import KVORuntime

class Vehicle: KVOObject {
  @Observed var plate = "none"
  @Observed var speed = 0.0
}

final class Driver: KVOObject {
  @Observed var name: String

  init(name: String) {
    self.name = name
    super.init()
  }
}

final class Bus: Vehicle {
  @Observed var driver: Driver?
  @Observed private(set) var stops: [String] = []

  func stop(at place: String) {
    stops.append(place)
  }
}

/// Shows a bus's state while it is on the board.
final class DepartureBoard {
  private let journal: Journal
  private var observations: [NSKeyValueObservation] = []

  init(_ journal: Journal) {
    self.journal = journal
  }

  func show(_ bus: Bus) {
    observations = [
      bus.observe(\.plate, options: [.initial, .new]) { [journal] _, change in
        journal.write("plate \(change.newValue!)")
      },
      bus.observe(\.speed, options: [.old, .new]) { [journal] bus, change in
        journal.write("speed of \(bus.plate) \(change.oldValue!) -> \(change.newValue!)")
      },
      bus.observe(\.stops, options: [.prior, .new]) { [journal] bus, change in
        journal.write(change.isPrior ? "about to stop" : "stops \(change.newValue!)")
      },
      bus.observe(\.driver?.name) { [journal] bus, _ in
        journal.write("driven by \(bus.driver?.name ?? "nobody")")
      },
    ]
  }

  func clear() {
    for observation in observations { observation.invalidate() }
    observations = []
  }
}

func observing(_ journal: Journal) {
  let bus = Bus()
  let board = DepartureBoard(journal)

  journal.write("on the board")
  board.show(bus)
  bus.plate = "KV 0"
  bus.speed = 30
  bus.speed += 20
  bus.stop(at: "Bridge")

  let ada = Driver(name: "Ada")
  bus.driver = ada
  ada.name = "Ada B."
  bus.driver = Driver(name: "Grace")
  ada.name = "Ada L."
  bus.driver = nil

  journal.write("off the board")
  board.clear()
  bus.speed = 0
  bus.stop(at: "Market")
}
