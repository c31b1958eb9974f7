import CFixtures
import CKVORuntime
import Expectations
import Glibc
import TestSupport
import Testing

/// Misuse and programming errors that stop the program. They run in processes of their own, because handlers are
/// global.
@Suite struct MisuseTests {
  @Test("D8: a did without a will is reported with class and key, and notifies no observer")
  func didWithoutWill() async {
    await #expect(processExitsWith: .success) {
      kvo_set_misuse_handler { message in heard.withLock { $0.append(String(cString: message)) } }
      let object = make(account.self)
      let log = Recorder()
      log.observe(object.object, "balance", .KVO_PRIOR)

      kvo_did_change(object.object, "balance")
      expectEqual(reports(), 1)
      kvo_will_change(object.object, "balance")
      kvo_did_change(object.object, "owner")
      expectEqual(reports(), 2)
      let texts = heard.withLock { $0 }
      let ignored = "of CAccount without a kvo_will_change on this thread; it is ignored."
      expectEqual(texts[0], "kvo_did_change for \"balance\" \(ignored)")
      expectEqual(
        texts[1],
        """
        kvo_did_change for "owner" \(ignored) The last one that is open is for "balance": did you mean that?
        """)
      kvo_did_change(object.object, "balance")
      kvo_did_change(object.object, "balance")
      expectEqual(reports(), 3)

      for (message, key) in zip(heard.withLock { $0 }, ["balance", "owner", "balance"]) {
        expect(message.contains("CAccount") && message.contains(key))
      }
      expectEqual(log.take(), ["a: prior balance", "a: balance"])
      account_setBalance(object, 1)
      expectEqual(log.take(), ["a: prior balance", "a: balance"])
      object.release()
    }
  }

  @Test("D6: a did on another thread than the will is a did without will")
  func didOnAnotherThread() async {
    await #expect(processExitsWith: .success) {
      kvo_set_misuse_handler { message in heard.withLock { $0.append(String(cString: message)) } }
      let object = make(account.self)
      let log = Recorder()
      log.observe(object.object, "balance")
      kvo_will_change(object.object, "balance")
      let shared = Shared(object)
      onThreads(1) { _ in kvo_did_change(shared.value.object, "balance") }
      expectEqual(reports(), 1)
      expectEqual(log.take(), [])
      kvo_did_change(object.object, "balance")
      expectEqual(reports(), 1)
      expectEqual(log.take(), ["a: balance"])
      object.release()
    }
  }

  @Test("D8: a will left open is reported once when its thread ends, and silences nothing")
  func willLeftOpenByThread() async {
    await #expect(processExitsWith: .success) {
      kvo_set_misuse_handler { message in heard.withLock { $0.append(String(cString: message)) } }
      let object = make(account.self)
      let log = Recorder()
      log.observe(object.object, "balance", .KVO_NEW)
      let shared = Shared(object)
      onThreads(1) { _ in
        kvo_will_change(shared.value.object, "balance")
        kvo_will_change(shared.value.object, "owner")
        kvo_did_change(shared.value.object, "owner")
      }
      expectEqual(reports(), 1)
      let message = heard.withLock { $0[0] }
      expect(message.contains("CAccount") && message.contains("balance"))
      expect(message.contains("ended"))
      account_setBalance(object, 2)
      expectEqual(log.take(), ["a: balance new 2.0"])
      let dump = kvo_copy_debug_dump(object.object)!
      expect(String(cString: dump).contains("an open manual change of \"balance\""))
      free(dump)
      log.end()
      object.release()
      expectEqual(reports(), 1)
    }
  }

  @Test("D8: a will left open is reported when its object dies, in whichever order threads end")
  func willLeftOpenByObject() async {
    await #expect(processExitsWith: .success) {
      kvo_set_misuse_handler { message in heard.withLock { $0.append(String(cString: message)) } }
      let objects = [make(account.self), make(account.self)]
      let shared = Shared(objects[0])
      onThreads(1) { _ in
        kvo_will_change(shared.value.object, "balance")
        kvo_will_change(shared.value.object, "owner")
        shared.value.release()
        expectEqual(reports(), 2)
      }
      expectEqual(reports(), 2)
      kvo_will_change(objects[1].object, "balance")
      objects[1].release()
      expectEqual(reports(), 3)
    }
  }

  @Test("H6: an accessor called with a negative index is reported and delivered as a setting")
  func negativeIndex() async {
    await #expect(processExitsWith: .success) {
      kvo_set_misuse_handler { message in heard.withLock { $0.append(String(cString: message)) } }
      let object = makeShelf([.mutableArray, .SHELF_REPLACE, .batches], [7])
      let log = Mutations(of: object.object, "items", [.KVO_OLD, .KVO_NEW, .KVO_PRIOR])
      let end = notFound
      shelf_insert(object, 8, end)
      expectEqual(log.take(), ["prior setting old [7]", "setting old [7] new [7, 8]"])
      shelf_replace(object, end, 9)
      expectEqual(log.take(), ["prior setting old [7, 8]", "setting old [7, 8] new [7, 9]"])
      shelf_remove(object, end)
      expectEqual(log.take(), ["prior setting old [7, 9]", "setting old [7, 9] new [7]"])
      object.pointee.stubborn = true
      shelf_insert(object, 8, -2)
      expectEqual(log.take(), ["prior setting old [7]", "setting old [7] new [7]"])
      let texts = heard.withLock { $0 }
      expectEqual(texts.count, 4)
      let selectors = ["insertObject:", "replaceObject", "removeObject", "insertObject:"]
      for (text, selector) in zip(texts, selectors) {
        expect(text.hasPrefix(selector) && text.contains(className(object)))
        expect(text.contains("no element of \"items\" can have"))
      }
      expect(texts[0].contains(" the index -1, ") && texts[3].contains(" the index -2, "))
      log.end()
      object.release()
    }
  }

  @Test("D6: a did with other indexes than its will is reported and delivered as a setting")
  func otherElements() async {
    await #expect(processExitsWith: .success) {
      kvo_set_misuse_handler { message in heard.withLock { $0.append(String(cString: message)) } }
      let object = makeShelf([.mutableArray, .batches], [7])
      let log = Mutations(of: object.object, "items", [.KVO_OLD, .KVO_NEW])
      let first = kvo_index_set_create_range(0, 1)!
      let other = kvo_index_set_create_range(1, 1)!
      let change = { (will: kvo_change_kind, did: kvo_change_kind, indexes: OpaquePointer) in
        kvo_will_change_indexes(object.object, will, first, "items")
        kvo_did_change_indexes(object.object, did, indexes, "items")
      }
      change(.KVO_REPLACEMENT, .KVO_REPLACEMENT, first)
      expectEqual(log.take(), ["replacement 0..<1 old [7] new [7]"])
      expectEqual(reports(), 0)
      let setting = ["setting old [7] new [7]"]
      change(.KVO_REPLACEMENT, .KVO_REPLACEMENT, other)
      expectEqual(log.take(), setting)
      change(.KVO_REPLACEMENT, .KVO_REMOVAL, first)
      expectEqual(log.take(), setting)
      change(.KVO_REMOVAL, .KVO_SETTING, first)
      expectEqual(log.take(), setting)
      kvo_will_change(object.object, "items")
      kvo_did_change_indexes(object.object, .KVO_INSERTION, first, "items")
      expectEqual(log.take(), setting)
      var texts = heard.withLock { $0 }
      let ends = [
        "a replacement and ended as one of other elements", "a replacement and ended as a removal",
        "a removal and ended as a setting", "a setting and ended as an insertion",
      ]
      for (text, end) in zip(texts, ends) {
        expect(text.contains("\"items\" of \(className(object))") && text.contains(end), text)
      }
      expectEqual(texts.count, 4)
      coalescing(object.object) { change(.KVO_REPLACEMENT, .KVO_REPLACEMENT, other) }
      expectEqual(log.take(), setting)
      kvo_will_change_indexes(object.object, .KVO_INSERTION, nil, "items")
      kvo_did_change_indexes(object.object, .KVO_INSERTION, nil, "items")
      expectEqual(log.take(), setting)
      texts = heard.withLock { $0 }
      expect(texts.count == 6 && texts[5].contains("without indexes"))
      log.end()
      kvo_index_set_destroy(first)
      kvo_index_set_destroy(other)
      object.release()
    }
  }

  @Test("H6: negative indexes in a manual change, or for several elements, are reported as well")
  func negativeIndexes() async {
    await #expect(processExitsWith: .success) {
      kvo_set_misuse_handler { message in heard.withLock { $0.append(String(cString: message)) } }
      let object = makeShelf([.mutableArray, .batches], [7])
      let log = Mutations(of: object.object, "items", [.KVO_OLD, .KVO_NEW])
      let indexes = kvo_index_set_create_range(Int(bitPattern: UInt.max - 2), 2)!
      kvo_will_change_indexes(object.object, .KVO_INSERTION, indexes, "items")
      kvo_did_change_indexes(object.object, .KVO_INSERTION, indexes, "items")
      expectEqual(log.take(), ["setting old [7] new [7]"])
      object.pointee.stubborn = true
      shelf_remove_many(object, indexes)
      expectEqual(log.take(), ["setting old [7] new [7]"])
      let texts = heard.withLock { $0 }
      expectEqual(texts.count, 2)
      for text in texts {
        for word in ["items", className(object), "the index -2"] { expect(text.contains(word)) }
      }
      kvo_index_set_destroy(indexes)
      log.end()
      object.release()
    }
  }

  @Test("H6: indexes of a manual change that the collection doesn't have are reported once")
  func missingIndexes() async {
    await #expect(processExitsWith: .success) {
      kvo_set_misuse_handler { message in heard.withLock { $0.append(String(cString: message)) } }
      let object = makeShelf([.mutableArray, .batches], [7, 8])
      let indexes = kvo_index_set_create_range(1, 3)!
      let change = { (kind: kvo_change_kind) in
        kvo_will_change_indexes(object.object, kind, indexes, "items")
        kvo_did_change_indexes(object.object, kind, indexes, "items")
      }
      let log = Mutations(of: object.object, "items", [.KVO_OLD, .KVO_NEW])
      change(.KVO_REMOVAL)
      expectEqual(log.take(), ["removal 1..<4 old [8]"])
      change(.KVO_INSERTION)
      expectEqual(log.take(), ["insertion 1..<4 new [8]"])
      change(.KVO_REPLACEMENT)
      expectEqual(log.take(), ["replacement 1..<4 old [8] new [8]"])
      // Both elements exist before this replacement, one of them after it.
      let both = kvo_index_set_create_range(0, 2)!
      kvo_will_change_indexes(object.object, .KVO_REPLACEMENT, both, "items")
      object.pointee.count = 1
      kvo_did_change_indexes(object.object, .KVO_REPLACEMENT, both, "items")
      kvo_index_set_destroy(both)
      expectEqual(log.take(), ["replacement 0..<2 old [7, 8] new [7]"])
      log.end()
      let wantsNoElements = Mutations(of: object.object, "items", [])
      change(.KVO_REMOVAL)
      expectEqual(wantsNoElements.take(), ["removal 1..<4"])
      wantsNoElements.end()
      let texts = heard.withLock { $0 }
      expectEqual(
        texts,
        [("a removal", 2), ("an insertion", 2), ("a replacement", 2), ("a replacement", 1)].map {
          """
          A change of "items" of \(className(object)) was announced as \($0) at the index \($1), where \
          there is no element. Its observers get the elements that exist.
          """
        })
      kvo_index_set_destroy(indexes)
      object.release()
    }
  }

  @Test("J3: the break function gets every misuse message before the handler does")
  func breakFunction() async {
    await #expect(processExitsWith: .success) {
      kvo_set_misuse_handler { message in
        expectEqual(String(cString: message), String(cString: breaks_last_message()))
        heard.withLock { $0.append(String(cString: message)) }
      }
      let object = make(account.self)
      expectEqual(breaks_count(), 0)
      kvo_did_change(object.object, "balance")
      expect(breaks_count() == 1 && reports() == 1)
      kvo_will_change(object.object, "owner")
      object.release()
      expect(breaks_count() == 2 && reports() == 2)
      expect(String(cString: breaks_last_message()).contains("owner"))
      kvo_report_misuse("100 % a binding's own")
      expect(breaks_count() == 3 && reports() == 3)
      expect(String(cString: breaks_last_message()).contains("100 % a binding's own"))
    }
  }

  @Test("without a handler a misuse is one line on stderr; the break function does nothing")
  func misuseOnStandardError() async throws {
    let result = await #expect(
      processExitsWith: .success, observing: [\.standardErrorContent]
    ) {
      kvo_set_misuse_handler { message in heard.withLock { $0.append(String(cString: message)) } }
      kvo_break_on_misuse("only broken on")
      expectEqual(reports(), 0)
      kvo_set_misuse_handler(nil)
      let object = make(account.self)
      kvo_did_change(object.object, "interestRate")
      object.release()
    }
    let errors = try require(result).errors
    expect(errors.contains("CAccount") && errors.contains("interestRate"))
    expect(!errors.contains("only broken on"))
  }

  @Test("D10: a notification that no class takes stops, naming observer, key path and object")
  func unhandledNotification() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let object = make(account.self)
      let observer = make(sub_watcher.self)
      add(observer.asWatcher, to: object.object, "interestRate", context: address(99))
      account_setInterestRate(object, 1)
      print("still there")
    }
    let errors = try require(result).errors
    expect(errors.contains("CSubWatcher"))
    expect(errors.contains("interestRate"))
    expect(errors.contains("CAccount"))
  }

  @Test("D10: a hook gets it instead, once per notification, and the program goes on")
  func unhandledHook() async {
    await #expect(processExitsWith: .success) {
      kvo_set_unhandled_notification_handler { key, object, observer in
        let classes = "\(name(of: kvo_class_of(object))) \(name(of: kvo_class_of(observer)))"
        heard.withLock { $0.append("\(String(cString: key)) \(classes)") }
      }
      let object = make(account.self)
      let observer = make(sub_watcher.self)
      let log = Recorder()
      log.listen(to: observer.asWatcher, as: "w")
      add(observer.asWatcher, to: object.object, "balance", context: address(99))
      add(observer.asWatcher, to: object.object, "balance", context: base_watcher_context())
      log.observe(object.object, "balance", as: "last")
      account_setBalance(object, 1)
      account_setBalance(object, 2)
      expectEqual(
        heard.withLock { $0 }, ["balance CAccount CSubWatcher", "balance CAccount CSubWatcher"])
      expectEqual(log.take().count, 4)
      expectEqual(account_balance(object), 2)
      observer.release()
      object.release()
    }
  }

  /// Definitions that are refused, and what the message must name.
  @Test(
    "A3: a class with a packed struct that an encoding can't describe stops the program, naming it")
  func refusedPackedClass() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = refused_packed_class() }
    let errors = try require(result).errors
    for word in ["CRefusedPacked", "pair", "{packed_pair=cd}"] { expect(errors.contains(word)) }
  }

  @Test("A3: a class whose struct has no encoding stops the program; the message says to name one")
  func refusedNamelessClass() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = refused_nameless_class() }
    let errors = try require(result).errors
    for word in ["CRefusedNameless", "place", "encoding"] { expect(errors.contains(word)) }
  }

  @Test("A3: a class that gives an inherited property another type stops the program")
  func refusedOverrideClass() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = refused_override_class() }
    let errors = try require(result).errors
    for word in ["CRefusedOverride", "balance"] { expect(errors.contains(word)) }
  }

  @Test("A3: a class with a setter that is not named after its key stops the program")
  func refusedMisnamedClass() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = refused_misnamed_class() }
    let errors = try require(result).errors
    for word in ["CRefusedMisnamed", "Balanse:", "Balance:"] { expect(errors.contains(word)) }
  }
}

/// Collects the reports that the handlers of this process receive.
private let heard = Locked<[String]>([])

private func reports() -> Int { heard.withLock { $0.count } }

extension ExitTest.Result {
  fileprivate var errors: String { String(decoding: standardErrorContent, as: UTF8.self) }
}

extension UnsafeMutablePointer<sub_watcher> {
  fileprivate var asWatcher: UnsafeMutablePointer<watcher> {
    UnsafeMutableRawPointer(self).assumingMemoryBound(to: watcher.self)
  }
}
