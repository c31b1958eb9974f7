import CFixtures
import CKVORuntime
import Expectations
import Glibc
import TestSupport
import Testing

/// J1 and J2: the dump, the list of registrations, environment options.
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

    expect(lines[0].contains("<CAccount: 0x"))
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

  @Test("J1: the dump lists open manual pairs, and no closed ones")
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
    expect(!lines.contains { $0.contains("open") && $0.contains("balance") })
    kvo_did_change(object.object, "owner")
    expect(!dumpOf(object.object).contains("open"))
  }

  @Test("J1: the dump of an object without observers names it and nothing more")
  func dumpOfNothing() {
    let object = make(account.self)
    defer { object.release() }
    expectEqual(dumpOf(object.object).split(separator: "\n").count, 1)
    let log = Recorder()
    log.observe(object.object, "balance").invalidate()
    expectEqual(dumpOf(object.object).split(separator: "\n").count, 1)
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
    expectEqual(status, .KVO_OK)
    expectEqual(visits.seen.map(\.key), ["balance", "balance", "owner", "owner"])
    expectEqual(visits.seen.map(\.context), [2, 4, 1, 3].map { UnsafeRawPointer(address($0)) })
    expect(visits.seen.allSatisfy { $0.options == .KVO_NEW && $0.observer.contains("CWatcher") })
    expect(!kvo_is_observed(object.object, "balance"))
  }

  @Test("J1: an object says whether a key is observed")
  func isObserved() {
    let object = make(account.self)
    defer { object.release() }
    let log = Recorder()
    expect(!kvo_is_observed(object.object, "balance"))
    let tokens = [log.observe(object.object, "balance"), log.observe(object.object, "balance")]
    expect(kvo_is_observed(object.object, "balance"))
    expect(!kvo_is_observed(object.object, "owner"))
    expect(!kvo_is_observed(object.object, "nonsense"))
    tokens[0].invalidate()
    expect(kvo_is_observed(object.object, "balance"))
    tokens[1].invalidate()
    expect(!kvo_is_observed(object.object, "balance"))
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

    expectEqual(tokens.map(\.ended), [1, 1, 1])
    expectEqual(tokens.map(\.isValid), [false, false, false])
    account_setBalance(object, 1)
    account_setBalance(other, 1)
    expectEqual(log.take(), ["w: balance"])
    expectEqual(kvo_isa(object.object), account_class())
    expectEqual(remove(observer, from: object.object, "balance").status, .KVO_NOT_REGISTERED)
  }

  // MARK: Environment

  @Test("J1: hits are counted only in a debug mode")
  func hits() {
    let counting = runProgram("observe", "KVO_COUNT_HITS", "1")
    expectEqual(counting.exitCode, 0)
    expect(counting.errors.contains("3 hits"))
    let plain = runProgram("observe", "KVO_COUNT_HITS", "0")
    expect(plain.errors.contains("balance") && !plain.errors.contains("hits"))
  }

  @Test(
    "J2: an option logs registrations, deliveries or both",
    arguments: [
      ("registrations", 2), ("deliveries", 3), ("registrations,deliveries", 5), ("", 0),
      ("conventions", 0),
    ])
  func logging(_ words: String, _ count: Int) {
    let run = runProgram("observe", "KVO_LOG", words)
    expectEqual(run.exitCode, 0)
    let logged = run.errors.split(separator: "\n").filter { $0.hasPrefix("KVO:") }
    expectEqual(logged.count, count)
    expect(logged.allSatisfy { $0.contains("balance") })
  }

  @Test("J2: an observer is logged with its description, and as dying where its death ends it")
  func loggedObserver() {
    let run = runProgram("watch", "KVO_LOG", "registrations,deliveries")
    expectEqual(run.exitCode, 0)
    let logged = run.errors.split(separator: "\n").filter { $0.hasPrefix("KVO:") }
    expectEqual(logged.count, 3, run.errors)
    let name = "<\(String(cString: kvo_class_name(watcher_class()))): "
    for (line, words) in zip(logged, ["added", "delivered to", "ended"]) {
      expect(line.contains(words))
    }
    expect(logged[0].contains("by \(name)") && logged[1].contains("to \(name)"))
    expect(logged[2].contains("by a dying object"), String(logged[2]))
  }

  @Test("J2: an unknown kind of log is reported, and the others are logged")
  func unknownKind() {
    let run = runProgram("observe", "KVO_LOG", "nothing,registrations")
    let lines = run.errors.split(separator: "\n").filter { $0.hasPrefix("KVO:") }
    expectEqual(lines.count, 3)
    expect(
      lines.first?.contains("KVO_LOG") == true && lines.first?.contains("\"nothing\"") == true)
  }

  @Test(
    "J2: hints are logged where the hints option or the help option is set",
    arguments: [
      ("KVO_LOG", "hints"), ("KVO_LOG", "deliveries,hints"), ("KVO_HELP", "1"), ("KVO_LOG", ""),
      ("KVO_HELP", "0"), ("KVO_LOG", "conventions"),
    ])
  func hints(_ variable: String, _ value: String) {
    let lines = runProgram("hint", variable, value).errors.split(separator: "\n")
    let isAsked = value.contains("hints") || value == "1" || value == "conventions"
    expectEqual(lines.suffix(2), (isAsked ? ["wanted", "KVO hint: a hint"] : []))
  }

  @Test(
    "D7 J2: with logging on, a set that recurses until the stack ends is reported first, once",
    .disabled(if: fixture_has_address_sanitizer(), "the address sanitizer makes frames larger"))
  func ownCode() {
    let run = runProgram("recursion", "KVO_LOG", "hints")
    let lines = run.errors.split(separator: "\n")
    expect(run.signal != 0 && lines.count == 1)
    expectEqual(lines.first?.hasPrefix("KVO misuse: \"balance\" of CAccount is set where "), true)
    expectEqual(lines.first?.contains("KB are left of the stack's 1"), true)
    // Overrides the option of a test run that sets it.
    expect(runProgram("recursion", "KVO_DISABLE_FAST_PATH", "0").errors.isEmpty)
  }

  @Test("J2: an option lists all the options")
  func help() {
    let run = runProgram("observe", "KVO_HELP", "1")
    for option in [
      "KVO_HELP", "KVO_LOG", "KVO_LOG=hints", "KVO_COUNT_HITS", "KVO_ABORT_ON_MISUSE",
      "KVO_FORCE_CLOSURES", "KVO_DISABLE_FAST_PATH", "KVO_DEPTH", "(0: only where the stack ends)",
      "KVO_NAMES", "(0: none)",
    ] {
      expect(run.errors.contains(option))
    }
  }

  @Test("J2: KVO_FORCE_CLOSURES interposes with closures where none are needed")
  func forceClosures() {
    let forced = runProgram("observe-refused", "KVO_FORCE_CLOSURES", "1")
    expect(forced.errors.hasPrefix("KVO_CLOSURES_UNAVAILABLE: \"balance\" of CAccount"))
    let free = runProgram("observe-refused", "KVO_FORCE_CLOSURES", "0")
    expectEqual(free.errors, "KVO_OK: \n")
  }

  @Test("J2: KVO_ABORT_ON_MISUSE stops at the first misuse, whose message names class and key")
  func abortOnMisuse() {
    let stopped = runProgram("misuse", "KVO_ABORT_ON_MISUSE", "1")
    expectEqual(stopped.signal, SIGABRT)
    expect(stopped.errors.contains("CAccount") && stopped.errors.contains("balance"))
    expect(!stopped.errors.contains("survived"))
    let reported = runProgram("misuse", "KVO_ABORT_ON_MISUSE", "0")
    expectEqual(reported.exitCode, 0)
    expect(reported.errors.contains("CAccount") && reported.errors.contains("balance"))
    expect(reported.errors.contains("survived"))
  }
}

/// Removes all observers in its first call.
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

/// Runs a program of `fixture_run_program`.
func runProgram(
  _ program: String, _ variable: String, _ value: String
) -> (exitCode: Int32, signal: Int32, errors: String) {
  var run = fixture_run_program(program, variable, value)
  // By address: the compiler takes half a minute to copy so large a tuple.
  let errors = withUnsafeBytes(of: &run.errors) { bytes in
    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
  }
  return (run.exit_code, run.signal, errors)
}
