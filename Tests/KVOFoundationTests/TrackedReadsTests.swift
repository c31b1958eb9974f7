import CFixtures
import CKVORuntime
import Expectations
import Foundation
import KVOChangeLogs
import KVOFoundation
import KVORuntime
import TestSupport
import Testing

/// F5: each way to read something observable in a getter, combined with each way to observe what the getter reads.
@Suite struct TrackedReadsTests {
  /// Something that a getter reads, and a change of it.
  struct Way: CustomTestStringConvertible {
    let name: String
    let make: @Sendable () throws -> (read: () -> Int, change: () -> Void)
    var testDescription: String { name }
  }

  @dynamicMemberLookup final class Model: KVOObject {
    @Observed var number = 1
    @Observed var list = [1, 2]
    @Observed var tags: Set<Int> = [1]
    @Observed var next: Model?
    @Observed var table = ["red": 1]
    var computed: Int { number + 1 }
    var plain = 1
    lazy var cachedNumber = number
    subscript(index: Int) -> Int { list[index] }
    subscript(dynamicMember keyPath: KeyPath<Model, Int>) -> Int { self[keyPath: keyPath] }
    func withNumber<R>(_ body: (inout Int) -> R) -> R { body(&number) }

    // Guarded by a lock.
    private let stored = LockedValue(1)
    var locked: Int {
      get { stored.withLock { $0 } }
      set { withChange(of: \.locked) { stored.withLock { $0 = newValue } } }
    }

    nonisolated(unsafe) static let shared = Model()

    override class func registerKeys() {
      declareKeys { keys in
        keys.stored("plain", \.plain)
        keys.computed("locked", \.locked)
        keys.accessors("byHand", get: { $0.plain }, set: { $0.plain = $1 })
      }
    }
  }

  @KVO final class Marked: KVOObject {
    var count = 1 { didSet { cache = nil } }
    weak var friend: Marked?
    @KVOIgnored private var cache: Int?
    var doubled: Int {
      if let cache { return cache }
      cache = count * 2
      return count * 2
    }
  }

  final class Sheet: KeyValueRecord {
    override class func registerKeys() { declareKeys { $0.value("a.b", 1) } }
  }

  private static func number(_ value: Any?) -> Int { value as? Int ?? -1 }

  static let ways: [Way] = [
    Way(name: "an @Observed property") {
      let model = Model()
      return ({ model.number }, { model.number += 1 })
    },
    Way(name: "a computed property") {
      let model = Model()
      return ({ model.computed }, { model.number += 1 })
    },
    Way(name: "a link") {
      let model = Model()
      model.next = Model()
      return ({ model.next?.number ?? 0 }, { model.next = nil })
    },
    Way(name: "a key path") {
      let model = Model()
      model.next = Model()
      let path = \Model.next?.number
      return ({ model[keyPath: path] ?? 0 }, { model.next?.number = 5 })
    },
    Way(name: "a key") {
      let model = Model()
      return ({ number(try? model.value(forKey: "number")) }, { model.number += 1 })
    },
    Way(name: "a key path of strings with an operator") {
      let model = Model()
      return (
        { number(try? model.value(forKeyPath: "list.@sum.self")) }, { model.list.append(3) }
      )
    },
    Way(name: "a dictionary's key") {
      let model = Model()
      return (
        { number(try? model.value(forKeyPath: "table.red")) }, { model.table["red"] = 2 }
      )
    },
    Way(name: "an element") {
      let model = Model()
      return ({ model.list[0] }, { model.list[0] = 9 })
    },
    Way(name: "a subscript") {
      let model = Model()
      return ({ model[1] }, { model.list[1] = 9 })
    },
    Way(name: "a dynamic member") {
      let model = Model()
      return ({ model[dynamicMember: \.computed] }, { model.number += 1 })
    },
    Way(name: "a mutable array proxy") {
      let model = Model()
      return (
        { (try? model.mutableArrayValue(forKey: "list").count) ?? 0 }, { model.list.append(1) }
      )
    },
    Way(name: "a mutable set proxy") {
      let model = Model()
      return (
        { (try? model.mutableSetValue(forKey: "tags").count) ?? 0 }, { model.tags.insert(7) }
      )
    },
    Way(name: "a handle") {
      let model = Model()
      return ({ model.mutableArray(\.list).count }, { model.list.append(1) })
    },
    Way(name: "an access that may change it") {
      let model = Model()
      return ({ model.number + model.withNumber { $0 } * 0 }, { model.number += 1 })
    },
    Way(name: "a shared object") { ({ Model.shared.number }, { Model.shared.number += 1 }) },
    Way(name: "a property read on a queue") {
      let (model, queue) = (Shared(Model()), DispatchQueue(label: "reads"))
      return ({ queue.sync { model.value.number } }, { model.value.number += 1 })
    },
    Way(name: "a declared plain property by its key") {
      let model = Model()
      return (
        { number(try? model.value(forKey: "plain")) },
        { model.withChange(of: \.plain) { model.plain += 1 } }
      )
    },
    Way(name: "accessors by their key") {
      let model = Model()
      return (
        { number(try? model.value(forKey: "byHand")) },
        { try? model.setValue(7, forKey: "byHand") }
      )
    },
    Way(name: "a locked property by its key") {
      let model = Model()
      return ({ number(try? model.value(forKey: "locked")) }, { model.locked += 1 })
    },
    Way(name: "a mirror") {
      let model = Model()
      return (
        { Mirror(reflecting: model).children.first { $0.label == "number" }?.value as? Int ?? -1 },
        { model.number += 1 }
      )
    },
    Way(name: "a cache that didSet clears, by its key") {
      let model = Marked()
      _ = model.doubled
      return ({ number(try? model.value(forKey: "doubled")) }, { model.count += 1 })
    },
    Way(name: "a weak property") {
      let (model, friend) = (Marked(), Marked())
      model.friend = friend
      return (
        { withExtendedLifetime(friend) { model.friend?.count ?? 0 } }, { model.friend = nil }
      )
    },
    Way(name: "a record's key with dots") {
      let (sheet, key) = (Sheet(), try KeyValueKey<Sheet, Int>("a.b"))
      return ({ sheet[key] }, { sheet[key] = 5 })
    },
    Way(name: "an object of C") {
      let header = kvo_object_create(account_class())!
      let account = ForeignObject(OpaquePointer(header))
      kvo_object_release(header)
      return (
        { Int((try? account.value(forKey: "balance") as? Double) ?? -1) },
        { try? account.setValue(5, forKey: "balance") }
      )
    },
    Way(name: "a change log") {
      let model = Model()
      let log = try ChangeLog(of: model, recording: .keys(of: Model.self, \.number))
      return ({ log.count }, { model.number += 1 })
    },
    Way(name: "a progress") {
      let progress = KVOProgress(totalUnitCount: 10)
      return ({ Int(progress.fractionCompleted * 10) }, { progress.completedUnitCount = 4 })
    },
    Way(name: "an operation") {
      let operation = KVOBlockOperation {}
      return ({ operation.isFinished ? 1 : 0 }, { operation.start() })
    },
    Way(name: "a queue of operations") {
      let queue = KVOOperationQueue()
      queue.isSuspended = true
      return ({ queue.operationCount }, { queue.addOperation(KVOBlockOperation {}) })
    },
    Way(name: "a default") {
      let (defaults, key) = (KVOUserDefaults(), "tracked.\(UUID())")
      return ({ defaults.integer(forKey: key) }, { defaults.set(3, forKey: key) })
    },
  ]

