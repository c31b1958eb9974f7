import Expectations
import KVORuntime
import Testing

/// The types that are not objects: their names, cases and members.
@Suite struct ValuesTests {
  @Test func options() {
    let all: KeyValueObservingOptions = [.new, .old, .initial, .prior, .distinct]
    expect(all.rawValue == 31 && KeyValueObservingOptions(rawValue: 4) == .initial)
  }

  @Test func kinds() {
    let kinds: [KeyValueChange] = [.setting, .insertion, .removal, .replacement]
    let mutations: [KeyValueSetMutation] = [.union, .minus, .intersect, .set]
    expect(kinds.map(\.rawValue) == [1, 2, 3, 4] && mutations.map(\.rawValue) == [1, 2, 3, 4])
  }

  @Test func keys() {
    let keys: [KeyValueChangeKey] = [
      .kindKey, .newKey, .oldKey, .indexesKey, .notificationIsPriorKey,
    ]
    expect(Set(keys).count == 5 && KeyValueChangeKey(rawValue: "new") == .newKey)
    expectEqual(keys.map(\.rawValue), ["kind", "new", "old", "indexes", "notificationIsPrior"])
  }

  @Test func changes() {
    let bare = KeyValueObservedChange<Int>()
    expect(bare.kind == .setting && bare.newValue == nil && bare.oldValue == nil)
    expect(bare.indexes == nil && !bare.isPrior)
    let kind: KeyValueObservedChange<[Int]>.Kind = .removal
    let full: any Sendable = KeyValueObservedChange(
      kind: kind, newValue: [1], oldValue: [2], indexes: RangeSet(3..<4), isPrior: true)
    let change = full as? KeyValueObservedChange<[Int]>
    expect(change?.indexes == RangeSet(3..<4) && change?.oldValue == [2])
  }

  @Test func contexts() {
    let context = KVOContext()
    let pointer: UnsafeMutableRawPointer = context.pointer
    let missing: UnsafeMutableRawPointer? = nil
    expect(pointer == context && !(missing == context))
    switch Optional(pointer) {
    case KVOContext(): Issue.record("another context")
    case context: break
    default: Issue.record("not its own context")
    }
  }

  @Test func errors() {
    let errors: [KeyValueError] = [
      .undefinedKey(key: "k", className: "C"), .nilValue(key: "k", className: "C"),
      .typeMismatch(key: "k", className: "C", expected: "E", found: "F"),
      .readOnly(key: "k", className: "C"),
      .notObservable(key: "k", className: "C", reason: "r"),
      .observerNotRegistered(keyPath: "k", className: "C", observer: "O"),
      .invalidKeyPath(keyPath: "k", component: "c", className: "C"),
      .invalidOperator("@o", keyPath: "k"),
      .indexOutOfBounds(key: "k", className: "C", index: 2, count: 1),
      .validationFailed(key: "k", className: "C", reason: "r"),
    ]
    for error in errors { expect(error.description.contains("k")) }
    expectEqual(Set(errors.map { $0.description }).count, errors.count)
    let sendable: any Error & Sendable = errors[0]
    expect(sendable as? KeyValueError == errors[0])
  }

  #if !canImport(ObjectiveC)
    @Test func foundationNames() {
      expect(NSKeyValueObservation.self == KeyValueObservation.self)
      expect(NSKeyValueObservingOptions.self == KeyValueObservingOptions.self)
      expect(NSKeyValueObservedChange<Int>.self == KeyValueObservedChange<Int>.self)
      expect(NSKeyValueChange.self == KeyValueChange.self)
      expect(NSKeyValueChangeKey.self == KeyValueChangeKey.self)
      expect(NSKeyValueSetMutationKind.self == KeyValueSetMutation.self)
    }
  #endif
}
