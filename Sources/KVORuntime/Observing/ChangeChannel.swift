// The channel from a registration to the tasks that read its sequence (K1, K2).

/// Carries elements from the threads that change an object to the tasks that read its sequence. Sending never
/// waits. If no task is reading, either all elements are kept (`send`), or only the newest (`sendNewest`).
final class ChangeChannel<Element: Sendable>: Sendable {
  // Not generic: a generic class is compiled once for all elements, and looks up types such as an array of `Element` each
  // time it uses one. That took half of the instructions.
  private let cells = CellChannel()

  deinit { cancel() }

  /// Passes the element to the task that has waited longest, or keeps it.
  func send(_ element: Element) {
    destroy(cells.send(Cell(element)))
  }

  /// Reads an element and passes it to the task that has waited longest, or keeps it in place of an older
  /// one. The element is dropped if another thread began its read later and has sent its element, because
  /// that one is newer.
  /// - Parameter read: Called without a lock.
  func sendNewest(_ read: () -> Element?) {
    let number = cells.beginRead()
    guard let element = read() else { return }
    destroy(cells.sendNewest(Cell(element), number))
  }

  /// Finishes the channel after the kept elements: they can still be read, then `next` returns nil.
  func finish() { destroy(cells.finish(dropping: false)) }

  /// Finishes the channel at once and drops the kept elements.
  func cancel() { destroy(cells.finish(dropping: true)) }

  /// Returns the next element, or nil once the channel is finished.
  /// - Parameter onCancel: Called when the task is cancelled, on any thread. It must finish the channel.
  func next(
    isolation: isolated (any Actor)?, onCancel: @Sendable () -> Void
  ) async -> Element? {
    let cell = await withTaskCancellationHandler {
      await cells.next(isolation: isolation)
    } onCancel: {
      onCancel()
    }
    return cell?.take(as: Element.self)
  }

  private func destroy(_ dropped: [Cell]) {
    for cell in dropped { _ = cell.take(as: Element.self) }
  }
}

/// Memory that holds one element of a channel. It must be taken once.
// Sendable: the elements are.
private struct Cell: @unchecked Sendable {
  private let address: UnsafeMutableRawPointer

  init<Element: Sendable>(_ element: Element) {
    let memory = UnsafeMutablePointer<Element>.allocate(capacity: 1)
    memory.initialize(to: element)
    address = UnsafeMutableRawPointer(memory)
  }

  /// Moves the element out, and frees the memory.
  /// - Parameter type: The element's type. It is not inferred, since an optional would be, too.
  func take<Element: Sendable>(as type: Element.Type) -> Element {
    let memory = address.assumingMemoryBound(to: type)
    defer { memory.deallocate() }
    return memory.move()
  }
}

/// A channel of cells. Its functions return the cells that no task will read; the caller destroys their elements.
///
/// | state | protection |
/// |---|---|
/// | `state` | its own lock; no element is destroyed and no other code is called while it is held |
private final class CellChannel: Sendable {
  typealias Reader = UnsafeContinuation<Cell?, Never>

  struct State {
    /// Those before `firstKept` have been read.
    var kept: [Cell] = []
    var firstKept = 0
    var readers: [Reader] = []
    var reads = ReadOrder()
    var isFinished = false
  }
  enum Next {
    case cell(Cell)
    case finished
    case nothingYet
  }

  private let state = LockedValue(State())

  func send(_ cell: Cell) -> [Cell] {
    var dropped: [Cell] = []
    let reader: Reader? = state.withLock { state in
      guard !state.isFinished else {
        dropped = [cell]
        return nil
      }
      return state.reader(for: cell)
    }
    reader?.resume(returning: cell)
    return dropped
  }

  /// Begins the read of an element for `sendNewest`.
  /// - Returns: The read's number.
  func beginRead() -> Int { state.withLock { $0.reads.begin() } }

  /// Sends the element of a read, unless that of a later one has been sent.
  func sendNewest(_ cell: Cell, _ read: Int) -> [Cell] {
    var dropped: [Cell] = []
    let reader: Reader? = state.withLock { state in
      guard !state.isFinished, state.reads.end(read) else {
        dropped = [cell]
        return nil
      }
      dropped = state.takeAll()
      return state.reader(for: cell)
    }
    reader?.resume(returning: cell)
    return dropped
  }

  func finish(dropping: Bool) -> [Cell] {
    var dropped: [Cell] = []
    let readers = state.withLock { state in
      state.isFinished = true
      if dropping { dropped = state.takeAll() }
      defer { state.readers = [] }
      return state.readers
    }
    for reader in readers { reader.resume(returning: nil) }
    return dropped
  }

  func next(isolation: isolated (any Actor)?) async -> Cell? {
    switch state.withLock({ $0.next() }) {
    case .cell(let cell): return cell
    case .finished: return nil
    case .nothingYet: return await withUnsafeContinuation(isolation: isolation) { wait($0) }
    }
  }

  private func wait(_ reader: Reader) {
    let next = state.withLock { state in
      let next = state.next()
      if case .nothingYet = next { state.readers.append(reader) }
      return next
    }
    switch next {
    case .cell(let cell): reader.resume(returning: cell)
    case .finished: reader.resume(returning: nil)
    case .nothingYet: break
    }
  }
}

extension CellChannel.State {
  // The task that gets the cell; nil if none waits, in which case the cell is kept.
  fileprivate mutating func reader(for cell: Cell) -> CellChannel.Reader? {
    guard readers.isEmpty else { return readers.removeFirst() }
    kept.append(cell)
    return nil
  }

  fileprivate mutating func next() -> CellChannel.Next {
    guard firstKept < kept.count else { return isFinished ? .finished : .nothingYet }
    let cell = kept[firstKept]
    firstKept += 1
    removeRead()
    return .cell(cell)
  }

  // Removes the cells that were read from the array. The condition bounds how often a cell is moved.
  private mutating func removeRead() {
    guard firstKept == kept.count || (firstKept >= 64 && firstKept * 2 >= kept.count) else {
      return
    }
    kept.removeFirst(firstKept)
    firstKept = 0
  }

  fileprivate mutating func takeAll() -> [Cell] {
    defer { (kept, firstKept) = ([], 0) }
    return firstKept == 0 ? kept : Array(kept[firstKept...])
  }
}

/// Finishes a channel when the registration that sends to it has ended for any reason. The registration's
/// handler holds this object.
final class ChannelEnding<Element: Sendable> {
  private let channel: ChangeChannel<Element>

  init(_ channel: ChangeChannel<Element>) { self.channel = channel }

  deinit { channel.finish() }
}
