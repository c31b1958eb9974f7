import CFixtures
import CKVORuntime
import Expectations
import Testing

/// Bad input gives a status and a sentence that names class, key and cause, and changes nothing.
@Suite(.recording) struct ErrorTests {
  // MARK: Making classes

  /// A mistake in making a class: the status, and what the message must name besides the class.
  struct Mistake: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let status: kvo_status
    let words: [String]
    let make: @Sendable (_ cls: CClass, _ error: UnsafeMutablePointer<kvo_error>?) -> kvo_status

    init(
      _ description: String, _ status: kvo_status, _ words: [String],
      _ make: @escaping @Sendable (CClass, UnsafeMutablePointer<kvo_error>?) -> kvo_status
    ) {
      self.testDescription = description
      self.status = status
      self.words = words
      self.make = make
    }
  }

  static let mistakes: [Mistake] = [
    Mistake("a method twice", .KVO_DUPLICATE, ["present"]) {
      kvo_class_add_method($0, "present", nothing, encoded("v@:"), nil, $1)
    },
    Mistake("an encoding that ends too early", .KVO_INVALID_ENCODING, ["early", "{x=d"]) {
      kvo_class_add_method($0, "early", nothing, encoded("v@:{x=d"), nil, $1)
    },
    Mistake("an encoding of another letter", .KVO_INVALID_ENCODING, ["letter:", "y"]) {
      kvo_class_add_method(
        $0, "letter:", nothing, signature(.KVO_FORM_SETTER, layout("y")), nil, $1)
    },
    Mistake("a method without self", .KVO_INVALID_ENCODING, ["lonely", "dd"]) {
      kvo_class_add_method($0, "lonely", nothing, encoded("dd"), nil, $1)
    },
    Mistake("a struct without encoding", .KVO_INVALID_ENCODING, ["nameless", "encoding"]) {
      kvo_class_add_method(
        $0, "nameless", nothing, signature(.KVO_FORM_GETTER, layout("", size: 16, alignment: 8)),
        nil, $1)
    },
    Mistake("a size that is not the encoding's", .KVO_LAYOUT_MISMATCH, ["narrow", "{x=cd}"]) {
      kvo_class_add_method(
        $0, "narrow", nothing,
        signature(.KVO_FORM_GETTER, layout("{x=cd}", size: 9, alignment: 1)), nil, $1)
    },
    Mistake("an alignment that is not the encoding's", .KVO_LAYOUT_MISMATCH, ["wide", "d"]) {
      kvo_class_add_method(
        $0, "wide", nothing, signature(.KVO_FORM_GETTER, layout("d", size: 8, alignment: 16)),
        nil, $1)
    },
    Mistake("an override of another type", .KVO_INVALID_ENCODING, ["setBalance:"]) {
      kvo_class_add_method($0, "setBalance:", nothing, encoded("v@:i"), nil, $1)
    },
    Mistake("a class method twice", .KVO_DUPLICATE, ["accessInstanceVariablesDirectly"]) {
      kvo_class_add_class_method($0, "accessInstanceVariablesDirectly", nothing, $1)
    },
    Mistake("an ivar twice", .KVO_DUPLICATE, ["_own"]) {
      kvo_class_add_ivar($0, "_own", 16, layout("i", size: 4, alignment: 4), $1)
    },
    Mistake("an ivar beyond the end", .KVO_INVALID_ARGUMENT, ["_far"]) {
      kvo_class_add_ivar($0, "_far", MemoryLayout<account>.size - 4, layout("d"), $1)
    },
    Mistake("an ivar of no type", .KVO_INVALID_ENCODING, ["_typeless"]) {
      kvo_class_add_ivar($0, "_typeless", 16, layout(""), $1)
    },
    Mistake("a replacement of what is not there", .KVO_UNDEFINED_KEY, ["absent"]) {
      kvo_class_replace_method($0, "absent", nothing, nil, $1)
    },
  ]

  @Test(
    "a mistake in making a class is reported, and leaves the class unchanged", arguments: mistakes)
  func mistakenClass(_ mistake: Mistake) throws {
    let name = "CMistaken \(mistake.testDescription)"
    let cls = try require(makeUnregistered(name))
    let before = methods(of: cls)

    let outcome = attempt { mistake.make(cls, $0) }

    expectEqual(outcome.status, mistake.status, "\(outcome)")
    expectEqual(outcome.className, name)
    for word in mistake.words + [name] { expect(outcome.message.contains(word), "\(outcome)") }
    expectEqual(methods(of: cls), before)
    expectEqual(mistake.make(cls, nil), mistake.status)
    expectEqual(kvo_class_register(cls, nil), .KVO_OK)
    let object = make(cls)
    defer { kvo_object_release(object) }
    expectEqual(set(object, "balance", .double(3)).status, .KVO_OK)
    expectEqual(read(object, "balance"), "3.0")
  }

  @Test("a class needs a new name, a registered superclass and memory")
  func classCreation() throws {
    let small = MemoryLayout<kvo_object>.size
    expectEqual(creation("CAccount", nil, 64).status, .KVO_DUPLICATE)
    expectEqual(creation("", nil, 64).status, .KVO_INVALID_ARGUMENT)
    expectEqual(creation("CTooSmall", nil, small - 1).status, .KVO_INVALID_ARGUMENT)
    let narrow = creation("CNarrow", account_class(), MemoryLayout<account>.size - 1)
    expectEqual(narrow.status, .KVO_INVALID_ARGUMENT)
    expect(narrow.message.contains("CNarrow"))
    expect(kvo_class_named("CNarrow") == nil)

    let raw = try require(makeUnregistered("CRaw"))
    expectEqual(creation("COfRaw", raw, MemoryLayout<account>.size).status, .KVO_INVALID_ARGUMENT)
    expect(kvo_object_create(raw) == nil)
    expectEqual(kvo_class_register(raw, nil), .KVO_OK)
    let again = attempt { kvo_class_register(raw, $0) }
    expect(again.status == .KVO_DUPLICATE && again.message.contains("CRaw"))
  }

  @Test("classes are found by name and know their superclasses")
  func classQueries() {
    let savings = savings_class()
    expectEqual(kvo_class_named("CSavings"), savings)
    expect(kvo_class_named("CNobody") == nil)
    expectEqual(kvo_class_superclass(savings_class()), account_class())
    expect(kvo_class_is_subclass_of(savings_class(), savings_class()))
    expect(kvo_class_is_subclass_of(savings_class(), kvo_root_class()))
    expect(!kvo_class_is_subclass_of(account_class(), savings_class()))
    expect(kvo_class_method(savings_class(), "setBalance:") != nil)
    expect(kvo_class_method(savings_class(), "setNothing:") == nil)
    let method = kvo_class_method(account_class(), "setBalance:")!
    expectEqual(String(cString: kvo_method_selector(method)), "setBalance:")
    expectEqual(
      kvo_method_slot(method), kvo_method_slot(kvo_class_method(savings_class(), "setBalance:")!))
  }

  // MARK: Encodings

  @Test(
    "an invalid encoding has no type",
    arguments: [
      "", "y", "dd", "{", "{x", "{x=d", "{x=d}}", "{x=[3]}", "{x=[i]}", "{x=y}", "(u=id)", "b3",
      "[4i]", "^", "{x=b3b5}", "{x=(u=id)}", "t", "{x=t}", " d",
    ])
  func badEncoding(_ encoding: String) {
    var type: UnsafePointer<kvo_type>?
    let outcome = attempt { error in
      type = kvo_type_for_encoding(encoding, error)
      return error.pointee.status
    }
    expect(type == nil)
    expectEqual(outcome.status, .KVO_INVALID_ENCODING)
    expect(outcome.message.contains(encoding))
    expect(kvo_type_for_encoding(encoding, nil) == nil)
  }

  static let layouts: [(String, Int, Int, kvo_kind)] = [
    ("B", 1, 1, .KVO_KIND_BOOL), ("c", 1, 1, .KVO_KIND_INT8), ("C", 1, 1, .KVO_KIND_UINT8),
    ("s", 2, 2, .KVO_KIND_INT16), ("S", 2, 2, .KVO_KIND_UINT16), ("i", 4, 4, .KVO_KIND_INT32),
    ("I", 4, 4, .KVO_KIND_UINT32), ("q", 8, 8, .KVO_KIND_INT64), ("Q", 8, 8, .KVO_KIND_UINT64),
    ("f", 4, 4, .KVO_KIND_FLOAT), ("d", 8, 8, .KVO_KIND_DOUBLE), ("*", 8, 8, .KVO_KIND_STRING),
    ("@", 8, 8, .KVO_KIND_OBJECT), (":", 8, 8, .KVO_KIND_SELECTOR), ("^v", 8, 8, .KVO_KIND_POINTER),
    ("^{opaque}", 8, 8, .KVO_KIND_POINTER), ("{a=cd}", 16, 8, .KVO_KIND_STRUCT),
    ("{a=ccc}", 3, 1, .KVO_KIND_STRUCT), ("{a=[3c]s}", 6, 2, .KVO_KIND_STRUCT),
    ("{a={b=cd}c}", 24, 8, .KVO_KIND_STRUCT), ("{a=[2{b=sc}]q}", 16, 8, .KVO_KIND_STRUCT),
    ("{a=fff}", 12, 4, .KVO_KIND_STRUCT), ("{a=[64i]}", 256, 4, .KVO_KIND_STRUCT),
  ]

  @Test("an encoding gives size, alignment and kind, and is parsed once", arguments: layouts)
  func encodedLayout(_ encoding: String, _ size: Int, _ alignment: Int, _ kind: kvo_kind) throws {
    let type = try require(kvo_type_for_encoding(encoding, nil))
    expectEqual(type.pointee.size, size)
    expectEqual(type.pointee.alignment, alignment)
    expectEqual(type.pointee.kind, kind)
    expectEqual(kvo_type_for_encoding(encoding, nil), type)
  }

  // MARK: Errors themselves

  @Test("every call that fails may be called without an error argument")
  func withoutError() {
    let object = make(account.self)
    let observer = make(watcher.self)
    defer {
      object.release()
      observer.release()
    }
    var value = kvo_value()
    expectEqual(kvo_value_for_key(object.object, "nonsense", &value, nil), .KVO_UNDEFINED_KEY)
    expect(kvo_value_is_nil(&value))
    expectEqual(kvo_set_value_for_key(object.object, "balance", nil, nil), .KVO_NIL_VALUE)
    expectEqual(
      kvo_add_observer(object.object, observer.object, "nonsense", [], nil, nil), .KVO_UNDEFINED_KEY
    )
    expectEqual(
      kvo_remove_observer(object.object, observer.object, "balance", nil), .KVO_NOT_REGISTERED)
  }

  @Test("names too long for an error are truncated and terminated")
  func longNames() {
    let object = make(account.self)
    defer { object.release() }
    let key = String(repeating: "k", count: 5_000)
    let outcome = set(object.object, key, .int(1))
    expectEqual(outcome.status, .KVO_UNDEFINED_KEY)
    expectEqual(outcome.key, String(key.prefix(127)))
    expectEqual(outcome.message.utf8.count, 415)
  }

  @Test("every status has the name that C gives it")
  func statusNames() {
    for (status, name) in [
      (kvo_status.KVO_OK, "KVO_OK"), (.KVO_UNDEFINED_KEY, "KVO_UNDEFINED_KEY"),
      (.KVO_NOT_REGISTERED, "KVO_NOT_REGISTERED"), (.KVO_NO_MEMORY, "KVO_NO_MEMORY"),
    ] {
      expectEqual(String(cString: kvo_status_name(status)), name)
    }
    let all = (0...kvo_status.KVO_NO_MEMORY.rawValue).compactMap(kvo_status.init(rawValue:))
    let names = Set(all.map { String(cString: kvo_status_name($0)) })
    expectEqual(names.count, all.count)
    expect(names.allSatisfy { $0.hasPrefix("KVO_") })
  }
}

