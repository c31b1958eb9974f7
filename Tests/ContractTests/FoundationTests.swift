import Expectations
import Foundation
import KVOFoundation
import KVORuntime
import Testing

/// KVOFoundation, spelled as in user code.
@Suite struct FoundationContractTests {
  private final class Member: KVOObject {
    @Observed var name = ""
    @Observed var age: Int?
    @Observed var tags: [String] = []
  }

  private final class Settings: KVOUserDefaults, @unchecked Sendable {
    override class var accessInstanceVariablesDirectly: Bool {
      super.accessInstanceVariablesDirectly
    }
  }

  @Test func indexes() throws {
    let member = Member()
    let indexes = IndexSet(RangeSet(0..<1))
    expectEqual(RangeSet(indexes), RangeSet(0..<1))
    var received: IndexSet?
    let token = try member.observe(keyPath: "tags") { _, change in received = change.indexSet }
    member.willChange(.insertion, valuesAt: indexes, forKey: "tags")
    member.didChange(.insertion, valuesAt: indexes, forKey: "tags")
    member.willChange(.insertion, valuesAt: indexes, for: \.tags)
    member.didChange(.insertion, valuesAt: indexes, for: \.tags)
    member.withChange(.insertion, at: indexes, forKey: "tags") {}
    expectEqual(received, indexes)
    expectEqual([KeyValueChangeKey.indexesKey: RangeSet(0..<1) as Any].indexSet, indexes)
    let proxy = try member.mutableArrayValue(forKey: "tags")
    try proxy.insert(["a"], at: indexes)
    try proxy.replace(at: indexes, with: ["b"])
    try proxy.replaceObjects(at: indexes, with: ["c"])
    expectEqual(proxy.objects(at: indexes).count, 1)
    try proxy.removeObjects(at: indexes)
    withExtendedLifetime(token) {}
  }

  @Test func proxies() throws {
    let member = Member()
    let (first, both) = (IndexSet(integer: 0), IndexSet(integersIn: 0..<2))
    let handle = member.mutableArray(\.tags)
    handle.insert(["a", "b"], at: both)
    handle.replaceObjects(at: first, with: ["c"])
    expectEqual(handle.objects(at: both), ["c", "b"])
    handle.removeObjects(at: first)
    let proxy = try member.mutableArrayValue(forKey: "tags")
    try proxy.remove(at: first)
    let set = try member.mutableOrderedSetValue(forKey: "tags")
    try set.insert(["a", "b"], at: both)
    try set.moveObjects(at: first, to: 1)
    try set.replaceObjects(at: first, with: ["c"])
    expectEqual(set.objects(at: first).count, 1)
    try set.removeObjects(at: first)
    try set.remove(at: first)
    expect(member.tags.isEmpty)
    let lazy = try require(try Primes().value(forKey: "primes") as? ArrayProxy)
    expect(lazy.objects(at: both) as? [Int] == [2, 3])
  }

  private final class Primes: KVOObject {
    override class func registerKeys() {
      declareKeys { keys in
        keys.orderedToMany("primes", count: { _ in 2 }, element: { _, index in [2, 3][index] })
      }
    }
  }

  private final class Work: KVOOperation, @unchecked Sendable {
    override init() { super.init() }
    override class func registerKeys() { super.registerKeys() }
  }

  @Test func values() throws {
    let member = Member()
    try member.setValuesForKeys(["age": NSNull(), "name": "a"] as [String: Any])
    try member.setValuesForKeys(["age": nil] as [String: Any?])
    try member.setFoundationValue(NSNumber(value: 1.5), forKey: "age")
    try member.setFoundationValue("b", forKeyPath: "name")
    expect(member.age == 1 && member.name == "b")
    member.age = nil
    expect(try member.dictionaryWithFoundationValues(forKeys: ["age"])["age"] is NSNull)
    let delegate: any NSObjectProtocol = member
    expect(
      delegate.isEqual(member) && !member.isEqual(nil) && delegate.hash == member.hash
        && !member.isProxy())
    expect(member.`self`() === member && !member.debugDescription.isEmpty)
    expect(!member.description.isEmpty)
  }

  @Test func sorting() throws {
    let members = [Member(), Member()]
    var byAge = KeyValueSort<Member>("age", ascending: false, comparing: .standard, nils: .last)
    byAge.ascending = true
    byAge.nils = .first
    let all: [KeyValueSort<Member>] = [
      byAge.reversed, KeyValueSort(\.name), KeyValueSort(\.age), KeyValueSort("name"),
    ]
    expect(byAge.key == "age" && byAge.nils != KeyValueNils.least)
    expect(try members.sorted(using: all).count == 2 && members.sorted(using: byAge).count == 2)
    var sorted = members
    try sorted.sort(using: all)
    let orders: [KeyValueOrder] = [
      .caseInsensitive, .localized, .localizedCaseInsensitive, .localizedStandard,
      KeyValueOrder { _, _ in .orderedSame },
    ]
    expectEqual(orders.count, 5)
    expectEqual(try members.filter("name", as: String.self) { $0.isEmpty }.count, 2)
  }

