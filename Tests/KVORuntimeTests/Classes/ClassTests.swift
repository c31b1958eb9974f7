import Expectations
import KVORuntime
import ModelFixtures
import Testing

/// A1 and A6: properties of every kind of class: inherited, generic, final, private, isolated.
@Suite(.leakFree) struct ClassTests {
  @Test("A1: a subclass's objects are observed under inherited keys and its own")
  func inherited() {
    let object = SavingsAccount()
    let log = Recorder()
    log.observe(object, \.balance, .new, as: "balance")
    log.observe(object, \.floor, .new, as: "floor")
    object.balance = 1
    object.floor = 2
    (object as Account).balance += 2
    expectEqual(log.take(), ["balance new 1.0", "floor new 2.0", "balance new 3.0"])
  }

  @Test(
    "A1: a superclass's key path observes a subclass's object, and the handler gets that object")
  func superclassKeyPath() {
    let object: Account = SavingsAccount()
    let log = Recorder()
    log.observe(object, \Account.balance, .new) {
      log.note("\(type(of: $0)) \($0 === object)")
      _ = $1
    }
    object.balance = 1
    expectEqual(log.take(), ["a new 1.0", "SavingsAccount true"])
  }

  @Test("A1: a final class of another module is observed like others")
  func final() {
    let object = SealedAccount()
    let log = Recorder()
    log.observe(object, \.seal, [.old, .new], as: "seal")
    log.observe(object, \.balance, [.old, .new], as: "balance")
    object.seal += "!"
    object.balance = 1
    expectEqual(log.take(), ["seal old wax new wax!", "balance old 0.0 new 1.0"])
  }

  @Test("A1: a property whose setter is private is observed from outside")
  func privateSetter() {
    let object = Account()
    let log = Recorder()
    log.observe(object, \.number, [.old, .new])
    object.renumber(to: 7)
    expectEqual(log.take(), ["a old 0 new 7"])
  }

  @Test("A1: a private property is observed where code can name it")
  func privateProperty() {
    let object = Secretive()
    let log = Recorder()
    object.watch(with: log)
    object.whisper("psst")
    expectEqual(log.take(), ["a old  new psst"])
  }

  @Test("A1: the specialisations of a generic class have keys of their own types")
  func generic() {
    let number = Box(1)
    let text = Box("a")
    let list = Box<[Int]?>(nil)
    let log = Recorder()
    log.observe(number, \.value, [.old, .new], as: "number")
    log.observe(text, \.value, [.old, .new], as: "text")
    log.observe(text, \.label, [.old, .new], as: "label")
    log.observe(list, \.value, [.old, .new], as: "list")
    number.value += 1
    text.value.append("b")
    text.label = "b"
    list.value = [1]
    list.value?.append(2)
    expectEqual(
      log.take(),
      [
        "number old 1 new 2", "text old a new ab", "label old box new b", "list old nil new [1]",
        "list old [1] new [1, 2]",
      ])
  }

  @Test("A1: subclasses of generic classes are observed under all their keys")
  func genericSubclasses() {
    let number = NumberBox(1)
    let pair = PairBox("a", 2.5)
    let log = Recorder()
    log.observe(number, \.value, .new, as: "number.value")
    log.observe(number, \.limit, .new, as: "number.limit")
    log.observe(pair, \.value, .new, as: "pair.value")
    log.observe(pair, \.second, .new, as: "pair.second")
    number.value = 2
    number.limit = 3
    pair.value = "b"
    pair.second = 4
    expectEqual(
      log.take(),
      [
        "number.value new 2", "number.limit new 3", "pair.value new b", "pair.second new 4.0",
      ])
  }

  @Test("A1: a class of the main actor is observed on it")
  @MainActor func mainActor() {
    let model = ViewModel()
    let log = Recorder()
    log.observe(model, \.title, [.old, .new], as: "title")
    let token = model.observe(\.rows, options: .new) { model, change in
      log.note("\(model.rows.count) rows")
    }
    model.title = "one"
    model.title += "!"
    model.rows.append("row")
    token.invalidate()
    expectEqual(log.take(), ["title old  new one", "title old one new one!", "1 rows"])
  }

  @Test("A1: a class of the main actor may be observed by one of its own methods")
  @MainActor func mainActorTarget() {
    let model = ViewModel()
    let screen = Screen()
    let token = model.observe(\.title, options: .new, target: screen, action: Screen.titleChanged)
    model.title = "shown"
    token.invalidate()
    expectEqual(screen.shown, ["shown"])
  }

  @Test(
    "A6: an initialiser's sets notify no observer, before and after super.init")
  func initialisers() {
    let object = Prepared(5)
    let log = Recorder()
    expect(object.first == 5 && object.second == 10)
    log.observe(object, \.first, [.old, .new])
    object.first = 6
    expectEqual(log.take(), ["a old 5 new 6"])
  }

  @Test("A6: observing one key leaves the other properties unchanged")
  func otherProperties() {
    let ledger = Ledger()
    let log = Recorder()
    log.observe(ledger, \.total)
    ledger.total = 1
    expectEqual(ledger.entries, [1, 2])
    expect(ledger.pair == (1, "a"))
    expectEqual(ledger.lastPlace, Place(latitude: 3, longitude: 4))
    ledger.entries.append(3)
    expectEqual(ledger.entries, [1, 2, 3])
    expectEqual(log.take(), ["a"])
  }

  @Test("A6: objects are equal and hash by identity unless the class says otherwise")
  func identity() {
    let first = Account()
    let second = Account()
    let log = Recorder()
    expect(first == first && first != second)
    log.observe(first, \.balance)
    let set: Set<KVOObject> = [first, second, first]
    expect(set.count == 2 && set.contains(first))
    expect(Named("a") == Named("a") && Named("a") != Named("b"))
    expectEqual(Set([Named("a"), Named("a"), Named("b")]).count, 2)
  }
}

private final class Secretive: Tracked {
  @Observed private var secret = ""

  func watch(with log: Recorder) { log.observe(self, \.secret, [.old, .new]) }
  func whisper(_ word: String) { secret = word }
}

private final class Prepared: Tracked {
  @Observed var first: Int
  @Observed var second = 0

  init(_ first: Int) {
    self.first = first
    super.init()
    second = first * 2
  }
}

/// Equal by name.
private final class Named: KVOObject {
  let name: String
  init(_ name: String) { self.name = name }
  override func isEqual(_ other: KVOObject) -> Bool { (other as? Named)?.name == name }
  override func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

@MainActor private final class Screen {
  var shown: [String] = []
  func titleChanged(_ change: KeyValueObservedChange<String>) { shown.append(change.newValue!) }
}
