import Expectations
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

/// B7: an object inside an `AnyHashable` is that object.
@Suite(.leakFree) struct HashableObjectsTests {
  private class Person: Tracked {
    @Observed var name = ""
    @Observed var friends: Set<Person> = []
    @Observed var all: [AnyHashable] = []
    @Observed var one: AnyHashable = 0
    @Observed var info: [String: Any] = [:]
  }

  private let person = Person()
  private let friend = Person()

  @Test("B7: a key set by a set's proxy is set in each of its objects")
  func proxy() throws {
    person.friends = [friend]
    try person.mutableSetValue(forKey: "friends").setValue("x", forKey: "name")
    expectEqual(friend.name, "x")
  }

  @Test("B7: a key is set in objects of a list, a value and a set of AnyHashable")
  func paths() throws {
    person.all = [friend]
    person.one = AnyHashable(friend)
    person.info = ["s": Set<AnyHashable>([friend])]
    for path in ["all.name", "one.name", "info.s.name"] {
      try person.setValue(path, forKeyPath: path)
      expectEqual(friend.name, path)
    }
    expectEqual(try person.value(forKeyPath: "all.name") as? [String], ["info.s.name"])
    expectEqual(try person.value(forKeyPath: "one.name") as? String, "info.s.name")
  }
}
