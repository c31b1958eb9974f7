import CFixtures
import CKVORuntime
import Expectations
import TestSupport
import Testing

/// Errors in adding methods, calling them and passing them as hooks.
@Suite(.recording) struct MethodTests {
  @Test("a selector that is too long is refused, as a method, a hook and a class method")
  func longSelector() throws {
    let selector = String(repeating: "x", count: 2000)
    let cls = try require(makeClass("CLongWinded"))
    let hook = kvo_signature(form: .KVO_FORM_HOOK, layout: layout(""))
    let getter = signature(.KVO_FORM_GETTER, layout("d"))
    let additions: [(UnsafeMutablePointer<kvo_error>?) -> kvo_status] = [
      { kvo_class_add_method(cls, selector, nothing, getter, nil, $0) },
      { kvo_class_add_method(cls, selector, nothing, hook, nil, $0) },
      { kvo_class_add_class_method(cls, selector, nothing, $0) },
    ]
    for add in additions {
      let outcome = attempt { add($0) }
      expectEqual(outcome.status, .KVO_INVALID_ARGUMENT)
      expectEqual(outcome.className, "CLongWinded")
      expect(outcome.message.contains("2000"))
      expectEqual(add(nil), .KVO_INVALID_ARGUMENT)
    }
    expect(kvo_class_method(cls, selector) == nil)
  }

  @Test(
    "A4: a method that a superclass gets late is overridden by its subclasses' existing ones",
    arguments: [0, 100])
  func lateInSuperclass(_ fillers: Int) throws {
    let elder = try require(makeClass("CElder\(fillers)"))
    for number in 0..<fillers {
      let getter = signature(.KVO_FORM_GETTER, layout("i"))
      expectEqual(
        kvo_class_add_method(elder, "filler\(number)", nothing, getter, nil, nil), .KVO_OK)
    }
    expectEqual(kvo_class_register(elder, nil), .KVO_OK)
    let sibling = try require(makeClass("CSibling\(fillers)", elder))
    expectEqual(kvo_class_register(sibling, nil), .KVO_OK)
    let younger = try require(makeClass("CYounger\(fillers)", elder))
    let own = try require(addMark(younger, 10))
    expectEqual(kvo_class_register(younger, nil), .KVO_OK)
    let youngest = try require(makeClass("CYoungest\(fillers)", younger))
    expectEqual(kvo_class_register(youngest, nil), .KVO_OK)

    let objects = [elder, sibling, younger, youngest].map { make($0) }
    let log = Recorder()
    if fillers == 0 { log.observe(objects[2], "mark", .KVO_NEW, as: "younger") }
    let late = try require(addMark(elder, 20))
    if fillers > 0 { log.observe(objects[2], "mark", .KVO_NEW, as: "younger") }
    log.observe(objects[1], "mark", .KVO_NEW, as: "sibling")
    log.observe(objects[3], "mark", .KVO_NEW, as: "youngest")
    for object in objects { setMark(of: object, 1, by: late) }
    for object in objects[2...] { setMark(of: object, 2, by: own) }
    expectEqual(
      log.take(),
      [
        "sibling: mark new 21", "younger: mark new 11", "youngest: mark new 11",
        "younger: mark new 12", "youngest: mark new 12",
      ])
    expectEqual(kvo_method_slot(own), kvo_method_slot(late))
    expectEqual(kvo_class_replace_method(younger, "setMark:", setsMark[20]!, nil, nil), .KVO_OK)
    for (object, method) in [(objects[2], own), (objects[3], late)] {
      setMark(of: object, 3, by: method)
    }
    expectEqual(log.take(), ["younger: mark new 23", "youngest: mark new 23"])
    log.end()
    for object in objects { kvo_object_release(object) }
  }

  @Test(
    "A4: a lookup while the superclass gets the method reaches the subclass's",
    arguments: [1, 2, 3, 4], [0, 56, 57, 120])
  func lookedUpWhileAdded(_ load: Int32, _ others: Int32) {
    expect(late_method_is_found(load, others))
  }

  @Test("A4: a method that a subclass has with another signature can't be added to its superclass")
  func otherSignatureInSubclass() throws {
    let superclass = try require(makeClass("CUnlikeElder"))
    expectEqual(kvo_class_register(superclass, nil), .KVO_OK)
    let subclass = try require(makeClass("CUnlikeYounger", superclass))
    let getters = ["d", "i"].map {
      signature(.KVO_FORM_GETTER, $0 == "d" ? layout("d") : layout("i"))
    }
    expectEqual(kvo_class_add_method(subclass, "height", nothing, getters[0], nil, nil), .KVO_OK)
    let outcome = attempt {
      kvo_class_add_method(superclass, "height", nothing, getters[1], nil, $0)
    }
    expectEqual(outcome.status, .KVO_INVALID_ENCODING)
    for word in ["height", "CUnlikeElder", "CUnlikeYounger", "d@:", "i@:"] {
      expect(outcome.message.contains(word))
    }
    expect(kvo_class_method(superclass, "height") == nil)
  }

