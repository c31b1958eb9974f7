import CFixtures
import CKVORuntime
import Expectations
import Glibc
import TestSupport
import Testing

/// The article's colours: key-value observing.
@Suite(.recording) struct ArticleObservingTests {
  @Test("F1: article, LabColor: chained dependencies notify red, green, blue and the colour once")
  func chained() {
    let color = make(article_color.self)
    defer { color.release() }
    let log = Recorder()
    for key in ["redComponent", "greenComponent", "blueComponent"] {
      log.observe(color.object, key)
    }
    log.observe(color.object, "color", [.KVO_OLD, .KVO_NEW])
    article_color_setLComponent(color, 1)
    expectEqual(
      log.take(),
      [
        "a: blueComponent", "a: greenComponent", "a: redComponent", "a: color old #0 new #10101",
      ])
    article_color_setAComponent(color, 2)
    expectEqual(log.take(), ["a: greenComponent", "a: color old #10101 new #10301"])
    set(color.object, "bComponent", .int(4))
    expectEqual(log.take(), ["a: blueComponent", "a: color old #10301 new #10305"])
  }

  @Test("F1: article, LabColor: a subclass that overrides redComponent keeps its dependencies")
  func subclass() {
    let color = make(article_color.self, of: article_warm_color_class())
    defer { color.release() }
    let log = Recorder()
    for key in ["redComponent", "color"] { log.observe(color.object, key, [.KVO_OLD, .KVO_NEW]) }
    article_color_setLComponent(color, 1)
    expectEqual(
      log.take(), ["a: redComponent old 0.0 new 2.0", "a: color old #0 new #20101"])
  }

  @Test(
    "E3: article, setLComponent: manual where the value changes, also for derived keys")
  func manualSetter() {
    let color = make(article_color.self, of: article_manual_color_class())
    defer { color.release() }
    let log = Recorder()
    for key in ["lComponent", "color"] {
      log.observe(color.object, key, [.KVO_PRIOR, .KVO_OLD, .KVO_NEW])
    }
    for value in [0.0, 1, 1] { article_color_setLComponent(color, value) }
    expectEqual(
      log.take(),
      [
        "a: prior lComponent old 0.0", "a: prior color old #0",
        "a: lComponent old 0.0 new 1.0", "a: color old #0 new #10101",
      ])
  }

  @Test("E3: article: an instance variable changed between will and did")
  func instanceVariable() {
    let color = make(article_color.self)
    defer { color.release() }
    let log = Recorder()
    for key in ["lComponent", "color"] { log.observe(color.object, key, [.KVO_OLD, .KVO_NEW]) }
    kvo_will_change(color.object, "lComponent")
    color.pointee.lComponent = 3
    kvo_did_change(color.object, "lComponent")
    expectEqual(log.take(), ["a: lComponent old 0.0 new 3.0", "a: color old #0 new #30303"])
  }

  @Test(
    "C10: article, setLabColor: the token is replaced with initial, though the old colour may die",
    arguments: [false, true])
  func replacedToken(_ livesOn: Bool) {
    let controller = make(article_controller.self)
    let colors = [make(article_color.self), make(article_color.self)]
    article_color_setLComponent(colors[0], 1)
    article_controller_setLabColor(controller, colors[0])
    func shown() -> [Int32] { [controller.pointee.shown, controller.pointee.updates] }
    expectEqual(shown(), [10101, 1])
    article_color_setLComponent(colors[0], 2)
    expectEqual(shown(), [20202, 2])
    if !livesOn { colors[0].release() }
    article_controller_setLabColor(controller, colors[1])
    expectEqual(shown(), [0, 3])
    if livesOn {
      article_color_setLComponent(colors[0], 9)
      expect(shown() == [0, 3] && !isSwapped(colors[0].object))
      colors[0].release()
    }
    article_color_setAComponent(colors[1], 5)
    expectEqual(shown(), [500, 4])
    controller.release()
    article_color_setAComponent(colors[1], 6)
    expect(!isSwapped(colors[1].object))
    colors[1].release()
  }

  @Test("C3: article, options: initial is delivered at once, and only once")
  func initial() {
    let color = make(article_color.self)
    defer { color.release() }
    article_color_setLComponent(color, 1)
    let log = Recorder()
    log.observe(color.object, "color", .KVO_INITIAL)
    expectEqual(log.take(), ["a: color"])
    log.observe(color.object, "color", [.KVO_INITIAL, .KVO_PRIOR, .KVO_OLD, .KVO_NEW], as: "b")
    expectEqual(log.take(), ["b: color new #10101"])
  }

  @Test("D4: article, options: prior comes before the change and says so; old and new as asked")
  func priorAndAfter() {
    let color = make(article_color.self)
    defer { color.release() }
    let log = Recorder()
    var read: [String] = []
    log.observe(color.object, "redComponent", .KVO_PRIOR, as: "prior") { call in
      read.append("\(call.isPrior) \(article_color_redComponent(color))")
      expect(call.old == nil && call.new == nil)
    }
    log.observe(color.object, "redComponent", .KVO_OLD, as: "old")
    log.observe(color.object, "redComponent", .KVO_NEW, as: "new")
    article_color_setLComponent(color, 1)
    expectEqual(read, ["true 0.0", "false 1.0"])
    expectEqual(
      log.take(),
      [
        "prior: prior redComponent", "prior: redComponent", "old: redComponent old 0.0",
        "new: redComponent new 1.0",
      ])
  }

