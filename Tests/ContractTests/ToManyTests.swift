import Expectations
import KVOFoundation
import KVORuntime
import Testing

/// Collections: handles by key path, proxies by key.
@Suite struct ToManyTests {
  @Test func observedArray() {
    let person = Person()
    var notified: [String] = []
    let token = person.observe(\.friends) {
      notified.append("\($1.kind) \($1.indexes!.ranges.first!)")
    }
    let friends: ObservedArray<Person> = person.mutableArray(\.friends)
    let others = (0..<4).map { Person(name: "\($0)") }
    friends.append(others[0])
    friends.append(contentsOf: others[1...2])
    friends.insert(others[3], at: 0)
    friends.insert(contentsOf: [others[3]], at: 1)
    expect(friends.remove(at: 0) === others[3])
    friends.replaceSubrange(0..<1, with: [others[0]])
    friends[0] = others[1]
    friends.removeSubrange(0..<1)
    expect(friends.startIndex == 0 && friends.endIndex == 3 && friends[0] === others[0])
    friends.removeAll(keepingCapacity: true)
    expect(person.friends.isEmpty && ObservedArray<Int>().isEmpty)
    expectEqual(
      notified,
      [
        "insertion 0..<1", "insertion 1..<3", "insertion 0..<1", "insertion 1..<2",
        "removal 0..<1", "replacement 0..<1", "replacement 0..<1", "removal 0..<1",
        "removal 0..<3",
      ])
    withExtendedLifetime(token) {}
    person.mutableArray(\.pets).append("cat")
    expectEqual(person.pets, ["cat"])
  }

  @Test func observedSet() {
    let person = Person()
    var notified: [KeyValueChange] = []
    let token = person.observe(\.titles) { notified.append($1.kind) }
    let titles: ObservedSet<String> = person.mutableSet(\.titles)
    let inserted: Bool = titles.insert("Dr")
    expect(inserted && titles.contains("Dr") && titles.count == 1)
    titles.formUnion(["Prof", "Sir"])
    titles.subtract(["Sir"])
    titles.formIntersection(["Prof"])
    expect(titles.remove("Prof") == "Prof" && Array(titles).isEmpty)
    var iterator: Set<String>.Iterator = titles.makeIterator()
    expect(iterator.next() == nil)
    titles.set(["Lord"])
    expectEqual(person.titles, ["Lord"])
    expectEqual(notified, [.insertion, .insertion, .removal, .removal, .removal, .replacement])
    withExtendedLifetime(token) {}
    person.mutableSet(\.hobbies).insert("chess")
    expectEqual(person.hobbies, ["chess"])
  }

  @Test func lazyProxies() throws {
    let person = Person()
    try person.mutableArrayValue(forKey: "books").append("A")
    let books = try require(try person.value(forKey: "books") as? ArrayProxy)
    expect(books.startIndex == 0 && books.endIndex == 1 && books[0] as? String == "A")
    expect(books.first as? String == "A" && books.last as? String == "A")
    try person.mutableSetValue(forKey: "keys").add("home")
    let keys = try require(try person.value(forKey: "keys") as? SetProxy)
    expect(keys.count == 1 && keys.contains("home") && Array(keys) == ["home"])
    var iterator: Set<AnyHashable>.Iterator = keys.makeIterator()
    expect(iterator.next() == AnyHashable("home") && iterator.next() == nil)
  }

  @Test func mutableArrays() throws {
    let person = Person()
    let books: MutableArrayProxy = try person.mutableArrayValue(forKey: "books")
    try books.append("A")
    try books.insert("B", at: 0)
    try books.insert(["C", "D"], at: RangeSet(1..<3))
    try books.replace(at: 0, with: "E")
    try books.replace(at: RangeSet(1..<2), with: ["F"])
    expect(person.shelf == ["E", "F", "D", "A"] && books[3] as? String == "A")
    expect(try books.remove(at: 3) as? String == "A")
    try books.remove(at: RangeSet(0..<2))
    expect(books.startIndex == 0 && books.endIndex == 1)
    try books.removeAll()
    expect(person.shelf.isEmpty)
    try person.mutableArrayValue(forKeyPath: "books").append("G")
    expectEqual(person.shelf, ["G"])
  }

  @Test func mutableSets() throws {
    let person = Person()
    let keys: MutableSetProxy = try person.mutableSetValue(forKey: "keys")
    try keys.add("a")
    try keys.formUnion(["b", "c"])
    try keys.subtract(["c"])
    try keys.formIntersection(["a", "b"])
    try keys.remove("b")
    expect(person.drawer == ["a"] && keys.count == 1 && keys.contains("a"))
    try keys.set(["z"])
    expectEqual(Set(keys), ["z"])
    var iterator: Set<AnyHashable>.Iterator = keys.makeIterator()
    expect(iterator.next() == AnyHashable("z") && iterator.next() == nil)
    try person.mutableSetValue(forKeyPath: "keys").add("y")
    expectEqual(person.drawer, ["y", "z"])
  }

  @Test func mutableOrderedSets() throws {
    let person = Person()
    let ranks: MutableOrderedSetProxy = try person.mutableOrderedSetValue(forKey: "ranks")
    try ranks.add("a")
    try ranks.insert("b", at: 0)
    try ranks.insert(["c", "d"], at: RangeSet(2..<4))
    try ranks.replace(at: 0, with: "e")
    expect(
      person.shelf == ["e", "a", "c", "d"] && ranks.contains("a") && ranks[0] == AnyHashable("e"))
    try ranks.remove(at: 0)
    try ranks.remove("a")
    try ranks.remove(at: RangeSet(0..<1))
    expect(ranks.startIndex == 0 && ranks.endIndex == 1)
    try ranks.removeAll()
    try person.mutableOrderedSetValue(forKeyPath: "ranks").add("f")
    expectEqual(person.shelf, ["f"])
  }
}
