import Expectations
import Foundation
import KVOFoundation
import KVORuntime
import ModelFixtures
import TestScopes
import Testing

/// R4: sorting and filtering by keys.
@Suite(.leakFree) struct SortingTests {
  final class Member: Tracked {
    @Observed var name: String
    @Observed var age: Int
    @Observed var nickname: String?
    @Observed var isGuest = false
    @Observed var friends: [Member] = []
    @Observed var weight: Any? = nil
    nonisolated(unsafe) static var reads = 0

    init(_ name: String, _ age: Int = 0, _ nickname: String? = nil) {
      self.name = name
      self.age = age
      self.nickname = nickname
      super.init()
    }

    override class func registerKeys() {
      declareKeys { keys in
        keys.accessors("counted") { member in
          Member.reads += 1
          return member.age
        }
      }
    }
  }

  @Test("R4: the error for values that can't be compared names their types as Swift spells them")
  func incomparable() throws {
    let (first, second) = (Member("a"), Member("b"))
    (first.weight, second.weight) = ([1], ["k": 1])
    let error = try require(
      #expect(throws: KeyValueError.self) {
        try [first, second].sorted(using: KeyValueSort("weight"))
      })
    expectEqual(
      "\(error)",
      "\"weight\" of Member takes values that can be compared, not [String: Int] and [Int].")
  }

  private let members = [
    Member("Zoë", 30, "z"), Member("anna", 41), Member("Bob", 30, "b"), Member("Émil", 41, "e"),
  ]

  private func names(_ sorts: [KeyValueSort<Member>]) throws -> [String] {
    try members.sorted(using: sorts).map(\.name)
  }

  @Test("R4: sorts by one key after the other, each ascending or not, stably")
  func keys() throws {
    expectEqual(try names([KeyValueSort("age")]), ["Zoë", "Bob", "anna", "Émil"])
    expectEqual(
      try names([KeyValueSort("age", ascending: false), KeyValueSort("nickname", ascending: false)]
      ), ["Émil", "anna", "Zoë", "Bob"])
    expectEqual(
      try names([KeyValueSort(\.age), KeyValueSort(\.name)]), ["Bob", "Zoë", "anna", "Émil"])
    expectEqual(try names([]), members.map(\.name))
    let backwards = KeyValueSort<Member>("age").reversed
    expect(!backwards.ascending && backwards.key == "age")
    expectEqual(try members.sorted(using: backwards).map(\.age), [41, 41, 30, 30])
  }

  @Test(
    "R4: nil is the least, or first, or last",
    arguments: [
      (KeyValueNils.least, true, 0), (.least, false, 3), (.first, true, 0), (.first, false, 0),
      (.last, true, 3), (.last, false, 3),
    ])
  func nils(nils: KeyValueNils, ascending: Bool, place: Int) throws {
    for sort in [
      KeyValueSort<Member>("nickname", ascending: ascending, nils: nils),
      KeyValueSort(\.nickname, ascending: ascending, nils: nils),
    ] {
      expectEqual(try members.sorted(using: sort).firstIndex { $0.nickname == nil }, place)
    }
  }

  @Test("R4: strings by case or without, by the locale, by a custom comparator")
  func orders() throws {
    expectEqual(
      try names([KeyValueSort("name", comparing: .caseInsensitive)]).prefix(2), ["anna", "Bob"])
    expectEqual(
      try names([KeyValueSort("name", comparing: .localizedCaseInsensitive)]),
      ["anna", "Bob", "Émil", "Zoë"])
    expectEqual(
      try ["file 10", "file 2"].sorted(using: KeyValueSort("self", comparing: .localizedStandard)),
      ["file 2", "file 10"])
    let byLength = KeyValueOrder { a, b in
      let counts = ("\(a)".count, "\(b)".count)
      return counts.0 < counts.1
        ? .orderedAscending : counts.0 > counts.1 ? .orderedDescending : .orderedSame
    }
    expectEqual(
      try names([KeyValueSort("name", ascending: false, comparing: byLength)]),
      ["anna", "Émil", "Zoë", "Bob"])
    expectEqual(
      try ["b", "a"].sorted(using: KeyValueSort("self", comparing: .localized)), ["a", "b"])
  }

  @Test("R4: operators, booleans, dictionaries, and numbers of different types are compared")
  func values() throws {
    members[0].friends = [members[1]]
    members[2].isGuest = true
    expect(try members.sorted(using: KeyValueSort("friends.@count")).last === members[0])
    expect(
      try members.sorted(using: KeyValueSort("isGuest", ascending: false)).first === members[2])
    let rows: [[String: Any]] = [["n": 2.5], ["n": 2], ["n": UInt64.max], ["n": -1]]
    let sorted = try rows.sorted(using: KeyValueSort("n"))
    expectEqual(sorted.map { "\($0["n"]!)" }, ["-1", "2", "2.5", "\(UInt64.max)"])
    let numbers: [[String: Any]] = [3, .nan, 1, .nan, 2].map { ["n": $0] }
    expectEqual(
      try numbers.sorted(using: KeyValueSort("n")).map { "\($0["n"]!)" },
      ["nan", "nan", "1.0", "2.0", "3.0"])
    let exact = 9_007_199_254_740_992
    let mixed: [Any] = [
      exact + 1, Double(exact), Decimal(string: "\(exact).5")!, exact, exact - 1,
      Decimal(string: "-0.5")!, -1, -0.25, Double.infinity,
    ]
    expectEqual(
      try mixed.sorted(using: [KeyValueSort<Any>("self")]).map { "\($0)" },
      [
        "-1", "-0.5", "-0.25", "\(exact - 1)", "\(Double(exact))", "\(exact)", "\(exact).5",
        "\(exact + 1)", "inf",
      ])
    for truth in [true, NSNumber(value: true)] as [Any] {
      let rows: [[String: Any]] = [["n": NSNumber(value: 1.5)], ["n": truth], ["n": 0.5]]
      let sorted = try rows.sorted(using: KeyValueSort("n"))
      expectEqual(sorted.map { "\($0["n"]!)" }, ["0.5", "\(truth)", "1.5"])
    }
    members[0].friends = []
  }

  @Test("R4 B7: collections as elements are sorted and filtered by their operators")
  func collections() throws {
    let lists = [[1, 2], [], [5]]
    expectEqual(try lists.sorted(using: KeyValueSort("@count")), [[], [5], [1, 2]])
    expectEqual(try lists.sorted(using: KeyValueSort("@max.self")), [[], [1, 2], [5]])
    expectEqual(try lists.filter("@count", as: Int.self) { $0 > 0 }, [[1, 2], [5]])
    expectEqual(
      try [Set(members), [members[1]]].sorted(using: KeyValueSort("@max.age", ascending: false))
        .map(\.count), [members.count, 1])
    let arrays = [NSArray(array: [1, 2]), NSArray(array: [7])]
    expectEqual(try arrays.sorted(using: KeyValueSort("@count")).map(\.count), [1, 2])
    let any: [Any] = [NSSet(array: [3, 4]), [9][...], ContiguousArray([1, 2, 3])]
    expectEqual(
      try any.sorted(using: [KeyValueSort<Any>("@count")]).map { "\(type(of: $0))" },
      ["ArraySlice<Int>", "NSSet", "ContiguousArray<Int>"])
    expectEqual(try any.filter("@sum.self", as: Int.self) { $0 == 6 }.count, 1)
    #expect(throws: KeyValueError.self) { try lists.sorted(using: KeyValueSort("size")) }
  }

  @Test("R4: each key is read once of each element")
  func reads() throws {
    Member.reads = 0
    let many = (0..<100).map { Member("m", $0 * 37 % 100) }
    expectEqual(try many.sorted(using: KeyValueSort("counted")).map(\.age), Array(0..<100))
    expectEqual(Member.reads, 100)
  }

  @Test("R4: a wrong key and values without an order are errors, and leave the array unchanged")
  func errors() throws {
    #expect(throws: KeyValueError.undefinedKey(key: "agge", className: "Member")) {
      try members.sorted(using: KeyValueSort("agge"))
    }
    members[0].weight = 1
    members[1].weight = "x"
    var array = members
    #expect(throws: KeyValueError.self) { try array.sort(using: [KeyValueSort("weight")]) }
    expectEqual(array, members)
    #expect(throws: KeyValueError.self) { try [1, 2].sorted(using: KeyValueSort("size")) }
    #expect(throws: KeyValueError.self) {
      try members.sorted(using: KeyValueSort("age", comparing: .localized))
    }
    try array.sort(using: [KeyValueSort("age", ascending: false)])
    expectEqual(array.map(\.age), [41, 41, 30, 30])
  }

  @Test("R4: filtered by a key, and by Foundation's predicates")
  func filters() throws {
    expectEqual(try members.filter("age", as: Int.self) { $0 > 30 }.map(\.name), ["anna", "Émil"])
    expectEqual(
      try members.filter("age", as: Double.self) { $0 > 30.5 }.map(\.name), ["anna", "Émil"])
    let rows: [[String: Any]] = [
      ["n": 1], ["n": 2.5], ["n": NSNumber(value: 3)], ["n": "4"], [:], ["n": NSString("5")],
      ["n": "6"[...]],
    ]
    expectEqual(try rows.filter("n", as: Decimal.self) { $0 > 2 }.count, 2)
    expectEqual(try rows.filter("n", as: Double.self) { $0 > 2 }.count, 2)
    expectEqual(try rows.filter("n", as: Int.self) { $0 == 2 }.count, 1)
    expectEqual(try members.filter("nickname", as: String.self) { $0 < "f" }.count, 2)
    #expect(throws: KeyValueError.self) { try members.filter("agge", as: Int.self) { _ in true } }
    expectEqual(
      try members.filter(#Predicate<Member> { $0.age > 30 && $0.nickname == nil }).map(\.name),
      ["anna"])
  }
}
