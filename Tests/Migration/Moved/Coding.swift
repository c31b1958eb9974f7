// Key-value coding: values by key and by key path, numbers, nil, undefined keys, dictionaries and
// collection operators.
import KVORuntime

final class Office: KVOObject {
  @Observed var city = "Turin"
  @Observed var floor = 2
}

final class Employee: KVOObject {
  @Observed var name: String
  @Observed var salary: Double
  @Observed var height = 1.7
  @Observed var nickname: String?
  @Observed var office: Office? = Office()
  private var badges: [String: String] = [:]

  init(name: String, salary: Double) {
    self.name = name
    self.salary = salary
    super.init()
  }

  override func setNilValueForKey(_ key: String) {
    if key == "height" {
      try! setValue(0, forKey: key)
    } else {
      try! super.setNilValueForKey(key)
    }
  }

  // Keys that begin with "badge" live in a dictionary.
  override func value(forUndefinedKey key: String) -> Any? {
    key.hasPrefix("badge") ? badges[key] : try! super.value(forUndefinedKey: key)
  }

  override func setValue(_ value: Any?, forUndefinedKey key: String) {
    if key.hasPrefix("badge") {
      badges[key] = value as? String
    } else {
      try! super.setValue(value, forUndefinedKey: key)
    }
  }
}

final class Company: KVOObject {
  @Observed var employees: [Employee] = []
}

func coding(_ journal: Journal) {
  let ada = Employee(name: "Ada", salary: 30)
  let grace = Employee(name: "Grace", salary: 50)
  let company = Company()
  company.employees = [ada, grace]

  let token = ada.observe(\.height, options: [.old, .new]) { _, change in
    journal.write("height \(change.oldValue!) -> \(change.newValue!)")
  }
  try! ada.setValue(2, forKey: "height")
  try! ada.setValue(nil, forKey: "height")
  token.invalidate()

  try! ada.setValue("Augusta", forKey: "name")
  journal.write("name \(try! ada.value(forKey: "name") as! String)")
  try! ada.setValue("Genoa", forKeyPath: "office.city")
  journal.write("city \(try! ada.value(forKeyPath: "office.city") as! String)")
  grace.office = nil
  journal.write("city \(try! grace.value(forKeyPath: "office.city") as? String ?? "none")")

  try! ada.setValue("gold", forKey: "badgeA")
  journal.write("badge \(try! ada.value(forKey: "badgeA") as? String ?? "none")")
  journal.write("badge \(try! grace.value(forKey: "badgeA") as? String ?? "none")")

  let nicknames = try! ada.dictionaryWithValues(forKeys: ["name", "nickname"])
  journal.write(nicknames["nickname"]! == nil ? "no nickname" : "a nickname")
  try! ada.setValuesForKeys(["nickname": "Countess", "salary": 40.5])
  journal.write("\(ada.nickname!) earns \(ada.salary)")

  let count = try! company.value(forKeyPath: "employees.@count") as! Int
  let sum = try! company.value(forKeyPath: "employees.@sum.salary") as! Double
  let highest = try! company.value(forKeyPath: "employees.@max.salary") as! Double
  let average = try! company.value(forKeyPath: "employees.@avg.salary") as! Double
  let names = try! company.value(forKeyPath: "employees.name") as! [String]
  journal.write("\(count) employees, \(sum) in all, \(highest) at most, \(average) on average")
  journal.write("names \(names)")
}