  @Test(
    "D1: article: all observers are called before the setter returns; prior sees the old value")
  func synchronous() {
    let color = make(article_color.self)
    defer { color.release() }
    let log = Recorder()
    let keys = ["lComponent", "redComponent", "greenComponent", "color"]
    var seen: [[String]] = []
    log.observe(color.object, "lComponent", .KVO_PRIOR) { _ in
      seen.append(keys.map { CKVORuntimeTests.read(color.object, $0) })
    }
    article_color_setLComponent(color, 1)
    expectEqual(seen, [["0.0", "0.0", "0.0", "#0"], ["1.0", "1.0", "1.0", "#10101"]])
  }

  @Test("G4: article: an empty pair after a direct change has no old, but the path is followed")
  func emptyPair() {
    let contact = make(article_contact.self)
    let addresses = ["Rome", "Oslo"].map { city in
      let address = make(article_address.self)
      article_address_setCity(address, city)
      return address
    }
    article_contact_setAddress(contact, addresses[0])
    let log = Recorder()
    log.observe(contact.object, "address.city", [.KVO_OLD, .KVO_NEW])
    kvo_store_retained_object(&contact.pointee.address, addresses[1])
    kvo_will_change(contact.object, "address")
    kvo_did_change(contact.object, "address")
    expectEqual(log.take(), ["a: address.city old Oslo new Oslo"])
    article_address_setCity(addresses[0], "Milan")
    article_address_setCity(addresses[1], "Bergen")
    expectEqual(log.take(), ["a: address.city old Oslo new Bergen"])
    expect(!isSwapped(addresses[0].object))
    log.end()
    contact.release()
    releaseAll(addresses)
  }

  @Test("C9: article: collections as such are not observable, a property of the list is")
  func collectionsRefused() {
    let list = make(article_list.self)
    defer { list.release() }
    let log = Recorder()
    for many in [Many(ints: [4, 84, 2]), Many(list.object, "wrappedContacts")!] {
      let outcome = log.observe(many.object, "count").outcome
      withExtendedLifetime(many) { expectEqual(outcome.status, .KVO_NOT_OBSERVABLE) }
    }
    let proxy = Many(taking: article_list_mutableContacts(list))
    let message = log.observe(proxy.object, "@count").outcome.message
    withExtendedLifetime(proxy) {
      expect(message.contains("CArticleList") && message.contains("wrappedContacts"))
    }
    for key in ["wrappedContacts", "wrappedContacts.@count"] {
      expectEqual(log.observe(list.object, key).outcome.status, .KVO_OK)
    }
  }

  @Test("J1: article, debugging: the dump lists the observers and what they observe")
  func dump() throws {
    let color = make(article_color.self)
    let observer = make(watcher.self)
    add(observer, to: color.object, "color", .KVO_NEW, context: address(0xC0104))
    let text = try require(kvo_copy_debug_dump(color.object))
    for word in ["CArticleColor", "CWatcher", "color", "c0104"] {
      expect(String(cString: text).contains(word), "\(word)")
    }
    free(text)
    observer.release()
    color.release()
  }
}

/// The article's collections: operators, proxies and their notifications.
@Suite(.recording) struct ArticleCollectionTests {
  @Test("B7: article, operators: the maximum of [4, 84, 2], and the largest amount")
  func operators() {
    expectEqual(readPath(of: ints(4, 84, 2), "@max.self"), "84")
    let made = Numbered()
    let transactions = [120.5, 99, 300].map { amount in
      let transaction = made.make(guide_transaction.self)
      guide_transaction_setAmount(transaction, amount)
      return transaction.object
    }
    withCollection(.KVO_ARRAY, of: transactions) {
      expectEqual(readPath(CObject($0), "@max.amount"), "300.0")
      expectEqual(readPath(CObject($0), "amount"), "[120.5, 99.0, 300.0]")
    }
    withCollection(.KVO_SET, of: transactions) {
      expectEqual(readPath(CObject($0), "@max.amount"), "300.0")
    }
    made.end()
  }

  @Test("B8: article, Primes: the last prime counts once and reads one element")
  func primes() {
    let primes = make(article_primes.self)
    defer { primes.release() }
    func calls() -> [Int] {
      [Int(primes.pointee.counted), Int(primes.pointee.found), primes.pointee.index]
    }
    let proxy = Many(taking: article_primes_primes(primes))
    expectEqual(calls(), [0, 0, 0])
    expectEqual(proxy.last, "1987")
    expectEqual(calls(), [1, 1, Int(ARTICLE_PRIME_COUNT) - 1])
    expectEqual((0..<5).map { proxy[$0] }, ["2", "3", "5", "7", "11"])
    expectEqual(primes.pointee.found, 6)
    withExtendedLifetime(proxy) {
      expectEqual(readPath(proxy.object, "@max.self"), "1987")
      expectEqual(readPath(primes.object, "backingPrimes.@count"), "300")
    }
  }

