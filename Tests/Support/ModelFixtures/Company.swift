import KVORuntime

/// A company and its staff: objects that link to objects, and collections of them.
open class Worker: Tracked {
  @Observed public var name: String
  @Observed public var age: Int
  @Observed public var salary: Double
  @Observed public var bonus: Int?
  @Observed public var boss: Worker?
  @Observed public var staff: [Worker]?
  @Observed public var skills: Set<String> = []
  @Observed public var scores: [Int] = []
  @Observed public var grade = Grade.junior
  @Observed public var anything: Any?
  public var desk: [String: Int] = ["floor": 2]

  public enum Grade: Int, Comparable, Sendable {
    case junior, senior
    public static func < (a: Grade, b: Grade) -> Bool { a.rawValue < b.rawValue }
  }

  public init(_ name: String, age: Int = 30, salary: Double = 1000) {
    self.name = name
    self.age = age
    self.salary = salary
    super.init()
  }
}

public final class Company: Tracked {
  @Observed public var head: Worker?
  @Observed public var workers: [Worker] = []
  @Observed public var friends: Set<Worker> = []
  @Observed public var teams: [[Worker]] = []
  @Observed public var byName: [String: Worker] = [:]
  @Observed public var facts: [String: Any] = [:]
  @Observed public var seats: [Worker?] = []
  public weak var guest: Worker?

  /// Ada, the head, Bob and Cyd.
  public static func small() -> Company {
    let company = Company()
    let ada = Worker("Ada", age: 36, salary: 3000)
    let bob = Worker("Bob", age: 50, salary: 1500)
    let cyd = Worker("Cyd", age: 41, salary: 1000)
    (bob.boss, cyd.boss) = (ada, ada)
    ada.bonus = 10
    (ada.scores, bob.scores, cyd.scores) = ([4, 84, 2], [7], [])
    (ada.skills, bob.skills, cyd.skills) = (["c", "swift"], ["c"], [])
    ada.grade = .senior
    company.head = ada
    company.workers = [ada, bob, cyd]
    company.friends = [ada, bob]
    company.teams = [[ada, bob], [bob, cyd]]
    company.byName = ["bob": bob]
    company.facts = ["list": [1, 2.5, 3] as [Any], "none": Int?.none as Any, "head": ada]
    company.seats = [ada, nil, bob]
    return company
  }
}
