import CFixtures
import CKVORuntime
import Expectations
import TestSupport
import Testing

/// C6: after a change that names no elements, a list of objects is compared with what was followed before. No values
/// are made of the elements that have stayed.
@Suite(.recording) struct ComparedElementsTests {
  typealias Guest = UnsafeMutablePointer<bound_object>

  /// The object whose list is observed.
  private final class Owner {
    private(set) var node: UnsafeMutablePointer<graph_node>? = make(graph_node.self)

    func release() {
      node?.release()
      node = nil
    }

    deinit { release() }
  }

  private let log = Recorder()
  private let owner = Owner()
  private var root: UnsafeMutablePointer<graph_node> { owner.node! }

  private func withGuests(_ count: Int, _ body: ([Guest]) -> Void) {
    let memory = Guest.allocate(capacity: count)
    defer { memory.deallocate() }
    for index in 0..<count {
      (memory + index).initialize(to: bound_object())
      memory[index].header.isa = bound_object_class()
    }
    let guests = (0..<count).map { memory + $0 }
    // A guest's class is known only while it is observed.
    for guest in guests { log.observe(guest.header, "mood") }
    body(guests)
    owner.release()
    for guest in guests { kvo_object_will_die(guest.header) }
    for (number, guest) in guests.enumerated() {
      expectEqual(guest.pointee.references, 0, "guest \(number)")
      expectEqual(guest.pointee.unowned, 0, "guest \(number)")
    }
  }

  private func list(_ guests: [Guest], _ kind: kvo_collection_kind = .KVO_ARRAY) -> Many {
    var values = guests.map { kvo_value_object($0.header) }
    defer { for index in values.indices { kvo_value_destroy(&values[index]) } }
    return Many(kind, elements: values)
  }

  /// Sets the whole list, and returns the number of times that this retained a guest.
  private func retains(setting guests: [Guest]) -> Int {
    let list = list(guests)
    _ = bound_object_take_retains()
    list.lend { graph_node_setWares(root, $0) }
    return bound_object_take_retains()
  }

  private func expectFollowed(_ present: [Guest], of all: [Guest], _ what: String) {
    _ = log.take()
    for (number, guest) in all.enumerated() {
      guest.set(\.length, guest.pointee.length + 1)
      expectEqual(log.take().count, present.contains(guest) ? 1 : 0, "guest \(number) \(what)")
    }
  }

  @Test("C6: a whole list that is set is compared with the one before")
  func compared() async {
    // In a process of its own: once memory has run out in a process, all elements are read.
    await #expect(processExitsWith: .success) { ComparedElementsTests().setLists() }
  }

  private func setLists() {
    withGuests(700) { all in
      var present = Array(all[0..<600])
      precondition(retains(setting: present) >= 0)
      log.observe(root.object, "wares.@sum.length")
      func expectCheap(_ what: String, _ change: (inout [Guest]) -> Void) {
        change(&present)
        let retains = retains(setting: present)
        precondition(retains < 40, "\(retains) retains \(what)")
        let gone = all.filter { !present.contains($0) }
        precondition(gone.allSatisfy { $0.pointee.unowned == 0 }, what)
        expectFollowed(present, of: Array(all[0..<4] + all[250..<266] + all[590..<610]), what)
      }
      expectCheap("nothing") { _ in }
      expectCheap("appended") { $0.append(all[600]) }
      expectCheap("inserted at the start") { $0.insert(all[601], at: 0) }
      expectCheap("inserted") { $0.insert(contentsOf: all[602...604], at: 300) }
      expectCheap("inserted again") { $0.insert(all[600], at: 300) }
      expectCheap("removed at the start") { $0.removeFirst() }
      expectCheap("removed at the end") { $0.removeLast() }
      expectCheap("removed") { $0.removeSubrange(255...258) }
      expectCheap("replaced") { $0[256] = all[605] }
      expectCheap("exchanged") { $0.swapAt(260, 262) }
    }
  }

  @Test("C6: elements that come and go by a proxy keep the list comparable")
  func mixed() async {
    await #expect(processExitsWith: .success) { ComparedElementsTests().mixProxyAndLists() }
  }

  private func mixProxyAndLists() {
    withGuests(620) { all in
      var present = Array(all[0..<600])
      _ = retains(setting: present)
      log.observe(root.object, "wares.@sum.length")
      let proxy = Many(mutable: root.object, "wares")
      func value(_ guest: Guest, _ body: (inout kvo_value) -> Void) {
        var value = kvo_value_object(guest.header)
        body(&value)
        kvo_value_destroy(&value)
      }
      let changes: [(inout [Guest]) -> Void] = [
        { present in
          value(all[600]) { _ = kvo_collection_append(proxy.collection, &$0, nil) }
          present.append(all[600])
        },
        { present in
          value(all[601]) { _ = kvo_collection_insert(proxy.collection, 3, &$0, nil) }
          present.insert(all[601], at: 3)
        },
        { present in
          proxy.remove(at: 300)
          present.remove(at: 300)
        },
        { present in
          value(all[602]) { _ = kvo_collection_replace_at(proxy.collection, 7, &$0, nil) }
          present[7] = all[602]
        },
      ]
      for (number, change) in changes.enumerated() {
        change(&present)
        present.append(all[610 + number])
        let retains = retains(setting: present)
        precondition(retains < 40, "\(retains) retains after change \(number)")
        expectFollowed(
          present, of: Array(all[0..<10] + all[298..<302] + all[595...]), "after \(number)")
      }
    }
  }