  private static let classes = ["CArticleList", "CArticleDoubleList", "CArticleManualList"]

  private func makeList(_ name: String) -> UnsafeMutablePointer<article_list> {
    let classes = [article_list_class(), article_double_list_class(), article_manual_list_class()]
    return make(article_list.self, of: classes.first { CKVORuntimeTests.name(of: $0) == name }!)
  }

  @Test(
    "H2: article, mutableContacts: one notification per change, automatic, manual, or both",
    arguments: classes)
  func mutableContacts(_ name: String) {
    let made = Numbered()
    let list = makeList(name)
    let contacts = (0..<4).map { _ in made.make(article_contact.self) }
    let changes = Mutations(of: list.object, "wrappedContacts")
    let proxy = Many(taking: article_list_mutableContacts(list))
    proxy.change(by: contacts[0].object, kvo_collection_append)
    proxy.change(at: 0, by: contacts[1].object, kvo_collection_insert)
    article_list_insertContact(list, contacts[2], 1)
    expectEqual(
      changes.take(),
      [
        "insertion 0..<1 new [#1]", "insertion 0..<1 new [#2]", "insertion 1..<2 new [#3]",
      ])
    proxy.change(at: 2, by: contacts[3].object, kvo_collection_replace_at)
    proxy.remove(at: 0)
    expectEqual(changes.take(), ["replacement 2..<3 old [#1] new [#4]", "removal 0..<1 old [#2]"])
    expectEqual(proxy.text, "[#3, #4]")
    expectEqual(readKey(list.object, "wrappedContacts"), "[#3, #4]")
    changes.end()
    for _ in 0..<2 { proxy.remove(at: 0) }
    expectEqual(proxy.count, 0)
    list.release()
    made.end()
  }

  @Test(
    "H1: article, mutableContacts: a prior has the indexes and the elements removed, not inserted")
  func priors() {
    let made = Numbered()
    let list = make(article_list.self)
    let contact = made.make(article_contact.self)
    let changes = Mutations(
      of: list.object, "wrappedContacts", [.KVO_PRIOR, .KVO_OLD, .KVO_NEW])
    article_list_insertContact(list, contact, 0)
    expectEqual(changes.take(), ["prior insertion 0..<1", "insertion 0..<1 new [#1]"])
    let proxy = Many(mutable: list.object, "wrappedContacts")
    proxy.remove(at: 0)
    expectEqual(changes.take(), ["prior removal 0..<1 old [#1]", "removal 0..<1 old [#1]"])
    expectEqual(proxy.remove(at: 0).status, .KVO_INDEX_OUT_OF_BOUNDS)
    expectEqual(changes.take(), [])
    changes.end()
    list.release()
    made.end()
  }

  @Test("H4: article, sets: the elements added and removed, by proxy or manually, without indexes")
  func sets() {
    let made = Numbered()
    let list = make(article_list.self)
    let contacts = (0..<2).map { _ in made.make(article_contact.self) }
    let changes = Mutations(of: list.object, "favourites")
    let proxy = Many(mutable: list.object, "favourites", as: .KVO_SET)
    proxy.change(by: contacts[0].object, kvo_collection_add)
    proxy.change(by: contacts[0].object, kvo_collection_add)
    expectEqual(changes.take(), ["insertion new {#1}", "insertion new {}"])
    Many(.KVO_SET, of: contacts.map(\.object)).lend { both in
      kvo_will_change_set(list.object, .KVO_UNION, both, "favourites")
      for contact in contacts { article_list_store_favourite(list, contact) }
      kvo_did_change_set(list.object, .KVO_UNION, both, "favourites")
    }
    proxy.change(by: contacts[0].object, kvo_collection_remove)
    expectEqual(changes.take(), ["insertion new {#2}", "removal old {#1}"])
    expectEqual(proxy.text, "{#2}")
    changes.end()
    proxy.set([])
    list.release()
    made.end()
  }

  @Test("B9: article, ordered sets: the proxy of a property, each element once")
  func orderedSet() {
    let made = Numbered()
    let list = make(article_list.self)
    let contacts = (0..<2).map { _ in made.make(article_contact.self).object }
    let changes = Mutations(of: list.object, "ranking")
    let proxy = Many(mutable: list.object, "ranking", as: .KVO_ORDERED_SET)
    for contact in contacts + contacts { proxy.change(by: contact, kvo_collection_append) }
    expectEqual(changes.take(), ["insertion 0..<1 new [#1]", "insertion 1..<2 new [#2]"])
    expectEqual(proxy.text, "<#1, #2>")
    proxy.remove(at: 0)
    expectEqual(changes.take(), ["removal 0..<1 old [#1]"])
    changes.end()
    article_list_setRanking(list, nil)
    list.release()
    made.end()
  }
}
