import CFixtures
import CKVORuntime
import Glibc
import TestSupport
import Testing

/// J1 and what else tells what goes on: the dump, the list of registrations, environment options.
@Suite(.recording) struct DiagnosticsTests {
  @Test("J1: the dump lists every registration: key path, observer, options, context")
  func dump() {
    let object = make(account.self)
    let observer = make(watcher.self)
    defer {
      object.release()
      observer.release()
    }
    let log = Recorder()
    add(observer, to: object.object, "balance", [.KVO_NEW, .KVO_PRIOR], context: address(0xABC))
    add(observer, to: object.object, "owner", .KVO_OLD)
    log.observe(object.object, "interestRate", [.KVO_INITIAL, .KVO_DISTINCT])

    let lines = dumpOf(object.object).split(separator: "\n").map(String.init)

    #expect(lines[0].contains("<CAccount: 0x"))
    expect(lines, haveOneWith: ["balance", "<CWatcher: 0x", "new", "prior", "0xabc"])
    expect(lines, haveOneWith: ["owner", "<CWatcher: 0x", "old"])
    expect(lines, haveOneWith: ["interestRate", "callback", "initial", "distinct"])
  }

  @Test("J1: the dump of an observer lists what it observes")
  func dumpOfObserver() {
    let object = make(account.self)
    let observer = make(watcher.self)
    defer {
      object.release()
      observer.release()
    }
    add(observer, to: object.object, "balance", context: address(0xABC))
    let lines = dumpOf(observer.object).split(separator: "\n").map(String.init)
    expect(lines, haveOneWith: ["balance", hexadecimal(object.object), "0xabc"])
  }

  @Test("J1: the dump lists open pairs by hand, and no closed ones")
  func dumpOfPairs() {
    let object = make(account.self)
    defer { object.release() }
    let log = Recorder()
    log.observe(object.object, "balance")
    kvo_will_change(object.object, "balance")
    kvo_will_change(object.object, "owner")
    kvo_did_change(object.object, "balance")
    let lines = dumpOf(object.object).split(separator: "\n").map(String.init)
    expect(lines, haveOneWith: ["open", "owner", "thread"])
    #expect(!lines.contains { $0.contains("open") && $0.contains("balance") })
    kvo_did_change(object.object, "owner")
    #expect(!dumpOf(object.object).contains("open"))
  }

  @Test("J1: the dump of an object without observers names it and nothing more")
  func dumpOfNothing() {
    let object = make(account.self)
    defer { object.release() }
    #expect(dumpOf(object.object).split(separator: "\n").count == 1)
    let log = Recorder()
    log.observe(object.object, "balance").invalidate()
    #expect(dumpOf(object.object).split(separator: "\n").count == 1)
  }

  @Test("J1: registrations are visited by key path and in order, from a copy")
  func visiting() {
    let object = make(account.self)
    let observer = make(watcher.self)
    defer {
      object.release()
      observer.release()
    }
    for (key, context) in [("owner", 1), ("balance", 2), ("owner", 3), ("balance", 4)] {
      add(observer, to: object.object, key, .KVO_NEW, context: address(context))
    }
    let visits = Visits(object.object)
    let status = kvo_visit_registrations(
      object.object,
      { context, info in
        Unmanaged<Visits>.fromOpaque(context!).takeUnretainedValue().visit(info.pointee)
      },
      Unmanaged.passUnretained(visits).toOpaque())
    #expect(status == .KVO_OK)
    #expect(visits.seen.map(\.key) == ["balance", "balance", "owner", "owner"])
    #expect(visits.seen.map(\.context) == [2, 4, 1, 3].map { UnsafeRawPointer(address($0)) })
    #expect(visits.seen.allSatisfy { $0.options == .KVO_NEW && $0.observer.contains("CWatcher") })
    #expect(!kvo_is_observed(object.object, "balance"))
  }

  @Test("J1: an object says whether a key is observed")
  func isObserved() {
    let object = make(account.self)
    defer { object.release() }
    let log = Recorder()
    #expect(!kvo_is_observed(object.object, "balance"))
    let tokens = [log.observe(object.object, "balance"), log.observe(object.object, "balance")]
    #expect(kvo_is_observed(object.object, "balance"))
    #expect(!kvo_is_observed(object.object, "owner"))
    #expect(!kvo_is_observed(object.object, "nonsense"))
    tokens[0].invalidate()
    #expect(kvo_is_observed(object.object, "balance"))
    tokens[1].invalidate()
    #expect(!kvo_is_observed(object.object, "balance"))
  }

