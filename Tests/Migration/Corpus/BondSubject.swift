// A subject in the style of Bond: reads and writes a value by key path, and distinguishes optional types.
import Foundation

protocol BondOptional { static var isOptional: Bool { get } }
extension Optional: BondOptional { static var isOptional: Bool { return true } }

enum BondError: Error { case notConvertible(String) }

final class BondSubject<T>: NSObject {
  private weak var object: NSObject?
  private var context = 0
  private let keyPath: String
  private var listeners: [(T) -> Void] = []
  private var isObserving = false

  init(object: NSObject, keyPath: String) {
    self.object = object
    self.keyPath = keyPath
    super.init()
  }

  deinit {
    if isObserving { object?.removeObserver(self, forKeyPath: keyPath, context: &context) }
  }

  func listen(_ listener: @escaping (T) -> Void) {
    listeners.append(listener)
    guard !isObserving else { return }
    isObserving = true
    object?.addObserver(self, forKeyPath: keyPath, options: [.new], context: &context)
  }

  var value: T? {
    get {
      let any = object?.value(forKeyPath: keyPath)
      return any as? T
    }
    set {
      guard let object = object else { return }
      if let newValue = newValue {
        object.setValue(newValue, forKeyPath: keyPath)
      } else {
        object.setValue(nil, forKeyPath: keyPath)
      }
    }
  }

  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    if context == &self.context {
      if let newValue = change?[NSKeyValueChangeKey.newKey] {
        if let value = newValue as? T {
          for listener in listeners { listener(value) }
        } else if newValue is NSNull {
          for listener in listeners { listener(Optional<String>.none as! T) }
        }
      }
    } else {
      super.observeValue(forKeyPath: keyPath, of: object, change: change, context: context)
    }
  }
}

class BondPerson: NSObject {
  @objc dynamic var name = "Ann"
  @objc dynamic var nickname: String?
  @objc dynamic var age: Int = 30
}

func bondSubject(_ journal: Journal) {
  let person = BondPerson()
  let name = BondSubject<String>(object: person, keyPath: "name")
  let nick = BondSubject<String?>(object: person, keyPath: #keyPath(BondPerson.nickname))
  let age = BondSubject<Int>(object: person, keyPath: "age")
  name.listen { journal.write("name \($0)") }
  nick.listen { journal.write("nick \($0 ?? "none")") }
  age.listen { journal.write("age \($0)") }
  name.value = "Bea"
  person.nickname = "B"
  person.nickname = nil
  age.value = 31
  journal.write("\(name.value!) \(age.value!)")
}
