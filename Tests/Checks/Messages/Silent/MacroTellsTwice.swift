// warns: MacroTellsTwice.swift:6:7: warning: @KVO: setting "level" notifies its observers twice: manually, and because "_level", which it sets and reads, is observed; mark "_level" @KVOIgnored, or leave out the manual notification.
import KVORuntime

@KVO class Tank: KVOObject {
  private var _level = 0
  var level: Int {
    get { _level }
    set {
      willChangeValue(forKey: "level")
      _level = newValue
      didChangeValue(forKey: "level")
    }
  }
}
