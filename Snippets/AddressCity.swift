// Key paths through a relationship: reading, setting, observing.
import KVORuntime

final class Address: KVOObject {
  @Observed var city: String

  init(city: String) {
    self.city = city
    super.init()
  }
}

final class Person: KVOObject {
  @Observed var address: Address?
}

let person = Person()
person.address = Address(city: "Berlin")
print(try person.value(forKeyPath: "address.city")!)
try person.setValue("Hamburg", forKeyPath: "address.city")
print(person.address!.city)

let token = try person.observe(keyPath: "address.city", options: [.old, .new]) { _, change in
  let names = [change.oldValue!, change.newValue!].map { $0 as? String ?? "nowhere" }
  print("moved from \(names[0]) to \(names[1])")
}
person.address!.city = "Bremen"
let left = person.address!
person.address = Address(city: "Cologne")
left.city = "Dresden"
person.address = nil

print(try person.value(forKeyPath: "address.city") == nil ? "no address, no city" : "a city")
do {
  _ = try person.value(forKeyPath: "address.town")
  person.address = left
  _ = try person.value(forKeyPath: "address.town")
} catch {
  print(error)
}
