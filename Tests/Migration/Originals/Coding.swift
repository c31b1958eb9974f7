// Key-value coding: values by key and by key path, numbers, nil, undefined keys, dictionaries and
// collection operators.
import Foundation

final class Office: NSObject {
  @objc dynamic var city = "Turin"
  @objc dynamic var floor = 2
}

final class Employee: NSObject {
  @objc dynamic var name: String
  @objc dynamic var salary: Double
  @objc dynamic var height = 1.7
  @objc dynamic var nickname: String?
  @objc dynamic var office: Office? = Office()
  private var badges: [String: String] = [:]

  init(name: String, salary: Double) {
    self.name = name
    self.salary = salary
    super.init()
  }

  override func setNilValueForKey(_ key: String) {
    if key == #keyPath(height) {
      setValue(0, forKey: key)
    } else {
      super.setNilValueForKey(key)
    }
  }

  // Keys that begin with "badge" live in a dictionary.
  override func value(forUndefinedKey key: String) -> Any? {
    key.hasPrefix("badge") ? badges[key] : super.value(forUndefinedKey: key)
  }

  override func setValue(_ value: Any?, forUndefinedKey key: String) {
    if key.hasPrefix("badge") {
      badges[key] = value as? String
    } else {
      super.setValue(value, forUndefinedKey: key)
    }
  }
}

final class Company: NSObject {
  @objc dynamic var employees: [Employee] = []
}

func coding(_ journal: Journal) {
  let ada = Employee(name: "Ada", salary: 30)
  let grace = Employee(name: "Grace", salary: 50)
  let company = Company()
  company.employees = [ada, grace]

  let token = ada.observe(\.height, options: [.old, .new]) { _, change in
    journal.write("height \(change.oldValue!) -> \(change.newValue!)")
  }
  ada.setValue(2, forKey: #keyPath(Employee.height))
  ada.setValue(nil, forKey: "height")
  token.invalidate()

  ada.setValue("Augusta", forKey: "name")
  journal.write("name \(ada.value(forKey: "name") as! String)")
  ada.setValue("Genoa", forKeyPath: #keyPath(Employee.office.city))
  journal.write("city \(ada.value(forKeyPath: "office.city") as! String)")
  grace.office = nil
  journal.write("city \(grace.value(forKeyPath: "office.city") as? String ?? "none")")

  ada.setValue("gold", forKey: "badgeA")
  journal.write("badge \(ada.value(forKey: "badgeA") as? String ?? "none")")
  journal.write("badge \(grace.value(forKey: "badgeA") as? String ?? "none")")

  let nicknames = ada.dictionaryWithValues(forKeys: ["name", "nickname"])
  journal.write(nicknames["nickname"]! is NSNull ? "no nickname" : "a nickname")
  ada.setValuesForKeys(["nickname": "Countess", "salary": 40.5])
  journal.write("\(ada.nickname!) earns \(ada.salary)")

  let count = company.value(forKeyPath: "employees.@count") as! Int
  let sum = company.value(forKeyPath: "employees.@sum.salary") as! Double
  let highest = company.value(forKeyPath: "employees.@max.salary") as! Double
  let average = company.value(forKeyPath: "employees.@avg.salary") as! Double
  let names = company.value(forKeyPath: "employees.name") as! [String]
  journal.write("\(count) employees, \(sum) in all, \(highest) at most, \(average) on average")
  journal.write("names \(names)")
}
