// One notification before each change and one after it, which the change dictionary distinguishes.
import KVORuntime

final class Lamp: KVOObject {
  @Observed var isOn = false
}

final class Switchboard: KVOObject {
  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [KeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    let lamp = object as! Lamp
    if change?[.notificationIsPriorKey] as? Bool == true {
      print("before: \(lamp.isOn ? "on" : "off")")
    } else {
      print("after: \(lamp.isOn ? "on" : "off")")
    }
  }
}

let lamp = Lamp()
let board = Switchboard()
try lamp.addObserver(board, forKeyPath: "isOn", options: .prior)
lamp.isOn = true
try lamp.removeObserver(board, forKeyPath: "isOn")

let token = lamp.observe(\.isOn, options: .prior) { lamp, change in
  print("\(change.isPrior ? "about to switch" : "switched"), is \(lamp.isOn ? "on" : "off")")
}
lamp.isOn = false