  @Test(
    "calling a method that an object does not have stops the program", arguments: [true, false])
  func callWithout(_ isFilled: Bool) async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [isFilled] in
      // If the method can't even be set up, the process succeeds, which fails the test.
      guard let elder = makeClass("CElder"), kvo_class_register(elder, nil) == .KVO_OK,
        let younger = makeClass("CYounger", elder)
      else { return }
      let getter = signature(.KVO_FORM_GETTER, layout("d"))
      var method: OpaquePointer?
      kvo_class_add_method(younger, "height", nothing, getter, &method, nil)
      guard let method else { return }
      // The slot of a method added later is after the subclass's.
      if isFilled { kvo_class_add_method(elder, "width", nothing, getter, nil, nil) }
      kvo_class_imp(elder, method)()
    }
    let errors = String(decoding: try require(result).standardErrorContent, as: UTF8.self)
    expect(errors.contains("A method was called on an object whose class does not have it"))
  }

  @Test("a method value is described by its selector")
  func methodAsValue() throws {
    let type = try require(kvo_type_for_encoding(":", nil))
    var method = kvo_class_method(account_class(), "setBalance:")
    var value = kvo_value()
    expectEqual(kvo_value_init(&value, type, &method), .KVO_OK)
    expectEqual(text(of: value), "setBalance:")
    method = nil
    expectEqual(kvo_value_init(&value, type, &method), .KVO_OK)
    expectEqual(text(of: value), "nil")
  }

  @Test(
    "a pointer's encoding must be complete, whatever it points to",
    arguments: ["^{a)i}", "^y", "^{"])
  func pointee(_ encoding: String) {
    expect(kvo_type_for_encoding(encoding, nil) == nil)
    expect(kvo_type_for_encoding("^{a=\"b}\"i[2c]}", nil) != nil)
  }

  @Test("offsets in an encoding are skipped, with or without a sign")
  func offsets() throws {
    let cls = try require(makeClass("COffset"))
    for (selector, encoding) in [("plain:", "v20@0:8i16"), ("signed:", "v20@+0:+8i-16")] {
      let outcome = attempt { error in
        encoding.withCString {
          kvo_class_add_method(
            cls, selector, nothing,
            signature(
              .KVO_FORM_ENCODED, kvo_layout(encoding: $0, size: 0, alignment: 0)), nil, error)
        }
      }
      expectEqual(outcome.status, .KVO_OK, "\(outcome)")
    }
  }

  @Test(
    "C4 D5: an object dropped in its setter dies there, or after the change if old was read",
    arguments: [([], []), (.KVO_OLD, ["a: reading old 0.0"])] as [(kvo_options, [String])])
  func diesInItsSetter(_ options: kvo_options, _ notified: [String]) {
    let deaths = Deaths()
    let log = Recorder()
    let object = make(thrower.self)
    let other = make(thrower.self)
    object.pointee.base.deaths = deaths.counter
    log.observe(object.object, "reading", options)
    log.observe(other.object, "reading", .KVO_NEW)
    object.pointee.last_step_context = UnsafeMutableRawPointer(object)
    object.pointee.last_step = {
      kvo_object_release($0?.assumingMemoryBound(to: kvo_object.self))
    }
    thrower_setReading(object, 1)
    expectEqual(deaths.count, 1)
    expectEqual(log.take(), notified)
    thrower_setReading(other, 2)
    expectEqual(log.take(), ["a: reading new 2.0"])
    other.release()
  }

  // MARK: In processes of their own

  @Test("C8: a path that reaches an object without the key is reported, and broken there")
  func relinkedToUnknownKey() async {
    await #expect(processExitsWith: .success) {
      kvo_set_misuse_handler { message in heard.withLock { $0.append(String(cString: message)) } }
      let object = make(account.self)
      let branch = make(tracked.self)
      let stranger = make(account.self)
      let log = Recorder()
      account_setBranch(object, branch)
      log.observe(object.object, "branch.mark", .KVO_NEW)
      let unlike = UnsafeMutableRawPointer(stranger).assumingMemoryBound(to: tracked.self)
      account_setBranch(object, unlike)
      let messages = heard.withLock { $0 }
      expectEqual(messages.count, 1)
      for word in ["branch.mark", "CAccount", "mark"] { expect(messages[0].contains(word)) }
      account_setBranch(object, branch)
      tracked_setMark(branch, 3)
      expectEqual(log.take().last, "a: branch.mark new 3")
      log.end()
      object.release()
      branch.release()
      stranger.release()
    }
  }

  @Test("F1: a hook's answers that are not key paths are reported, and the others hold")
  func hookAnswersNonsense() async {
    await #expect(processExitsWith: .success) {
      kvo_set_misuse_handler { message in heard.withLock { $0.append(String(cString: message)) } }
      let cls = kvo_class_create("CMuddled", account_class(), MemoryLayout<account>.size, nil)!
      let hook: @convention(c) (CClass, OpaquePointer) -> Void = { _, paths in
        kvo_key_paths_add(paths, "frozen..")
        kvo_key_paths_add(paths, "frozen")
      }
      let imp = unsafeBitCast(hook, to: kvo_imp.self)
      kvo_class_add_class_method(cls, "keyPathsForValuesAffectingBalance", imp, nil)
      kvo_class_register(cls, nil)
      let object = make(cls)
      let log = Recorder()
      log.observe(object, "balance")
      let messages = heard.withLock { $0 }
      expectEqual(messages.count, 1)
      for word in ["balance", "CMuddled", "frozen.."] { expect(messages[0].contains(word)) }
      set(object, "frozen", .bool(true))
      expectEqual(log.take(), ["a: balance"])
      log.end()
      kvo_object_release(object)
    }
  }

  @Test("a binding's object that takes no notifications can't be an observer")
  func bindingCannotObserve() async {
    await #expect(processExitsWith: .success) {
      offset_object_install()
      let lodgers = UnsafeMutablePointer<offset_object>.allocate(capacity: 1)
      lodgers.initialize(to: offset_object())
      let offset = MemoryLayout<offset_object>.offset(of: \.header)!
      let header = (UnsafeMutableRawPointer(lodgers) + offset)
        .assumingMemoryBound(to: kvo_object.self)
      let object = make(account.self)
      let outcome = attempt { kvo_add_observer(object.object, header, "balance", [], nil, $0) }
      expectEqual(outcome.status, .KVO_INVALID_ARGUMENT)
      expect(outcome.message.contains("balance"))
      expect(!kvo_is_observed(object.object, "balance"))
      object.release()
      lodgers.deallocate()
    }
  }

  @Test("J1: the dump of a null object says so")
  func dumpOfNothing() async throws {
    let result = try await #require(
      processExitsWith: .success, observing: [\.standardErrorContent]
    ) {
      kvo_debug_dump(nil)
    }
    let said = String(decoding: result.standardErrorContent, as: UTF8.self)
    expect(said.contains("no object"))
  }
}

