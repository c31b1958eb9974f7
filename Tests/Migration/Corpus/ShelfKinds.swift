// Kinds of a change that are read as numbers: in a guard, in two steps, with a default, and as an NSNumber.
import Foundation

final class Jar: NSObject {
  @objc dynamic var beans: [String] = []
  @objc dynamic var label: String = ""
}

final class JarWatcher: NSObject {
  private let jar: Jar
  private let journal: Journal

  init(_ jar: Jar, _ journal: Journal) {
    self.jar = jar
    self.journal = journal
    super.init()
    jar.addObserver(self, forKeyPath: "beans", options: [.new], context: nil)
    jar.addObserver(self, forKeyPath: "label", options: [], context: nil)
  }

  deinit {
    jar.removeObserver(self, forKeyPath: "beans")
    jar.removeObserver(self, forKeyPath: "label")
  }

  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    if let number = change?[.kindKey] as? UInt, let kind = NSKeyValueChange(rawValue: number) {
      switch kind {
      case .setting: journal.write("\(keyPath!) set")
      case .insertion: journal.write("\(keyPath!) inserted")
      case .removal: journal.write("\(keyPath!) removed")
      case .replacement: journal.write("\(keyPath!) replaced")
      @unknown default: break
      }
    }
    let kind = NSKeyValueChange(rawValue: (change?[.kindKey] as? UInt) ?? 0) ?? .setting
    if kind == .removal { journal.write("fewer") }
    guard let change = change, change[.kindKey] as? UInt == NSKeyValueChange.setting.rawValue else {
      let code = (change![.kindKey] as! NSNumber).intValue
      return journal.write("code \(code), \(change?[NSKeyValueChangeKey.kindKey] as? Int ?? -1)")
    }
    journal.write("whole")
  }
}

func shelfKinds(_ journal: Journal) {
  let jar = Jar()
  let watcher = JarWatcher(jar, journal)
  withExtendedLifetime(watcher) {
    jar.label = "mocha"
    let beans = jar.mutableArrayValue(forKey: "beans")
    beans.add("one")
    beans.replaceObject(at: 0, with: "two")
    beans.removeObject(at: 0)
  }
}
