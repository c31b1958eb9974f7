internal import CKVORuntime

// Suggestions for keys that a class does not have, and hints where a program names such a key without an
// error. They are computed only for messages.

extension KVOClass {
  /// A sentence that names the most similar key of a class of that name; nil if no key is similar.
  static func suggestion(for key: String, inClassNamed name: String) -> String? {
    used(named: name).lazy.compactMap { $0.suggestion(for: key) }.first
  }

  /// A sentence that names the most similar key of this class; nil if no key is similar.
  func suggestion(for key: String) -> String? {
    KVORuntime.suggestion(for: key, among: keys)
  }

  /// All keys, except those of plain stored properties whose names begin with an underscore.
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

/// The question that suggests the most similar of some keys in place of a name; nil if no key is similar.
func suggestion(for name: String, among keys: Set<String>) -> String? {
  keys.lazy.map { (distance: kvo_name_distance(name, $0), key: $0) }
    .filter { $0.distance != .max }
    .min { $0 < $1 }
    .map { "Did you mean \(quoted($0.key))?" }
}

// MARK: Hints

extension KVOObject {
  /// Gives a hint at a manual change of a key that the object does not have, so that no observer is notified.
  @inline(__always)
  func hintAtUnknownKey(_ key: String) {
    if Hint.areWanted { lookForKey(key) }
  }

  @inline(never)
  private func lookForKey(_ key: String) {
    let known = KVOClass.of(self)
    // The key of a tracked key path is generated, and not a name.
    guard !known.lacksFields, !(self is any DottedKeys), !known.answers(key), !key.hasPrefix("\\"),
      key != "self",
      !isObserved(forKey: key), (try? value(forUndefinedKey: key)) == nil
    else { return }
    Hint.give(
      "A manual change of \(quoted(key)) of \(known.name) notifies no observer: "
        + known.lack(of: key))
  }
}

extension KVOClass {
  /// Gives hints at the class's declarations for keys that it does not have.
  func hintAtUnknownKeys<Root>(of declared: KeyDeclarations<Root>) {
    guard Hint.areWanted, !lacksFields, !MethodOverride.answers(type) else { return }
    hint(at: declared.automatic.keys, declared: "automaticallyNotifies")
    hint(at: declared.validators.keys, declared: "a validator")
    hint(at: declared.dependencies.keys, declared: "a dependency")
    for (key, keyPaths) in declared.dependencies.sorted(by: { $0.key < $1.key }) {
      for first in Set(keyPaths.map { String($0.prefix { $0 != "." }) }).sorted()
      where !first.isEmpty && !first.hasPrefix("@") && first != "self" && !answers(first) {
        Hint.give(
          "\(name) declares that \(quoted(first)) affects \(quoted(key)): " + lack(of: first))
      }
      for keyPath in keyPaths.sorted() { hintAtKeylessLink(of: keyPath, affecting: key) }
    }
  }

  private func hint(at keys: some Sequence<String>, declared word: String) {
    for key in keys.sorted() where !answers(key) && !Field.isNamed(key, in: type) {
      Hint.give("\(name) declares \(word) for \(quoted(key)): " + lack(of: key))
    }
  }

  fileprivate func answers(_ key: String) -> Bool {
    KVOClass.withAnswers {
      questions(for: key)
    } _: {
      find(key) != nil
    }
  }

  /// A sentence that the class has no such key, with the remedy if there is one.
  func lack(of key: String) -> String {
    let remedy = advice(on: key) ?? suggestion(for: key)
    return "\(name) has no key \(quoted(key))." + (remedy.map { " " + $0 } ?? "")
  }
}
