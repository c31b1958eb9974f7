// What a registration hands to the tasks that read its sequence (K1, K2).

/// Elements on their way from the threads that change an object to the tasks that read. No thread waits to send: where
/// no task is reading, elements are kept, all of them (`send`) or the newest alone (`sendNewest`).
///
/// | state | protection |
/// |---|---|
/// | `state` | its own lock, under which no element dies and nobody is called |
final class ChangeChannel<Element: Sendable>: Sendable {
  fileprivate typealias Reader = UnsafeContinuation<Element?, Never>

  fileprivate struct State {
    /// Nil where one has been read: it must not die here.
    var kept: [Element?] = []
    var firstKept = 0
    var readers: [Reader] = []
    var reads = ReadOrder()
    var isFinished = false
  }
  fileprivate enum Next {
    case element(Element)
    case finished
    case nothingYet
  }

  private let state = Locked(State())

  /// Hands the element to the task that has waited longest, or keeps it.
  func send(_ element: Element) {
    let reader = state.withLock { state in
      state.isFinished ? nil : state.reader(for: element)
    }
    reader?.resume(returning: element)
  }

  /// Reads an element and hands it to the task that has waited longest, or keeps it in place of an older one. It is
  /// dropped if another thread began to read later and has sent its element: that is the newer one.
  /// - Parameter read: called without the lock.
  func sendNewest(_ read: () -> Element?) {
    let place = state.withLock { $0.reads.begin() }
    guard let element = read() else { return }
    var dropped: [Element?] = []
    let reader: Reader? = state.withLock { state in
      guard !state.isFinished, state.reads.end(place) else { return nil }
      dropped = state.takeAll()
      return state.reader(for: element)
    }
    reader?.resume(returning: element)
    withExtendedLifetime(dropped) {}
  }

  /// Ends it: what is kept can still be read, and then there is nothing more.
  func finish() { finish(dropping: false) }

  /// Ends it at once.
  func cancel() { finish(dropping: true) }

  private func finish(dropping: Bool) {
    var dropped: [Element?] = []
    let readers = state.withLock { state in
      state.isFinished = true
      if dropping { dropped = state.takeAll() }
      defer { state.readers = [] }
      return state.readers
    }
    for reader in readers { reader.resume(returning: nil) }
    withExtendedLifetime(dropped) {}
  }

  /// The next element; nil once there will be none.
  func next(isolation: isolated (any Actor)?) async -> Element? {
    switch state.withLock({ $0.next() }) {
    case .element(let element): return element
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
    case .element(let element): reader.resume(returning: element)
    case .finished: reader.resume(returning: nil)
    case .nothingYet: break
    }
  }
}

extension ChangeChannel.State {
  // Nil where none waits: the element is kept.
  fileprivate mutating func reader(for element: Element) -> ChangeChannel.Reader? {
    guard readers.isEmpty else { return readers.removeFirst() }
    kept.append(element)
    return nil
  }

  fileprivate mutating func next() -> ChangeChannel.Next {
    guard firstKept < kept.count, let element = kept[firstKept] else {
      return isFinished ? .finished : .nothingYet
    }
    kept[firstKept] = nil
    firstKept += 1
    forget()
    return .element(element)
  }

  // The places do not stay for ever, and each element is moved a few times at most.
  private mutating func forget() {
    guard firstKept == kept.count || (firstKept >= 64 && firstKept * 2 >= kept.count) else {
      return
    }
    kept.removeFirst(firstKept)
    firstKept = 0
  }

  fileprivate mutating func takeAll() -> [Element?] {
    defer { (kept, firstKept) = ([], 0) }
    return kept
  }
}

/// Held by the handler of a registration that sends: when that has ended, by whatever way, nothing more comes.
final class ChannelEnding<Element: Sendable> {
  private let channel: ChangeChannel<Element>

  init(_ channel: ChangeChannel<Element>) { self.channel = channel }

  deinit { channel.finish() }
}
