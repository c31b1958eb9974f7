// A player as a state machine: an enumeration of Objective-C, typed observations that are replaced, and a derived status.
import Foundation

@objc enum MachineStatus: Int {
  case unknown, ready, failed
}

@objc enum MachineControl: Int {
  case paused = 0
  case waiting = 1
  case playing = 2
}

class MachineItem: NSObject {
  @objc dynamic fileprivate(set) var status = MachineStatus.unknown
  @objc dynamic var error: NSError?
  func finish(_ ok: Bool) {
    if !ok { error = NSError(domain: "machine", code: 7, userInfo: nil) }
    status = ok ? .ready : .failed
  }
}

class MachinePlayer: NSObject {
  @objc dynamic private(set) var control: MachineControl = .paused
  @objc dynamic var rate: Float = 0 {
    didSet {
      guard rate != oldValue else { return }
      updateControl()
    }
  }
  @objc dynamic var item: MachineItem? {
    didSet {
      statusObservation = item?.observe(\.status, options: [.initial, .new]) { [weak self] _, _ in
        self?.updateControl()
      }
    }
  }
  private var statusObservation: NSKeyValueObservation?

  private func updateControl() {
    let new: MachineControl
    switch (rate, item?.status) {
    case (0, _): new = .paused
    case (_, .some(.ready)): new = .playing
    default: new = .waiting
    }
    if new != control { control = new }
  }
}

func machinePlayer(_ journal: Journal) {
  let player = MachinePlayer()
  var tokens: [NSKeyValueObservation] = []
  tokens.append(
    player.observe(\.control, options: [.old, .new]) { player, change in
      journal.write("control \(player.control.rawValue)")
    })
  tokens.append(
    player.observe(\.item?.status, options: [.initial, .new]) { player, change in
      journal.write("status \(player.item?.status.rawValue ?? -1)")
    })
  tokens.append(
    player.observe(\.item?.error, options: [.new]) { player, _ in
      journal.write("error \((player.item?.error)?.code ?? 0)")
    })
  player.rate = 1
  let first = MachineItem()
  player.item = first
  first.finish(true)
  player.rate = 0
  let second = MachineItem()
  player.item = second
  player.rate = 2
  second.finish(false)
  first.finish(true)
  journal.write("end \(player.control.rawValue)")
  for token in tokens { token.invalidate() }
}