/// A method that does nothing.
private let nothing: kvo_imp = {}

private func makeClass(_ name: String, _ superclass: CClass? = nil) -> CClass? {
  kvo_class_create(name, superclass, MemoryLayout<tracked>.size, nil)
}

/// Setters of `tracked.mark` that add a number, by that number.
private let setsMark: [Int32: kvo_imp] = [
  10: unsafeBitCast(
    { object, _, mark in object.pointee.mark = mark + 10 } as MarkSetter, to: kvo_imp.self),
  20: unsafeBitCast(
    { object, _, mark in object.pointee.mark = mark + 20 } as MarkSetter, to: kvo_imp.self),
]
private typealias MarkSetter =
  @convention(c) (
    UnsafeMutablePointer<tracked>, OpaquePointer, Int32
  ) -> Void
private let getsMark: @convention(c) (UnsafeMutablePointer<tracked>, OpaquePointer) -> Int32 = {
  object, _ in object.pointee.mark
}

/// Adds a getter and a setter of a mark, and returns the setter's handle.
private func addMark(_ cls: CClass, _ added: Int32) -> OpaquePointer? {
  var method: OpaquePointer?
  let getter = signature(.KVO_FORM_GETTER, layout("i"))
  let setter = signature(.KVO_FORM_SETTER, layout("i"))
  let reads = unsafeBitCast(getsMark, to: kvo_imp.self)
  expectEqual(kvo_class_add_method(cls, "mark", reads, getter, nil, nil), .KVO_OK)
  expectEqual(
    kvo_class_add_method(cls, "setMark:", setsMark[added]!, setter, &method, nil), .KVO_OK)
  return method
}

private func setMark(of object: CObject, _ mark: Int32, by method: OpaquePointer) {
  let setter = unsafeBitCast(kvo_method_lookup(object, method), to: MarkSetter.self)
  setter(UnsafeMutableRawPointer(object).assumingMemoryBound(to: tracked.self), method, mark)
}

private func text(of value: kvo_value) -> String {
  var value = value
  var buffer = [CChar](repeating: 0, count: 100)
  let length = kvo_value_describe(&value, &buffer, buffer.count)
  return String(decoding: buffer.prefix(length).map(UInt8.init(bitPattern:)), as: UTF8.self)
}

/// Collects the misuse reports of a process of its own.
private let heard = Locked<[String]>([])
