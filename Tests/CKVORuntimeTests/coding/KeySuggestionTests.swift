import CFixtures
import CKVORuntime
import Expectations
import TestSupport
import Testing

/// The suggestion in an error about a key that a C class does not have.
@Suite(.recording) struct KeySuggestionTests {
  private func reading(_ object: CObject, _ key: String) -> String {
    attempt { error in
      var value = kvo_value()
      return kvo_value_for_key(object, key, &value, error)
    }.message
  }

  private func observing(_ object: CObject, _ key: String) -> String {
    attempt { kvo_add_callback(object, key, [], { _, _, _, _ in }, nil, nil, nil, $0) }.message
  }

  private static let near = [
    ("blance", "balance"), ("balanec", "balance"), ("Balance", "balance"), ("balanse", "balance"),
    ("balancess", "balance"), ("intrestRat", "interestRate"), ("setss", "sets"), ("ovner", "owner"),
    ("numbr", "number"), ("frozne", "frozen"), ("_frozen", "frozen"),
  ]

  @Test("B1: a misspelt key's error names the C class's key that is probably meant")
  func nearKeys() {
    let object = make(savings.self)
    defer { object.release() }
    for (key, meant) in Self.near {
      let question = "Did you mean \"\(meant)\"?"
      let lack = "and no ivar for the key \"\(key)\". \(question)"
      expectEqual(reading(object.object, key), "CSavings has no accessor \(lack)")
      expectEqual(
        observing(object.object, key),
        "\"\(key)\" of CSavings can't be observed: it has no getter and no ivar. \(question)")
      guard key != "Balance" else { continue }  // setBalance: also sets `Balance`
      expectEqual(set(object.object, key, .int(1)).message, "CSavings has no setter \(lack)")
    }
  }

  @Test("B1: a key that is near to no other is reported without a suggestion")
  func farKeys() {
    let object = make(savings.self)
    defer { object.release() }
    let long = String(repeating: "balance", count: 20)
    for key in ["", "x", "ba", "place2far", "zzzzzz", "blncee3", "setBalance:", long] {
      expect(!reading(object.object, key).contains("Did you mean"), "\(key)")
    }
  }

  @Test("B1: a suggested key can be read, by any form of getter or by an ivar")
  func forms() {
    for candidates: search_candidates in [
      .SEARCH_GET_VALUE, .SEARCH_VALUE, .SEARCH_IS_VALUE, .SEARCH_LOW_VALUE,
      .SEARCH_IVAR_LOW_VALUE, .SEARCH_IVAR_LOW_IS_VALUE, .SEARCH_IVAR_VALUE, .SEARCH_IVAR_IS_VALUE,
    ] {
      let object = makeSearch(candidates)
      defer { kvo_object_release(object) }
      expect(reading(object, "vaule").hasSuffix(" Did you mean \"value\"?"), "\(candidates)")
    }
  }

  @Test("B1: a write-only key or a hidden ivar is not suggested")
  func unreadable() {
    let object = makeSearch([.SEARCH_SET_VALUE])
    defer { kvo_object_release(object) }
    expect(reading(object, "vaule").hasSuffix(" for the key \"vaule\"."))
    let sealed = make(sealed.self)
    defer { sealed.release() }
    expect(reading(sealed.object, "sekret").hasSuffix(" for the key \"sekret\"."))
  }
}
