/// The notifications of observers, in order. Stored as numbers, because millions are compared, and read as text.
package struct GraphLog: Sendable {
  /// One call of an observer.
  package struct Call: Sendable {
    /// A callback's number, or -1 minus the number of the observer object.
    package var caller: Int
    package var context = 0
    package var root: Int
    /// As text.
    package var path: String
    package var isPrior = false
    package var kind = ChangeKind.setting
    package var indexes: [Int]?
    package var old: GraphValue?
    package var new: GraphValue?

    package init(caller: Int, context: Int, root: Int, path: String) {
      self.caller = caller
      self.context = context
      self.root = root
      self.path = path
    }
  }

  /// The result of a call of the interface, if it is not a success.
  package enum Refusal: Int, Sendable {
    case undefinedKey = 1
    case invalidKeyPath, notRegistered, outOfBounds, other
  }

  private static let callMark = -1, refusalMark = -2, trouble = -3

  package private(set) var words: [Int] = []
  /// The number of calls.
  package private(set) var calls = 0
  /// The texts of observer objects' paths and of unnumbered things, by number.
  private var texts: [String] = []

  package init() {}

  package mutating func add(_ call: Call) {
    calls += 1
    words.append(Self.callMark)
    words.append(call.caller)
    if call.caller < 0 {
      words.append(call.context)
      words.append(call.root)
      words.append(number(of: call.path))
    }
    words.append((call.isPrior ? 1 : 0) + 2 * call.kind.rawValue)
    add(call.indexes)
    add(call.old)
    add(call.new)
  }

  package mutating func add(_ refusal: Refusal) {
    words.append(Self.refusalMark)
    words.append(refusal.rawValue)
  }

  /// A violation of the rules.
  package mutating func addTrouble(_ text: String) {
    words.append(Self.trouble)
    words.append(number(of: text))
  }

  private mutating func number(of text: String) -> Int {
    if let known = texts.firstIndex(of: text) { return known }
    texts.append(text)
    return texts.count - 1
  }

  private mutating func add(_ indexes: [Int]?) {
    guard let indexes else { return words.append(-1) }
    words.append(indexes.count)
    words.append(contentsOf: indexes)
  }

  private mutating func add(_ value: GraphValue?) {
    switch value {
    case nil: words.append(0)
    case .nil?: words.append(1)
    case .number(let number)?:
      words.append(2)
      words.append(Int(bitPattern: UInt(number.bitPattern)))
    case .object(let object)?:
      words.append(3)
      words.append(object)
    case .list(let elements)?:
      words.append(4)
      add(elements)
    case .set(let elements)?:
      words.append(5)
      add(elements)
    }
  }

  // MARK: As text

  /// The lines from an index in `words` on.
  package func lines(from start: Int = 0, callbacks: [String], objects: [String]) -> [String] {
    var reader = Reader(
      words: words, at: start, texts: texts, callbacks: callbacks, objects: objects)
    return reader.lines()
  }

  private struct Reader {
    let words: [Int]
    var at: Int
    let texts: [String]
    let callbacks: [String]
    let objects: [String]

    private mutating func next() -> Int {
      at += 1
      return words[at - 1]
    }

    mutating func lines() -> [String] {
      var lines: [String] = []
      while at < words.count { lines.append(line()) }
      return lines
    }

    private mutating func line() -> String {
      switch next() {
      case GraphLog.callMark: call()
      case GraphLog.refusalMark: "\(Refusal(rawValue: next())!)"
      default: texts[next()]
      }
    }

    private mutating func call() -> String {
      var line = caller()
      let form = next()
      if form % 2 == 1 { line.append("prior") }
      let kind = ChangeKind(rawValue: form / 2)!
      if kind != .setting { line.append("\(kind)") }
      if let indexes = numbers() { line.append(indexes.map(String.init).joined(separator: ",")) }
      if let old = value() { line += ["old", old] }
      if let new = value() { line += ["new", new] }
      return line.joined(separator: " ")
    }

    private mutating func caller() -> [String] {
      let caller = next()
      guard caller < 0 else { return [callbacks[caller]] }
      let context = next()
      let root = objects[next()]
      return [
        "\(objects[-1 - caller])\(context == 0 ? "" : "#\(context)")", "\(root).\(texts[next()])",
      ]
    }

    private mutating func numbers() -> [Int]? {
      let count = next()
      return count < 0 ? nil : (0..<count).map { _ in next() }
    }

    private mutating func value() -> String? {
      switch next() {
      case 0: return nil
      case 1: return "nil"
      case 2: return shown(Double(bitPattern: UInt64(UInt(bitPattern: next()))))
      case 3: return objects[next()]
      case 4: return "[\(elements())]"
      default: return "{\(elements())}"
      }
    }

    private mutating func elements() -> String {
      numbers()!.map { objects[$0] }.joined(separator: " ")
    }

    private func shown(_ number: Double) -> String {
      Double(Int(number)) == number ? "\(Int(number))" : "\(number)"
    }
  }
}
