internal import CKVORuntime

// Keys that a class does not have: which of its keys is probably meant, and where a program names one without
// an error, a hint. Nothing here is called but for a message.

extension KVOClass {
  /// A sentence that names the key that is probably meant, of a class of that name; nil where none is near.
  static func suggestion(for key: String, inClassNamed name: String) -> String? {
    used(named: name).lazy.compactMap { $0.suggestion(for: key) }.first
  }

  /// The same of this class.
  func suggestion(for key: String) -> String? {
    NearKey(key, among: keys)?.question
  }

  /// All keys, but for stored properties whose names begin with an underscore.
  var keys: Set<String> {
    var keys = Set(fields.filter { !$0.name.hasPrefix("_") || $0.isObserved }.map(\.key))
    KVOClass.lock.withLock {
      for known in sequence(first: self, next: \.superclass) {
        keys.formUnion(known.preparation.declared.accessors.keys)
        keys.formUnion(known.preparation.declared.toMany.keys)
      }
    }
    return keys
  }
}

/// The key that is nearest to a name: two letters exchanged, one left out, added or another, or two such faults
/// in six letters and more; or the same but for capitals.
struct NearKey {
  let key: String

  var question: String { "Did you mean \(quoted(key))?" }

  private static let longest = 64

  init?(_ name: String, among keys: Set<String>) {
    let letters = Array(name.lowercased())
    guard letters.count <= Self.longest else { return nil }
    let most = letters.count < 3 ? 0 : letters.count < 6 ? 1 : 2
    let found = keys.lazy.filter { $0 != name && abs($0.count - letters.count) <= most }
      .map { (faults: Self.faults(in: letters, for: Array($0.lowercased())), key: $0) }
      .filter { $0.faults <= most }
      .min { $0 < $1 }
    guard let found else { return nil }
    key = found.key
  }

  // How many of those faults make one word of the other: row by row of the table of their beginnings.
  private static func faults(in word: [Character], for other: [Character]) -> Int {
    var (earlier, last) = ([Int](), Array(0...other.count))
    for i in word.indices {
      var row = [i + 1]
      for j in other.indices {
        var least = min(last[j] + (word[i] == other[j] ? 0 : 1), last[j + 1] + 1, row[j] + 1)
        if i > 0, j > 0, word[i] == other[j - 1], word[i - 1] == other[j] {
          least = min(least, earlier[j - 1] + 1)
        }
        row.append(least)
      }
      (earlier, last) = (last, row)
    }
    return last[other.count]
  }
}

// MARK: Hints

extension KVOObject {
  /// Tells of a change by hand of a key that the object does not have: no observer is told of it.
  @inline(__always)
  func hintAtUnknownKey(_ key: String) {
    if kvo_binding_is_observed(header), Hint.areWanted { lookForKey(key) }
  }

  @inline(never)
  private func lookForKey(_ key: String) {
    let known = KVOClass.of(self)
    // A key path's own key is no name.
    guard !known.lacksFields, !known.answers(key), !key.hasPrefix("\\"), key != "self",
      !isObserved(forKey: key), (try? value(forUndefinedKey: key)) == nil
    else { return }
    Hint.tell(
      "A change of \(quoted(key)) of \(known.name) is announced by hand, and tells nobody: "
        + known.lack(of: key))
  }
}

extension KVOClass {
  /// Tells of declarations of the class's for keys that it does not have.
  func hintAtUnknownKeys<Root>(of declared: KeyDeclarations<Root>) {
    guard Hint.areWanted, !lacksFields, !MethodOverride.answers(type) else { return }
    hint(at: declared.automatic.keys, declared: "automaticallyNotifies")
    hint(at: declared.validators.keys, declared: "a validator")
    hint(at: declared.dependencies.keys, declared: "a dependency")
    for (key, keyPaths) in declared.dependencies.sorted(by: { $0.key < $1.key }) {
      for first in Set(keyPaths.map { String($0.prefix { $0 != "." }) }).sorted()
      where !first.isEmpty && !first.hasPrefix("@") && first != "self" && !answers(first) {
        Hint.tell(
          "\(name) declares that \(quoted(first)) affects \(quoted(key)): " + lack(of: first))
      }
    }
  }

  private func hint(at keys: some Sequence<String>, declared word: String) {
    for key in keys.sorted() where !answers(key) && !hasComputed(key) {
      Hint.tell("\(name) declares \(word) for \(quoted(key)): " + lack(of: key))
    }
  }

  fileprivate func answers(_ key: String) -> Bool {
    KVOClass.lock.withLock { find(key) != nil }
  }

  /// What the program's symbols tell of; it may be observed by its key path.
  private func hasComputed(_ key: String) -> Bool {
    sequence(first: self, next: \.superclass).contains {
      $0.type != KVOObject.self
        && (Field.isNamed(key, in: $0.type) || SymbolTable.properties(of: $0.type).contains(key))
    }
  }

  /// A sentence that says so, with the remedy if there is one.
  func lack(of key: String) -> String {
    let remedy = advice(on: key) ?? suggestion(for: key)
    return "\(name) has no key \(quoted(key))." + (remedy.map { " " + $0 } ?? "")
  }
}
