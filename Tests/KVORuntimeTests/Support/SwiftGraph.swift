import KVORuntime
import ModelFixtures
import TestSupport

/// The Swift implementation of the graph: `GraphNode`s and their observers.
final class SwiftGraph: GraphSystem {
  var log = GraphLog()
  var reaction: (Int) -> Void = { _ in }
  private var slots: [Slot] = []
  private var tokens: [GraphToken] = []

  init() { _ = GraphKeyPaths.areKnown }

  /// For the preparation of the class itself.
  init(unprepared: Void) {}

  // MARK: Objects

  /// An object that lives while its count is positive, or others retain it.
  private struct Slot {
    var held: GraphNode?
    weak var living: GraphNode?
    var references = 1
  }

  func make(_ number: Int) {
    let node = GraphNode(number, self)
    slots.append(Slot(held: node, living: node))
  }

  func retain(_ number: Int) {
    slots[number].references += 1
    if slots[number].references == 1 { slots[number].held = slots[number].living }
  }

  func release(_ number: Int) {
    slots[number].references -= 1
    guard slots[number].references == 0 else { return }
    // The object dies only after the slot has been changed.
    let last = slots[number].held
    slots[number].held = nil
    withExtendedLifetime(last) {}
  }

  func node(_ number: Int) -> GraphNode {
    guard let node = slots[number].living else { preconditionFailure("\(number) has died") }
    return node
  }

  func removeEverything() {
    for slot in slots { slot.living?.removeAllObservers() }
    for (number, slot) in slots.enumerated() where slot.living.map(isSwapped) ?? false {
      log.addTrouble("\(number) still costs what an observed object costs")
    }
  }

  func end() {
    for number in slots.indices { slots[number].living.map(empty) }
    for number in slots.indices where slots[number].living != nil {
      log.addTrouble("\(number) is still alive")
    }
    for token in tokens where token.isValid || token.handler != nil {
      log.addTrouble("callback \(token.number) has not ended")
    }
  }

  /// Makes the node release its links and elements.
  private func empty(_ node: GraphNode) {
    node.store(nil, "next")
    node.store(nil, "other")
    node.store(items: [])
    node.store(tags: [])
    node.store(wares: nil)
  }

  // MARK: Callbacks

  func observe(_ number: Int, _ path: GraphPath, _ options: GraphOptions, as callback: Int) {
    let token = GraphToken(callback, TokenForm(callback, path), root: number, self)
    tokens.append(token)
    if let refusal = refusal({ try token.begin(node(number), path, options) }) {
      tokens.removeAll { $0 === token }
      log.add(refusal)
    }
  }

  func invalidate(_ callback: Int) {
    for token in tokens where token.number == callback { token.end() }
  }

  // MARK: Observer objects

  func add(
    _ observer: Int, to number: Int, _ path: GraphPath, _ options: GraphOptions, context: Int
  ) {
    let refusal = refusal {
      try node(number).addObserver(
        node(observer), forKeyPath: path.text, options: KeyValueObservingOptions(options),
        context: ModelFixtures.context(context))
    }
    if let refusal { log.add(refusal) }
  }

  func remove(_ observer: Int, from number: Int, _ path: GraphPath, context: Int?) {
    let refusal = refusal {
      guard let context else {
        return try node(number).removeObserver(node(observer), forKeyPath: path.text)
      }
      try node(number).removeObserver(
        node(observer), forKeyPath: path.text, context: ModelFixtures.context(context))
    }
    if let refusal { log.add(refusal) }
  }

  func removeAll(from number: Int) { node(number).removeAllObservers() }

  func refusal(_ body: () throws -> Void) -> GraphLog.Refusal? {
    do { try body() } catch {
      switch error as? KeyValueError {
      case .undefinedKey: return .undefinedKey
      case .invalidKeyPath: return .invalidKeyPath
      case .observerNotRegistered: return .notRegistered
      case .indexOutOfBounds: return .outOfBounds
      default: return .other
      }
    }
    return nil
  }

  // MARK: Notifying

  func tell(_ call: GraphLog.Call) {
    log.add(call)
    reaction(call.caller)
  }

  func notified(
    _ observer: Int, _ keyPath: String?, _ object: Any?, _ change: [KeyValueChangeKey: Any]?,
    _ context: UnsafeMutableRawPointer?
  ) {
    guard let keyPath, let root = object as? GraphNode, let change else {
      return log.addTrouble("\(observer) is notified too seldom")
    }
    var call = GraphLog.Call(
      caller: -1 - observer, context: Int(bitPattern: context), root: root.number, path: keyPath)
    call.take(change)
    tell(call)
  }
}