  @Test("C6: lists that can't be compared are read", arguments: [1, 700])
  func others(_ count: Int) {
    withGuests(count) { all in
      log.observe(root.object, "wares.@sum.length")
      func set(_ many: Many?, _ present: [Guest], _ what: String) {
        if let many {
          many.lend { graph_node_setWares(root, $0) }
        } else {
          graph_node_setWares(root, nil)
        }
        expectFollowed(present, of: all, what)
      }
      set(list(all), all, "array")
      set(list(all, .KVO_SET), all, "set")
      set(list([]), [], "empty array")
      set(list(all, .KVO_ORDERED_SET), all, "ordered set")
      set(nil, [], "nil")
      set(list(all), all, "array again")
      let inner = list(all)
      var element = kvo_value_object(inner.object)
      set(Many(.KVO_ARRAY, elements: [element]), all, "array of arrays")
      kvo_value_destroy(&element)
      set(list(all), all, "array at the end")
      graph_node_setWares(root, nil)
    }
  }

  @Test("C6: the class of an element that has died with the list is not asked for")
  func destroyed() async {
    // In a process of its own, which would stop.
    await #expect(processExitsWith: .success) { ComparedElementsTests().setListsWithoutOwner() }
  }

  private func setListsWithoutOwner() {
    withGuests(3) { all in
      _ = retains(setting: all)
      let sums = Recorder()
      sums.observe(root.object, "wares.@sum.length")
      all[2].pointee.is_destroyed_at_release = true
      _ = retains(setting: [all[0], all[1]])
      expect(all[2].pointee.header.isa == nil && all[2].pointee.unowned == 0)
      all[1].pointee.is_destroyed_at_release = true
      list([all[0]]).lend { graph_node_store_wares(root, $0) }
      expect(all[1].pointee.header.isa == nil && all[1].pointee.unowned == 1)
      sums.end()
    }
  }

  /// Stores a whole list in a manual change that names one of its elements.
  private func change(_ kind: kvo_change_kind, at index: Int, storing guests: [Guest]) {
    withIndexes([index..<index + 1]) { named in
      kvo_will_change_indexes(root.object, kind, named, "wares")
      list(guests).lend { graph_node_store_wares(root, $0) }
      kvo_did_change_indexes(root.object, kind, named, "wares")
    }
  }

  @Test("C6: a list is read if a change that named its elements has also reordered it")
  func reordered() {
    withGuests(5) { all in
      let (a, b, c, d, e) = (all[0], all[1], all[2], all[3], all[4])
      _ = retains(setting: [a, b, c, d])
      log.observe(root.object, "wares.@sum.length")
      change(.KVO_INSERTION, at: 4, storing: [b, a, c, d, e])
      change(.KVO_REMOVAL, at: 0, storing: [a, c, d, e])
      expectFollowed([a, c, d, e], of: all, "after changes that name one element")
      for present in [[b, c, d, e], [e, b, c], [a, c, d, e], []] {
        _ = retains(setting: present)
        expectFollowed(present, of: all, "after \(present.count) have been set")
      }
    }
  }

  @Test("C6: after random assignments of lists just their elements are followed", arguments: 1...4)
  func random(_ seed: Int) {
    var random = Random(seed: UInt64(seed))
    withGuests(40) { all in
      for path in ["wares.@sum.length", "wares.@max.length"] { log.observe(root.object, path) }
      var present: [Guest] = []
      for step in 0..<150 {
        for _ in 0..<random.next(3) + 1 {
          let guest = all[random.next(all.count)]
          switch random.next(5) {
          case 0: present.append(guest)
          case 1: present.insert(guest, at: random.next(present.count + 1))
          case 2 where !present.isEmpty: present.remove(at: random.next(present.count))
          case 3 where !present.isEmpty: present[random.next(present.count)] = guest
          case 4 where random.next(8) == 0: present.reverse()
          default: break
          }
        }
        _ = retains(setting: present)
        _ = log.take()
        for (number, guest) in all.enumerated() {
          guest.set(\.length, guest.pointee.length + 1)
          expectEqual(
            log.take().count, present.contains(guest) ? 2 : 0, "guest \(number) after \(step)")
        }
      }
    }
  }
}
