import CFixtures
import CKVORuntime
import Expectations
import KVORuntime
import ModelFixtures
import Testing

/// B5 to B7, B10, G1 for objects of C and of Swift that are linked to one another.
@Suite(.leakFree) struct ForeignPathTests {
  @Test("B5: paths from C to Swift and from Swift to C, read and set")
  func bothWays() throws {
    try withPair { foreign, ada in
      expect(try foreign.value(forKeyPath: "boss.name") as? String == "Ada")
      expect(try ada.value(forKeyPath: "anything.name") as? String == "Cyd")
      expect(try ada.value(forKeyPath: "anything.boss.anything.boss.name") as? String == "Ada")
      try foreign.setValue("Ida", forKeyPath: "boss.name")
      try ada.setValue("Sid", forKeyPath: "anything.name")
      expectEqual(ada.name, "Ida")
      expect(try foreign.value(forKey: "name") as? String == "Sid")
      try foreign.setValue(nil, forKeyPath: "boss.boss.name")
      expectEqual(
        keyValueError { _ = try foreign.value(forKeyPath: "boss.hat") },
        .undefinedKey(key: "hat", className: "Worker"))
      expectEqual(
        keyValueError { _ = try ada.value(forKeyPath: "anything.hat") },
        .undefinedKey(key: "hat", className: "CWorker"))
      expectEqual(
        keyValueError { try foreign.setValue([1], forKeyPath: "boss.age") },
        .typeMismatch(key: "age", className: "Worker", expected: "Int", found: "[Int]"))
    }
  }

  @Test("B6 B7: C's collections are arrays and sets; Swift's become C's")
  func collections() throws {
    try withPair { foreign, ada in
      expect(try foreign.value(forKey: "staff") == nil)
      try foreign.setValue([ada, Worker("Bob", age: 50), foreign], forKey: "staff")
      expect(try foreign.value(forKeyPath: "staff.name") as? [String] == ["Ada", "Bob", "Cyd"])
      expect(try foreign.value(forKeyPath: "staff.@max.age") as? Int == 50)
      expect(try foreign.value(forKeyPath: "staff.@count") as? Int == 3)
      expect((try foreign.value(forKey: "staff") as? [Any])?.first as? Worker === ada)
      try foreign.setValue(["x", nil, "y"], forKey: "staff")
      expect(try foreign.value(forKey: "staff") as? [String?] == ["x", nil, "y"])
      try foreign.setValue(Set([1, 2]), forKey: "staff")
      expect(try foreign.value(forKey: "staff") as? Set<Int> == [1, 2])
      ada.anything = foreign
      expect(try ada.value(forKeyPath: "anything.staff.@sum.self") as? Int == 3)
      expectEqual(
        keyValueError { try foreign.setValue([1], forKey: "age") },
        .typeMismatch(key: "age", className: "CWorker", expected: "Int", found: "[Int]"))
      try foreign.setValue(nil, forKey: "staff")
    }
  }

  @Test("C8: an impossible type at the end of a path is an error")
  func impossibleType() throws {
    try withPair { foreign, ada in
      expectEqual(
        keyValueError { _ = try foreign.observe("boss.name", as: Int.self) { _, _ in } },
        .typeMismatch(key: "boss.name", className: "CWorker", expected: "String", found: "Int"))
      expect(foreign.observationInfo.registrations.isEmpty)
    }
  }

  @Test("G1: a path from C to Swift and back is observed from either end")
  func observing() throws {
    try withPair { foreign, ada in
      let log = Recorder()
      let token = try foreign.observe("boss.name", as: String.self, options: [.old, .new]) {
        log.note("\($1.oldValue ?? "nil") \($1.newValue ?? "nil")")
      }
      try log.observe(ada, "anything.name", [.old, .new])
      ada.name = "Ida"
      try foreign.setValue("Sid", forKey: "name")
      expectEqual(log.take(), ["Ada Ida", "a old Cyd new Sid"])
      try foreign.setValue(Worker("Eve"), forKey: "boss")
      ada.name = "Ada"
      expectEqual(log.take(), ["Ida Eve"])
      token.invalidate()
    }
  }

  @Test("B2 B3: C sets a Swift object's key as Swift does, with its errors")
  func fromC() throws {
    let ada = Worker("Ada")
    try withExtendedLifetime(ada) {
      _ = try ada.value(forKey: "age")
      var value = kvo_value_string("x")
      var error = kvo_error()
      expectEqual(kvo_set_value_for_key(header(of: ada), "name", &value, &error), .KVO_OK)
      expectEqual(ada.name, "x")
      expectEqual(
        kvo_set_value_for_key(header(of: ada), "boss", &value, &error), .KVO_TYPE_MISMATCH)
      expectEqual(kvo_set_value_for_key(header(of: ada), "age", nil, &error), .KVO_NIL_VALUE)
      expectEqual(kvo_set_value_for_key(header(of: ada), "hat", &value, &error), .KVO_UNDEFINED_KEY)
      kvo_value_destroy(&value)
      value = kvo_value_int(7)
      expectEqual(kvo_set_value_for_key(header(of: ada), "age", &value, &error), .KVO_OK)
      expectEqual(kvo_set_value_for_key_path(header(of: ada), "bonus", &value, &error), .KVO_OK)
      expect(ada.age == 7 && ada.bonus == 7)
    }
  }

  @Test("B10: the last object's validator is asked, C's or Swift's")
  func validation() throws {
    try withPair { foreign, ada in
      var value: Any? = 200
      try ada.validateValue(&value, forKeyPath: "anything.age")
      expect(value as? Int == 150)
      value = ""
      #expect(throws: KeyValueError.self) {
        try ada.validateValue(&value, forKeyPath: "anything.name")
      }
      expect(value as? String == "")
    }
  }

  /// A C object, Cyd, and Ada, linked to one another.
  private func withPair(_ body: (ForeignObject, Worker) throws -> Void) throws {
    let made = kvo_object_create(worker_class())!
    let foreign = ForeignObject(OpaquePointer(made))
    kvo_object_release(made)
    let ada = Worker("Ada", age: 36)
    try foreign.setValue("Cyd", forKey: "name")
    try foreign.setValue(ada, forKey: "boss")
    ada.anything = foreign
    try body(foreign, ada)
    try foreign.setValue(nil, forKey: "boss")
    ada.anything = nil
  }
}