  @Test("J1: all observers of an object are removed at once, whoever added them")
  func removingAll() {
    let object = make(account.self)
    let other = make(account.self)
    let observer = make(watcher.self)
    defer {
      object.release()
      other.release()
      observer.release()
    }
    let log = Recorder()
    log.listen(to: observer, as: "w")
    let tokens = ["balance", "owner", "balance"].map { log.observe(object.object, $0) }
    add(observer, to: object.object, "balance")
    add(observer, to: other.object, "balance")

    kvo_remove_all_observers(object.object)

    #expect(tokens.map(\.ended) == [1, 1, 1])
    #expect(tokens.map(\.isValid) == [false, false, false])
    account_setBalance(object, 1)
    account_setBalance(other, 1)
    #expect(log.take() == ["w: balance"])
    #expect(kvo_isa(object.object) == account_class())
    #expect(remove(observer, from: object.object, "balance").status == .KVO_NOT_REGISTERED)
  }

  // MARK: Environment

  @Test("J1: hits are counted in a debug mode alone")
  func hits() {
    let counting = runProgram("observe", "KVO_COUNT_HITS", "1")
    #expect(counting.exitCode == 0)
    #expect(counting.errors.contains("3 hits"))
    let plain = runProgram("observe", "KVO_COUNT_HITS", "0")
    #expect(plain.errors.contains("balance") && !plain.errors.contains("hits"))
  }

  @Test(
    "J2: an option logs registrations, deliveries or both",
    arguments: [
      ("registrations", 2), ("deliveries", 3), ("registrations,deliveries", 5), ("", 0),
    ])
  func logging(_ words: String, _ count: Int) {
    let run = runProgram("observe", "KVO_LOG", words)
    #expect(run.exitCode == 0)
    let logged = run.errors.split(separator: "\n").filter { $0.hasPrefix("KVO:") }
    #expect(logged.count == count)
    #expect(logged.allSatisfy { $0.contains("balance") })
  }

  @Test("J2: a kind of log that there is not is told, and the others are logged")
  func unknownKind() {
    let run = runProgram("observe", "KVO_LOG", "nothing,registrations")
    let lines = run.errors.split(separator: "\n").filter { $0.hasPrefix("KVO:") }
    #expect(lines.count == 3)
    #expect(
      lines.first?.contains("KVO_LOG") == true && lines.first?.contains("\"nothing\"") == true)
  }

  @Test("J2: an option lists all the options")
  func help() {
    let run = runProgram("observe", "KVO_HELP", "1")
    for option in ["KVO_HELP", "KVO_LOG", "KVO_COUNT_HITS", "KVO_ABORT_ON_MISUSE"] {
      #expect(run.errors.contains(option))
    }
  }

  @Test("J2: KVO_ABORT_ON_MISUSE stops at the first misuse, whose message names class and key")
  func abortOnMisuse() {
    let stopped = runProgram("misuse", "KVO_ABORT_ON_MISUSE", "1")
    #expect(stopped.signal == SIGABRT)
    #expect(stopped.errors.contains("CAccount") && stopped.errors.contains("balance"))
    #expect(!stopped.errors.contains("survived"))
    let reported = runProgram("misuse", "KVO_ABORT_ON_MISUSE", "0")
    #expect(reported.exitCode == 0)
    #expect(reported.errors.contains("CAccount") && reported.errors.contains("balance"))
    #expect(reported.errors.contains("survived"))
  }
}

