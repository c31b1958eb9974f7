// The channel from a registration to the tasks that read its sequence (K1, K2).

/// Carries elements from the threads that change an object to the tasks that read its sequence. Sending never
/// waits. If no task is reading, either all elements are kept (`send`), or only the newest (`sendNewest`).
///
/// | state | protection |
/// |---|---|
/// | `state` | its own lock; no element is destroyed and no other code is called while it is held |
final class ChangeChannel<Element: Sendable>: Sendable {
  fileprivate typealias Reader = UnsafeContinuation<Element?, Never>

  fileprivate struct State {
    /// An element that was read is replaced by nil, so that it is not destroyed under the lock.
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

  private let state = LockedValue(State())

  /// Passes the element to the task that has waited longest, or keeps it.
  func send(_ element: Element) {
    let reader = state.withLock { state in
      state.isFinished ? nil : state.reader(for: element)
    }
    reader?.resume(returning: element)
  }

  /// Reads an element and passes it to the task that has waited longest, or keeps it in place of an older
  /// one. The element is dropped if another thread began its read later and has sent its element, because
  /// that one is newer.
  /// - Parameter read: Called without the lock.
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

  /// Finishes the channel after the kept elements: they can still be read, then `next` returns nil.
  func finish() { finish(dropping: false) }

  /// Finishes the channel at once and drops the kept elements.
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

  /// Returns the next element, or nil once the channel is finished.
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
  // The task that gets the element; nil if none waits, in which case the element is kept.
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

  // Frees the places of elements that were read. The condition bounds how often an element is moved.
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

/// Finishes a channel when the registration that sends to it has ended for any reason. The registration's
/// handler holds this object.
final class ChannelEnding<Element: Sendable> {
  private let channel: ChangeChannel<Element>

  init(_ channel: ChangeChannel<Element>) { self.channel = channel }

  deinit { channel.finish() }
}
