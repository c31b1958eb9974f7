import CFixtures
import CKVORuntime
import KVORuntime
import Testing

/// Objects of the C runtime.
@Suite struct ForeignTests {
  @Test func objects() throws {
    let made = try #require(kvo_object_create(account_class()))
    defer { kvo_object_release(made) }
    let object = ForeignObject(OpaquePointer(made))
    #expect(object.className == "CAccount")
    var told: [Double?] = []
    let token: KeyValueObservation = try object.observe(
      "balance", as: Double.self, options: .new
    ) { told.append($1.newValue) }
    try object.setValue(2, forKey: "balance")
    #expect(try object.value(forKey: "balance") as? Double == 2)
    #expect(told == [2] && object.observationInfo.registrations.count == 1)
    token.invalidate()
    let observing: any KeyValueObserving = object
    #expect(observing is ForeignObject)
  }

  @Test func keyPaths() throws {
    let made = try #require(kvo_object_create(account_class()))
    defer { kvo_object_release(made) }
    let branch = try #require(kvo_object_create(tracked_class()))
    defer { kvo_object_release(branch) }
    let object = ForeignObject(OpaquePointer(made))
    try object.setValue(ForeignObject(OpaquePointer(branch)), forKey: "branch")
    try object.setValue(7, forKeyPath: "branch.mark")
    #expect(try object.value(forKeyPath: "branch.mark") as? Int == 7)
    try object.setValue(nil, forKey: "branch")
    #expect(try object.value(forKeyPath: "branch.mark") == nil)
  }

  @Test func sequences() async throws {
    let made = try #require(kvo_object_create(account_class()))
    defer { kvo_object_release(made) }
    let object = ForeignObject(OpaquePointer(made))
    var values = try object.values(of: "balance", as: Double.self).makeAsyncIterator()
    var changes = try object.changes(of: "balance", as: Double.self, options: .new)
      .makeAsyncIterator()
    try object.setValue(2, forKey: "balance")
    #expect(await values.next() == 2)
    #expect(await changes.next()?.newValue == 2)
  }
}