/// A method that does nothing.
private let nothing: kvo_imp = {}

private func encoded(_ encoding: StaticString) -> kvo_signature {
  signature(.KVO_FORM_ENCODED, layout(encoding))
}

private func creation(_ name: String, _ superclass: CClass?, _ size: Int) -> Outcome {
  attempt { error in
    _ = account_class()
    return kvo_class_create(name, superclass, size, error) == nil ? error.pointee.status : .KVO_OK
  }
}

/// An unregistered subclass of account, with a method, a class method and an ivar.
private func makeUnregistered(_ name: String) -> CClass? {
  guard let cls = kvo_class_create(name, account_class(), MemoryLayout<account>.size, nil) else {
    return nil
  }
  let yes = unsafeBitCast(
    { _ in true } as @convention(c) (CClass) -> Bool, to: kvo_imp.self)
  kvo_class_add_method(cls, "present", nothing, encoded("v@:"), nil, nil)
  kvo_class_add_class_method(cls, "accessInstanceVariablesDirectly", yes, nil)
  kvo_class_add_ivar(cls, "_own", 16, layout("d"), nil)
  return cls
}

/// The class for each selector that a mistake names.
private func methods(of cls: CClass) -> [UnsafeRawPointer?] {
  ["present", "early", "letter:", "lonely", "nameless", "narrow", "wide", "setBalance:", "absent"]
    .map { selector in
      guard let method = kvo_class_method(cls, selector) else { return nil }
      return unsafeBitCast(kvo_class_imp(cls, method), to: UnsafeRawPointer.self)
    }
}
