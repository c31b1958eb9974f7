// A helper that observes many objects for a closure, like some libraries, and a form that validates before it sets.
import Foundation

public class GroupedObserver: NSObject {
  public typealias Handler = (_ object: NSObject, _ keyPath: String, _ new: Any?) -> Void

  private var registrations: [(object: NSObject, keyPath: String)] = []
  private let handler: Handler
  private var context = 0

  public init(handler: @escaping Handler) {
    self.handler = handler
    super.init()
  }

  public func observe(_ object: NSObject, keyPaths: [String]) {
    for keyPath in keyPaths {
      object.addObserver(self, forKeyPath: keyPath, options: .new, context: &context)
      registrations.append((object, keyPath))
    }
  }

  public func stop() {
    for (object, keyPath) in registrations {
      object.removeObserver(self, forKeyPath: keyPath, context: &context)
    }
    registrations = []
  }

  public override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    if let object = object as? NSObject, let keyPath, context == &self.context {
      handler(object, keyPath, change?[.newKey])
    }
  }

  deinit { stop() }
}

enum FormError: Error {
  case outOfRange(Int)
}

final class Guest: NSObject {
  @objc dynamic var name: String = ""
  @objc dynamic var age: Int = 0

  @objc func validateAge(_ ioValue: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {
    guard let age = ioValue.pointee as? Int else {
      ioValue.pointee = 0 as AnyObject?
      return
    }
    if age < 0 || age > 150 { throw FormError.outOfRange(age) }
  }

  @objc func validateName(_ ioValue: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {
    if let name = ioValue.pointee as? String {
      ioValue.pointee = name.trimmingCharacters(in: .whitespaces) as NSString
    }
  }
}

/// Sets a valid value, and returns whether it did.
func enter(_ value: Any?, _ key: String, of guest: Guest) -> Bool {
  var object = value as AnyObject?
  do {
    try guest.validateValue(&object, forKey: key)
  } catch {
    return false
  }
  guest.setValue(object, forKey: key)
  return true
}

func groupedObserver(_ journal: Journal) {
  let guests = [Guest(), Guest()]
  let observer = GroupedObserver { object, keyPath, new in
    let place = guests.firstIndex { $0 === object }!
    journal.write("guest \(place) \(keyPath) \(new!)")
  }
  for guest in guests {
    observer.observe(guest, keyPaths: [#keyPath(Guest.name), #keyPath(Guest.age)])
  }
  journal.write("valid \(enter("  Ada ", "name", of: guests[0]))")
  journal.write("valid \(enter(36, "age", of: guests[1]))")
  journal.write("valid \(enter(200, "age", of: guests[1]))")
  journal.write("valid \(enter(nil, "age", of: guests[1]))")
  observer.stop()
  guests[0].name = "Grace"
  journal.write("\(guests[0].name), \(guests[1].age)")
}
