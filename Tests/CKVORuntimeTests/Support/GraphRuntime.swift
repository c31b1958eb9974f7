import CFixtures
import CKVORuntime
import Glibc
import TestSupport

extension graph_node: CInstance { static var cClass: CClass { graph_node_class() } }

/// The runtime's implementation of the graph, made of `graph_node`s.
final class GraphRuntime: GraphSystem {
  var log = GraphLog()
  var reaction: (Int) -> Void = { _ in }
  private(set) var nodes: [Node] = []
  private var callbacks: [Callback] = []

  init() {}

  /// A node. It records its death and can be an observer.
  final class Node {
    let pointer = CKVORuntimeTests.make(graph_node.self)
    let number: Int
    var isAlive = true
    private unowned let graph: GraphRuntime

    init(_ number: Int, _ graph: GraphRuntime) {
      self.number = number
      self.graph = graph
      let context = Unmanaged.passUnretained(self).toOpaque()
      pointer.pointee.watcher.tracked.mark = Int32(number)
      pointer.pointee.watcher.tracked.last_words_context = context
      pointer.pointee.watcher.tracked.last_words = { context, _ in
        Unmanaged<Node>.fromOpaque(context!).takeUnretainedValue().isAlive = false
      }
      pointer.pointee.watcher.sink_context = context
      pointer.pointee.watcher.sink = { sink, _, path, object, change, context in
        Unmanaged<Node>.fromOpaque(sink!).takeUnretainedValue().notified(
          path, object, change, context)
      }
    }

    private func notified(
      _ path: UnsafePointer<CChar>, _ object: CObject, _ change: OpaquePointer,
      _ context: UnsafeMutableRawPointer?
    ) {
      graph.tell(
        GraphLog.Call(
          caller: -1 - number, context: Int(bitPattern: context), root: GraphRuntime.number(object),
          path: String(cString: path)), change)
    }
  }

  /// A callback's registration.
  private final class Callback {
    let number: Int, root: Int
    let path: GraphPath
    let handle = UnsafeMutablePointer<OpaquePointer?>.allocate(capacity: 1)
    var ended = 0
    unowned let graph: GraphRuntime

    init(_ number: Int, _ root: Int, _ path: GraphPath, _ graph: GraphRuntime) {
      self.number = number
      self.root = root
      self.path = path
      self.graph = graph
      handle.initialize(to: nil)
    }

    deinit { handle.deallocate() }

    static func from(_ context: UnsafeMutableRawPointer?) -> Callback {
      Unmanaged<Callback>.fromOpaque(context!).takeUnretainedValue()
    }

    func notified(_ path: UnsafePointer<CChar>, _ object: CObject, _ change: OpaquePointer) {
      if strcmp(path, self.path.text) != 0 || GraphRuntime.number(object) != root {
        graph.log.addTrouble("notified of another path or object")
      }
      if ended > 0 { graph.log.addTrouble("called after its end") }
      graph.tell(GraphLog.Call(caller: number, context: 0, root: root, path: ""), change)
    }
  }

  // MARK: Objects

  func object(_ number: Int) -> CObject { nodes[number].pointer.object }

  static func number(_ object: CObject) -> Int {
    Int(UnsafeMutableRawPointer(object).assumingMemoryBound(to: tracked.self).pointee.mark)
  }

  func make(_ number: Int) { nodes.append(Node(number, self)) }
  func retain(_ number: Int) { kvo_object_retain(object(number)) }
  func release(_ number: Int) { kvo_object_release(object(number)) }

  func removeEverything() {
    let living = nodes.filter(\.isAlive)
    for node in living { kvo_remove_all_observers(node.pointer.object) }
    for node in living where isSwapped(node.pointer.object) {
      log.addTrouble("\(node.number) is dispatched as if it were observed")
    }
  }

  func end() {
    for node in nodes where node.isAlive { empty(node.pointer) }
    for node in nodes where node.isAlive { log.addTrouble("\(node.number) is still alive") }
    for callback in callbacks {
      let isValid = callback.handle.pointee.map(kvo_handle_is_valid) ?? false
      if isValid || callback.ended != 1 {
        log.addTrouble("callback \(callback.number) has ended \(callback.ended) times")
      }
      kvo_handle_release(callback.handle.pointee)
    }
  }

  /// Makes the node release its links and elements. It may die when one of them does.
  private func empty(_ node: UnsafeMutablePointer<graph_node>) {
    kvo_object_retain(node.object)
    graph_node_store_next(node, nil)
    graph_node_store_other(node, nil)
    graph_node_store_wares(node, nil)
    graph_node_store_items(node, nil, 0)
    graph_node_store_tags(node, nil, 0)
    node.release()
  }

  // MARK: Registrations

  func observe(_ number: Int, _ path: GraphPath, _ options: GraphOptions, as callback: Int) {
    let made = Callback(callback, number, path, self)
    callbacks.append(made)
    let status = kvo_add_callback(
      object(number), path.text, kvo_options(rawValue: options.rawValue),
      { context, object, path, change in Callback.from(context).notified(path, object, change) },
      Unmanaged.passUnretained(made).toOpaque(), { Callback.from($0).ended += 1 }, made.handle, nil)
    guard status != .KVO_OK else { return }
    callbacks.removeAll { $0 === made }
    log.add(refusal(status))
  }

  func invalidate(_ callback: Int) {
    for made in callbacks where made.number == callback {
      made.handle.pointee.map(kvo_handle_invalidate)
    }
  }

  func add(
    _ observer: Int, to number: Int, _ path: GraphPath, _ options: GraphOptions, context: Int
  ) {
    let status = kvo_add_observer(
      object(number), object(observer), path.text, kvo_options(rawValue: options.rawValue),
      address(context), nil)
    if status != .KVO_OK { log.add(refusal(status)) }
  }

  func remove(_ observer: Int, from number: Int, _ path: GraphPath, context: Int?) {
    let status =
      if let context {
        kvo_remove_observer_with_context(
          object(number), object(observer), path.text, address(context), nil)
      } else {
        kvo_remove_observer(object(number), object(observer), path.text, nil)
      }
    if status != .KVO_OK { log.add(refusal(status)) }
  }

  func removeAll(from number: Int) { kvo_remove_all_observers(object(number)) }

  func refusal(_ status: kvo_status) -> GraphLog.Refusal {
    switch status {
    case .KVO_UNDEFINED_KEY: .undefinedKey
    case .KVO_INVALID_KEY_PATH: .invalidKeyPath
    case .KVO_NOT_REGISTERED: .notRegistered
    case .KVO_INDEX_OUT_OF_BOUNDS: .outOfBounds
    default: .other
    }
  }

  // MARK: Notifying

  private func tell(_ call: GraphLog.Call, _ change: OpaquePointer) {
    var call = call
    call.isPrior = kvo_change_is_prior(change)
    call.kind = ChangeKind(rawValue: Int(kvo_change_get_kind(change).rawValue))!
    call.indexes = kvo_change_get_indexes(change).map(indexes)
    call.old = kvo_change_get_old(change).map(value)
    call.new = kvo_change_get_new(change).map(value)
    log.add(call)
    reaction(call.caller)
  }
}
