import Expectations
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

/// C11: contexts are compared in either order, by either operator. J1: `observationInfo == nil`.
@Suite(.leakFree) struct ContextComparisonTests {
  @Test("C11: a pointer and a KVOContext compare by == and != both ways")
  func operators() {
    let (first, second) = (KVOContext(), KVOContext())
    let pointer: UnsafeMutableRawPointer? = first.pointer
    let none: UnsafeMutableRawPointer? = nil
    expect(pointer == first && first == pointer && !(pointer != first) && !(first != pointer))
    expect(pointer != second && second != pointer && !(pointer == second))
    expect(none != first && first != none && !(none == first) && !(first == none))
  }

  @Test("C11: what a class has not registered itself is passed to super by `if context != …`")
  func passedOn() throws {
    let account = Account()
    let observer = NegatedObserver()
    try account.addObserver(observer, forKeyPath: "balance", context: negatedContext)
    try account.addObserver(observer, forKeyPath: "owner", context: &wordContext)
    try account.addObserver(observer, forKeyPath: "interestRate", context: context(7))
    account.balance = 1
    account.owner = "x"
    account.interestRate = 2
    expectEqual(observer.lines, ["own balance", "word owner", "other interestRate"])
  }

  @Test("J1: observationInfo of an unobserved object is nil, if asked for as an optional")
  func observationInfo() throws {
    let account = Account()
    expect(account.observationInfo == nil)
    if let info = account.observationInfo { Issue.record("\(info)") }
    account.willChangeValue(forKey: "balance")
    expect(account.observationInfo == nil)
    account.didChangeValue(forKey: "balance")
    let token = account.observe(\.balance) { _, _ in }
    expect(account.observationInfo != nil)
    expectEqual(account.observationInfo?.registrations.count, 1)
    let info: ObservationInfo = account.observationInfo
    expectEqual(info.registrations.map(\.keyPath), ["balance"])
    token.invalidate()
    expect(account.observationInfo == nil)
    let picture = account.observationInfo
    expect(picture.registrations.isEmpty && "\(account.observationInfo)" == "no registrations")
  }

  @Test("J1: a variable that holds observationInfo compares with nil as it does itself")
  func observationInfoKept() throws {
    let account = Account()
    let before = account.observationInfo
    let token = account.observe(\.balance) { _, _ in }
    let during = account.observationInfo
    token.invalidate()
    let after = account.observationInfo
    expect(before == nil && nil == before && !(before != nil) && !(nil != before))
    expect(during != nil && nil != during && !(during == nil) && !(nil == during))
    expect(after == nil && nil == after)
    expect(nil == account.observationInfo && !(nil != account.observationInfo))
    let optional: ObservationInfo? = account.observationInfo
    expect(optional == nil && during.registrations.count == 1)
  }
}

private let negatedContext = KVOContext()
private nonisolated(unsafe) var wordContext = 0

/// Takes its own contexts, by the comparisons of code from Apple's platforms.
private final class NegatedObserver: Tracked {
  private(set) var lines: [String] = []

  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [KeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    let key = keyPath ?? ""
    if context != negatedContext {
      if context != &wordContext { return lines.append("other \(key)") }
      return lines.append("word \(key)")
    }
    lines.append("own \(key)")
  }
}