  @Test func operations() {
    let (block, other) = (KVOBlockOperation(), KVOBlockOperation {})
    block.addExecutionBlock {}
    block.addDependency(other)
    block.removeDependency(other)
    block.completionBlock = {}
    block.name = "n"
    block.queuePriority = .low
    block.qualityOfService = .utility
    expect(block.dependencies.isEmpty && block.executionBlocks.count == 1 && block.isReady)
    expect(
      !block.isAsynchronous && !block.isConcurrent && !block.isCancelled && !block.isExecuting
        && !block.isFinished)
    let queue = KVOOperationQueue()
    let operation: KVOOperation = block
    OperationQueue().addOperation(operation)
    OperationQueue().addOperations([other], waitUntilFinished: true)
    operation.waitUntilFinished()
    operation.cancel()
    operation.start()
    operation.main()
    expect(operation.operation.isFinished)
    queue.addOperation {}
    queue.addOperation(Work())
    queue.addOperations([], waitUntilFinished: false)
    queue.addBarrierBlock {}
    queue.maxConcurrentOperationCount = 1
    queue.isSuspended = false
    queue.name = "q"
    queue.qualityOfService = .default
    queue.waitUntilAllOperationsAreFinished()
    queue.cancelAllOperations()
    expect(queue.operationCount == 0 && queue.operations.isEmpty)
    expectEqual(KVOOperationQueue(OperationQueue()).queue.operationCount, 0)
    expectEqual(queue.progress.totalUnitCount, 0)
  }

  @Test func progress() {
    let whole = KVOProgress(totalUnitCount: 2)
    let part = KVOProgress(totalUnitCount: 1, parent: whole, pendingUnitCount: 1)
    whole.addChild(KVOProgress(totalUnitCount: 1), withPendingUnitCount: 1)
    part.addChild(Progress.discreteProgress(totalUnitCount: 1), withPendingUnitCount: 0)
    part.totalUnitCount = 2
    part.completedUnitCount = 1
    expect(whole.fractionCompleted == 0.25 && !whole.isIndeterminate && !whole.isFinished)
    let current = KVOProgress.discreteProgress(totalUnitCount: 2)
    current.becomeCurrent(withPendingUnitCount: 1)
    expect(KVOProgress.current() === current)
    current.resignCurrent()
    current.performAsCurrent(withPendingUnitCount: 1) {}
    expect(current.isFinished && KVOProgress(parent: nil).totalUnitCount == 0)
    current.localizedDescription = "a"
    current.localizedAdditionalDescription = "b"
    whole.isCancellable = true
    whole.isPausable = true
    whole.kind = .file
    whole.cancellationHandler = {}
    whole.pausingHandler = {}
    whole.resumingHandler = {}
    whole.pause()
    whole.resume()
    whole.cancel()
    expect(whole.isCancelled && !whole.isPaused && whole.foundationProgress.isCancelled)
  }

  @Test func defaults() throws {
    expect(KVOUserDefaults.standard.object(forKey: "no such default") == nil)
    let suite = "kvo-contract-\(ProcessInfo.processInfo.processIdentifier)"
    let defaults = try require(Settings(suiteName: suite))
    defaults.set(1, forKey: "a")
    defaults.set(1.5, forKey: "b")
    defaults.set(Float(1), forKey: "c")
    defaults.set(true, forKey: "d")
    defaults.set(URL(fileURLWithPath: "/"), forKey: "e")
    defaults.set(["x"] as Any?, forKey: "f")
    expect(defaults.integer(forKey: "a") == 1 && defaults.double(forKey: "b") == 1.5)
    expect(defaults.float(forKey: "c") == 1 && defaults.bool(forKey: "d"))
    expect(defaults.url(forKey: "e") != nil && defaults.stringArray(forKey: "f") == ["x"])
    expect(defaults.array(forKey: "f")?.count == 1 && defaults.string(forKey: "f") == nil)
    expect(defaults.data(forKey: "f") == nil && defaults.dictionary(forKey: "f") == nil)
    defaults.register(defaults: ["\(suite)-g": 1])
    defaults.removeObject(forKey: "a")
    try defaults.setValue(1, forUndefinedKey: "u")
    expect(try defaults.value(forUndefinedKey: "u") as? Int == 1)
    defaults.synchronize()
    expect(defaults.dictionaryRepresentation()["b"] != nil)
    defaults.setPersistentDomain(["h": 1], forName: suite)
    defaults.removePersistentDomain(forName: suite)
    expect(KVOUserDefaults().object(forKey: "a") == nil)
  }
}