  /// Reads it in computed properties, one of which reads another.
  final class Reader: KVOObject {
    let read: () -> Int
    @Observed var own = 1
    init(_ read: @escaping () -> Int) { self.read = read }
    var value: Int { read() }
    var withOwn: Int { own + read() }
    var more: Int { value + 1 }
    override class func registerKeys() { declareKeys { $0.computed("value", \.value) } }
  }
  @KVO final class MarkedReader: KVOObject {
    let read: @Sendable () -> Int
    init(_ read: @escaping @Sendable () -> Int) { self.read = read }
    var value: Int { read() }
  }
  final class Chain: KVOObject {
    @Observed var reader: Reader?
  }

  @Test(
    "F5: a computed property is affected by whatever its getter reads, and so are those that read it",
    arguments: ways)
  func followers(_ way: Way) throws {
    let followers:
      [(String, (@escaping () -> Int, Count) throws -> (KeyValueObservation, KVOObject))] = [
        (
          "a key path",
          {
            let reader = Reader($0)
            let count = $1
            return (reader.observe(\.value) { _, _ in count.add() }, reader)
          }
        ),
        (
          "beside a property",
          {
            let reader = Reader($0)
            let count = $1
            return (reader.observe(\.withOwn) { _, _ in count.add() }, reader)
          }
        ),
        (
          "another computed property",
          {
            let reader = Reader($0)
            let count = $1
            return (reader.observe(\.more) { _, _ in count.add() }, reader)
          }
        ),
        (
          "a declared key",
          {
            let reader = Reader($0)
            let count = $1
            return (try reader.observe(keyPath: "value") { _, _ in count.add() }, reader)
          }
        ),
        (
          "a path",
          {
            let chain = Chain()
            chain.reader = Reader($0)
            let count = $1
            return (chain.observe(\.reader?.value) { _, _ in count.add() }, chain)
          }
        ),
        (
          "a path of strings",
          {
            let chain = Chain()
            chain.reader = Reader($0)
            let count = $1
            return (try chain.observe(keyPath: "reader.value") { _, _ in count.add() }, chain)
          }
        ),
        (
          "a class by the macro",
          {
            let read = Shared($0)
            let reader = MarkedReader { read.value() }
            let count = $1
            return (try reader.observe(keyPath: "value") { _, _ in count.add() }, reader)
          }
        ),
      ]
    for (name, follow) in followers {
      let (read, change) = try way.make()
      let count = Count()
      let (token, follower) = try follow(read, count)
      let before = read()
      change()
      expect(read() != before)
      #expect(count.value > 0, "\(way.name) is not followed by \(name)")
      withExtendedLifetime((token, follower)) {}
    }
  }
}
