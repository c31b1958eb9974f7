import KVORuntime
import Model
import Panels

/// Each way of changing each kind of property.
func properties() {
  let account = Account()
  let tokens = [
    account.observe(\.balance, options: [.old, .new, .prior]) { show("balance", $1) },
    account.observe(\.owner, options: [.initial, .old, .new]) { show("owner", $1) },
    account.observe(\.entries, options: [.old, .new]) { show("entries", $1) },
    account.observe(\.level, options: [.old, .new, .distinct]) { show("level", $1) },
    account.observe(\.place, options: .new) { show("place", $1) },
    account.observe(\.revision, options: [.old, .new]) { show("revision", $1) },
    account.observe(\.note, options: [.old, .new]) { show("note", $1) },
  ]
  account.balance = 1
  account.balance += 1
  account.owner = "Ada"
  account.owner?.append("!")
  account.entries.append(3)
  account.entries[0] += 1
  account.level = .high
  account.level = .high
  account.place.x = 2
  account.revise()
  account.withChange(of: \.note) { account.note = "by hand" }
  for token in tokens { token.invalidate() }
  account.balance = 9
}

/// Properties of another module's class, inherited, overridden and added.
func inheritance() {
  let account = Savings()
  let tokens = [
    account.observe(\.balance, options: [.old, .new]) { show("inherited", $1) },
    account.observe(\.rate, options: [.old, .new]) { show("own", $1) },
    (account as Account).observe(\Account.level, options: .new) { show("overridden", $1) },
  ]
  account.balance = 5
  account.rate += 0.5
  account.level = .high
  withExtendedLifetime(tokens) {}
}

/// Computed properties, and paths over several objects.
func tracking() {
  let portfolio = Portfolio()
  let tokens = [
    portfolio.observe(\.total, options: [.old, .new]) { show("total", $1) },
    portfolio.observe(\.main?.owner, options: [.old, .new]) { show("owner", $1) },
    portfolio.observe(\.main?.place.x, options: .new) { show("x", $1) },
  ]
  portfolio.accounts = [Account(), Savings()]
  portfolio.accounts[1].balance = 3
  portfolio.main = portfolio.accounts[0]
  portfolio.main?.owner = "Zoe"
  portfolio.main?.place.x += 1
  withExtendedLifetime(tokens) {}
}

/// Generic classes, whose layout is unknown at compile time.
func generics() {
  let box = Box(["a"])
  let pair = Labelled(1, "one")
  let tokens = [
    box.observe(\.value, options: [.old, .new]) { show("value", $1) },
    box.observe(\.label, options: [.old, .new]) { show("label", $1) },
    pair.observe(\.value, options: [.old, .new]) { show("first", $1) },
    pair.observe(\.second, options: [.old, .new]) { show("second", $1) },
    pair.observe(\.third, options: [.old, .new]) { show("third", $1) },
    pair.observe(\.weight, options: [.old, .new]) { show("weight", $1) },
  ]
  let number = NumberBox(1)
  let limits = number.observe(\.limit, options: [.old, .new]) { show("limit", $1) }
  let sums = number.observe(\.sum, options: [.old, .new]) { show("sum", $1) }
  number.limit = 11
  number.limit += 1
  number.value = 2
  withExtendedLifetime((limits, sums)) {}
  box.value.append("b")
  box.label += "!"
  pair.value += 1
  pair.second = "two"
  pair.second.append("!")
  pair.third.append("t")
  pair.weight += 1
  withExtendedLifetime(tokens) {}
}

/// By key.
func coding() throws {
  let account = Savings()
  try account.setValue(3, forKey: "balance")
  try account.setValue("high", forKey: "level")
  try account.setValue("secret", forKey: "pin")
  try account.setValuesForKeys(["owner": "Bob", "note": "some"])
  for key in ["balance", "level", "pin", "owner", "note", "rate"] {
    print(key, try account.value(forKey: key) ?? "nil")
  }
  for key in ["nothing", "balance", "revision"] {
    do {
      try account.setValue([key], forKey: key)
    } catch {
      print(error)
    }
  }
  let pair = Labelled(1, "one")
  try pair.setValue(7, forKey: "value")
  try pair.setValue("seven", forKey: "second")
  print(pair.value, try pair.value(forKey: "second") ?? "nil", try pair.value(forKey: "third")!)
}

/// Observing by string.
func contexts() throws {
  let account = Savings()
  let watcher = Watcher()
  try watcher.watch(account)
  account.balance = 4
  account.owner = "Eve"
  account.owner = nil
  print(account.observationInfo.registrations.map(\.keyPath))
  try watcher.unwatch(account)
  account.balance = 5
  do {
    try watcher.unwatch(account)
  } catch {
    print(error)
  }
}

/// Observers and objects that die.
func lifetimes() {
  let account = Account()
  var token: KeyValueObservation?
  do {
    let short = Account()
    token = short.observe(\.balance) { show("short", $1) }
    short.balance = 1
    let watcher = Watcher()
    try? watcher.watch(account)
  }
  account.balance = 1
  print("valid: \(token?.isValid ?? true), observed: \(account.isObserved(forKey: "balance"))")
}

/// A set releases an object whose deinit sets the same property: of an unobserved object, of one with another observed
/// property, and of one where this property is observed. Without optimisation, Swift's exclusivity check stops such a
/// program, as for plain properties.
func releasing() {
  #if !DEBUG
    let slot = Slot()
    let registrations = [
      { nil }, { slot.observe(\.label) { _, _ in } }, { slot.observe(\.content) { _, _ in } },
    ]
    for register: () -> KeyValueObservation? in registrations {
      let token = register()
      slot.content = Farewell { slot.content = slot }
      slot.content = nil
      if slot.content !== slot { print("what a deinit sets is lost") }
      slot.content = nil
      token?.invalidate()
    }
  #endif
}

/// On the actor of its superclass, which is in another module.
@KVO final class Display: Screen {
  var depth = 1 { didSet { if depth < 0 { depth = 0 } } }
  override var title: String { didSet { show(depth: depth) } }
  private func show(depth: Int) { print("\(heading) \(depth)") }
}

/// Some of its members are on an actor, as in its superclass.
@KVO final class Sheet: Panel {
  var area: Int { width * height }
  private var height = 2
}

/// Classes of the main actor.
@MainActor
func isolation() throws {
  let (display, sheet) = (Display(), Sheet())
  try display.setValue(-1, forKey: "depth")
  try display.setValue("", forKey: "title")
  let area = try sheet.observe(keyPath: "area", options: [.new]) { show("area", $1) }
  try sheet.setValue(3, forKey: "width")
  try sheet.setValue("", forKey: "title")
  print(
    try sheet.value(forKey: "heading") ?? "none", Display.key(of: \.heading), Plain.key(of: \.kept))
  area.invalidate()
  let model = ViewModel()
  let token = model.observe(\.title, options: [.old, .new]) { show("title", $1) }
  model.title = "Accounts"
  token.invalidate()
}

/// Stops, with or without symbols.
func names() { print(Plain.key(of: \.computed)) }