/// Misuse and what stops a program: in processes of their own, as handlers are the process's.
@Suite struct MisuseTests {
  @Test("D8: a did without a will goes to the misuse handler, with class and key, and tells nobody")
  func didWithoutWill() async {
    await #expect(processExitsWith: .success) {
      kvo_set_misuse_handler { message in heard.withLock { $0.append(String(cString: message)) } }
      let object = make(account.self)
      let log = Recorder()
      log.observe(object.object, "balance", .KVO_PRIOR)

      kvo_did_change(object.object, "balance")
      #expect(reports() == 1)
      kvo_will_change(object.object, "balance")
      kvo_did_change(object.object, "owner")
      #expect(reports() == 2)
      kvo_did_change(object.object, "balance")
      kvo_did_change(object.object, "balance")
      #expect(reports() == 3)

      for (message, key) in zip(heard.withLock { $0 }, ["balance", "owner", "balance"]) {
        #expect(message.contains("CAccount") && message.contains(key))
      }
      #expect(log.take() == ["a: prior balance", "a: balance"])
      account_setBalance(object, 1)
      #expect(log.take() == ["a: prior balance", "a: balance"])
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
      #expect(reports() == 1)
      #expect(log.take() == [])
      kvo_did_change(object.object, "balance")
      #expect(reports() == 1)
      #expect(log.take() == ["a: balance"])
      object.release()
    }
  }

  @Test("D8: a will left open is reported when its thread ends, once, and silences nothing")
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
      #expect(reports() == 1)
      let message = heard.withLock { $0[0] }
      #expect(message.contains("CAccount") && message.contains("balance"))
      #expect(message.contains("ended"))
      account_setBalance(object, 2)
      #expect(log.take() == ["a: balance new 2.0"])
      let dump = kvo_copy_debug_dump(object.object)!
      #expect(String(cString: dump).contains("an open change by hand of \"balance\""))
      free(dump)
      log.end()
      object.release()
      #expect(reports() == 1)
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
        #expect(reports() == 2)
      }
      #expect(reports() == 2)
      kvo_will_change(objects[1].object, "balance")
      objects[1].release()
      #expect(reports() == 3)
    }
  }

  @Test("J3: the break function hears of every misuse, with the message, before the handler")
  func breakFunction() async {
    await #expect(processExitsWith: .success) {
      kvo_set_misuse_handler { message in
        #expect(String(cString: message) == String(cString: breaks_last_message()))
        heard.withLock { $0.append(String(cString: message)) }
      }
      let object = make(account.self)
      #expect(breaks_count() == 0)
      kvo_did_change(object.object, "balance")
      #expect(breaks_count() == 1 && reports() == 1)
      kvo_will_change(object.object, "owner")
      object.release()
      #expect(breaks_count() == 2 && reports() == 2)
      #expect(String(cString: breaks_last_message()).contains("owner"))
    }
  }

  @Test("without a handler misuse is a line on stderr, and the break function does nothing else")
  func misuseOnStandardError() async throws {
    let result = await #expect(
      processExitsWith: .success, observing: [\.standardErrorContent]
    ) {
      kvo_set_misuse_handler { message in heard.withLock { $0.append(String(cString: message)) } }
      kvo_break_on_misuse("only broken on")
      #expect(reports() == 0)
      kvo_set_misuse_handler(nil)
      let object = make(account.self)
      kvo_did_change(object.object, "interestRate")
      object.release()
    }
    let errors = try #require(result).errors
    #expect(errors.contains("CAccount") && errors.contains("interestRate"))
    #expect(!errors.contains("only broken on"))
  }

  @Test("D10: a notification that no class takes stops with observer, key path and object")
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
    let errors = try #require(result).errors
    #expect(errors.contains("CSubWatcher"))
    #expect(errors.contains("interestRate"))
    #expect(errors.contains("CAccount"))
  }

  @Test("D10: a hook sees it instead, once for each notification, and the program goes on")
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
      #expect(
        heard.withLock { $0 } == ["balance CAccount CSubWatcher", "balance CAccount CSubWatcher"])
      #expect(log.take().count == 4)
      #expect(account_balance(object) == 2)
      observer.release()
      object.release()
    }
  }

  /// Definitions that are refused, and what the message must name.
  @Test("A3: a class whose packed struct an encoding can't tell stops the program, naming it")
  func refusedPackedClass() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = refused_packed_class() }
    let errors = try #require(result).errors
    for word in ["CRefusedPacked", "pair", "{packed_pair=cd}"] { #expect(errors.contains(word)) }
  }

  @Test("A3: a class whose struct has no encoding stops the program, with the advice to name one")
  func refusedNamelessClass() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = refused_nameless_class() }
    let errors = try #require(result).errors
    for word in ["CRefusedNameless", "place", "encoding"] { #expect(errors.contains(word)) }
  }

  @Test("A3: a class that gives an inherited property another type stops the program")
  func refusedOverrideClass() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = refused_override_class() }
    let errors = try #require(result).errors
    for word in ["CRefusedOverride", "balance"] { #expect(errors.contains(word)) }
  }
}

/// What the handlers of this process were told.
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

/// Removes all observers at its first visit.
private final class Visits {
  private let object: CObject
  private(set) var seen:
    [(key: String, observer: String, options: kvo_options, context: UnsafeRawPointer?)] = []

  init(_ object: CObject) { self.object = object }

  func visit(_ info: kvo_registration_info) {
    kvo_remove_all_observers(object)
    seen.append(
      (
        String(cString: info.key_path), String(cString: info.observer), info.options, info.context
      ))
  }
}

private func dumpOf(_ object: CObject) -> String {
  guard let text = kvo_copy_debug_dump(object) else { return "" }
  defer { free(text) }
  return String(cString: text)
}

private func expect(
  _ lines: [String], haveOneWith words: [String], sourceLocation: SourceLocation = #_sourceLocation
) {
  let fitting = lines.count { line in words.allSatisfy { line.contains($0) } }
  #expect(fitting == 1, "\(words) in \(lines)", sourceLocation: sourceLocation)
}

private func hexadecimal(_ object: CObject) -> String {
  String(UInt(bitPattern: object), radix: 16)
}

private func runProgram(
  _ program: String, _ variable: String, _ value: String
) -> (exitCode: Int32, signal: Int32, errors: String) {
  let run = fixture_run_program(program, variable, value)
  let errors = withUnsafeBytes(of: run.errors) { bytes in
    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
  }
  return (run.exit_code, run.signal, errors)
}
