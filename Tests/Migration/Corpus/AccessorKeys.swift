// Accessors with names of their own in Objective-C, which are keys; names that a protocol requires.
import Foundation

class SpelledLamp: NSObject {
  private var lit = false
  @objc dynamic var on: Bool {
    @objc(isOn) get { return lit }
    set { lit = newValue }
  }
  @objc dynamic var level = 1
}
func useSpelled(_ journal: Journal) {
  let lamp = SpelledLamp()
  let keys = ["isOn", "level"]
  lamp.on = true
  for key in keys { journal.write("\(key) \(lamp.value(forKey: key) != nil)") }
}

enum CasedKey: String {
  case isOn
  case level = "amount"
}
class CasedLamp: NSObject {
  private var lit = false
  @objc var on: Bool {
    @objc(isOn) get { return lit }
    @objc(setIsOn:) set { lit = newValue }
  }
  private var stored = 1
  @objc var size: Int {
    @inline(__always) @objc(amount) get { return stored }
    @objc(setAmount:) set { stored = newValue }
  }
}
func useCased(_ journal: Journal) {
  let lamp = CasedLamp()
  lamp.setValue(true, forKey: CasedKey.isOn.rawValue)
  lamp.setValue(7, forKey: CasedKey.level.rawValue)
  journal.write("\(lamp.on) \(lamp.size) \(lamp.value(forKey: CasedKey.level.rawValue) as! Int)")
}

enum LinkedKeys { static let path = "lamp.isOn" }
class LinkedRoom: NSObject { @objc dynamic var lamp = LinkedLamp() }

class LinkedLamp: NSObject {
  private var lit = false
  @objc dynamic var on: Bool {
    @objc(isOn) get { return lit }
    @objc(setIsOn:) set { lit = newValue }
  }
}
class LinkedObserver: NSObject {
  let journal: Journal
  init(_ journal: Journal) { self.journal = journal }
  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    journal.write("\(keyPath!) \(change![.newKey] as! Bool)")
  }
}
func useLinked(_ journal: Journal) {
  let room = LinkedRoom()
  let observer = LinkedObserver(journal)
  room.addObserver(observer, forKeyPath: LinkedKeys.path, options: .new, context: nil)
  room.lamp.on = true
  room.lamp = LinkedLamp()
  room.removeObserver(observer, forKeyPath: LinkedKeys.path)
}

@objc protocol RequiredSwitch {
  @objc(title) var name: String { get set }
  var on: Bool { @objc(isOn) get @objc(setIsOn:) set }
}

class RequiredLamp: NSObject, RequiredSwitch {
  var name = "n" { didSet { log.append(name) } }
  private var lit = false
  var on: Bool {
    get { return lit }
    set {
      lit = newValue
      log.append("on")
    }
  }
  var log: [String] = []
  @objc dynamic var n = 0
}
func useRequired(_ journal: Journal) {
  let lamp = RequiredLamp()
  lamp.setValue("m", forKey: "title")
  lamp.setValue(true, forKey: "isOn")
  journal.write(
    "\(lamp.value(forKey: "title") as! String) \(lamp.value(forKey: "isOn") as! Bool) \(lamp.log)")
}

func accessorKeys(_ journal: Journal) {
  useSpelled(journal)
  useCased(journal)
  useLinked(journal)
  useRequired(journal)
}
