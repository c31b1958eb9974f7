import CFixtures
import CKVORuntime
import Expectations
import Glibc
import TestSupport
import Testing

/// An object observed either by registrations of several keys, or by the same number of registrations of one key
/// each. Equal operations on two such objects must notify equally.
final class Twin {
  let recorder = Recorder()
  let object: CObject
  private let isGrouped: Bool
  private(set) var groups: [Group] = []
  /// The actions of callbacks, by the number of the call, counted from the first.
  var reactions: [Int: () -> Void] = [:]
  private(set) var calls = 0

  init(_ object: CObject, isGrouped: Bool) {
    self.object = object
    self.isGrouped = isGrouped
  }

  /// The keys of one registration, or one registration for each key.
  final class Group {
    fileprivate let number: Int
    fileprivate let isGrouped: Bool
    fileprivate let count: Int
    fileprivate unowned let twin: Twin
    fileprivate let entries: UnsafeMutablePointer<Entry>
    // Written while callbacks read it.
    fileprivate let handles: UnsafeMutablePointer<OpaquePointer?>
    fileprivate var endings = 0

    fileprivate struct Entry {
      let index: Int
      let group: Unmanaged<Group>
    }

    fileprivate init(_ number: Int, _ count: Int, _ twin: Twin) {
      self.number = number
      self.count = count
      self.twin = twin
      isGrouped = twin.isGrouped
      entries = .allocate(capacity: count)
      handles = .allocate(capacity: count)
      handles.initialize(repeating: nil, count: count)
      for index in 0..<count {
        (entries + index).initialize(
          to: Entry(index: index, group: Unmanaged.passUnretained(self)))
      }
    }

    deinit {
      entries.deallocate()
      handles.deallocate()
    }

    fileprivate static let call: kvo_callback = { context, object, key, change in
      let entry = context!.assumingMemoryBound(to: Entry.self).pointee
      let group = entry.group.takeUnretainedValue()
      let isItsKey = !group.isGrouped || kvo_change_get_key_index(change) == entry.index
      precondition(isItsKey, "the index is another key's")
      let call = Call(object: object, key: key, change: change)
      group.twin.notified("\(group.number).\(entry.index): \(call.line)")
    }

    fileprivate static let end: @convention(c) (UnsafeMutableRawPointer?) -> Void = {
      $0!.assumingMemoryBound(to: Entry.self).pointee.group.takeUnretainedValue().endings += 1
    }

    fileprivate var all: [OpaquePointer] { (0..<count).compactMap { handles[$0] } }
    var isValid: Bool { all.contains { kvo_handle_is_valid($0) } }
    var hasEnded: Bool { endings == (isGrouped ? 1 : count) }
    func end() { for handle in all { kvo_handle_invalidate(handle) } }

    fileprivate func release() {
      let handles = all
      self.handles.update(repeating: nil, count: count)
      for handle in handles { kvo_handle_release(handle) }
      expect(hasEnded)
    }
  }

  private func notified(_ line: String) {
    recorder.note(line)
    calls += 1
    reactions.removeValue(forKey: calls)?()
  }

  @discardableResult
  func observe(_ keys: [String], _ options: kvo_options) -> Group {
    let group = Group(groups.count, keys.count, self)
    groups.append(group)
    let names = keys.map { kvo_key_intern($0)! }
    if isGrouped {
      let outcome = attempt {
        kvo_add_callback_for_keys(
          object, names, names.count, options, Group.call, group.entries,
          MemoryLayout<Group.Entry>.stride, Group.end, group.handles, $0)
      }
      precondition(outcome.status == .KVO_OK)
      return group
    }
    for (index, name) in names.enumerated() {
      let outcome = attempt {
        kvo_add_callback(
          object, name, options, Group.call, group.entries + index, Group.end,
          group.handles + index, $0)
      }
      precondition(outcome.status == .KVO_OK)
    }
    return group
  }

  /// Records the visible state of the registrations.
  func look() {
    let list:
      @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<kvo_registration_info>) -> Void = {
        let info = $1.pointee
        Unmanaged<Recorder>.fromOpaque($0!).takeUnretainedValue()
          .note("has \(String(cString: info.key_path)) \(info.options.rawValue)")
      }
    kvo_visit_registrations(object, list, Unmanaged.passUnretained(recorder).toOpaque())
    free(kvo_copy_debug_dump(object))
    for group in groups { recorder.note("\(group.number) \(group.isValid) \(group.hasEnded)") }
  }

  func take() -> [String] { recorder.take() }

  /// Ends all registrations.
  func finish() {
    for group in groups { group.release() }
    recorder.end()
    reactions = [:]
  }
}
