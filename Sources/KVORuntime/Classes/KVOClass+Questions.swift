/// Questions to the program's classes about automatic notification. The classes' code is called without
/// `KVOClass.lock`, because it may take a lock of the program's, and the thread that holds that lock may be
/// about to take this one. So a function that needs answers asks first and then takes the lock. If it lacks
/// answers there, it begins again.
extension KVOClass {
  /// Whether a key of a class notifies automatically.
  struct Question {
    let known: KVOClass
    let key: String
  }

  /// Calls a body under `lock`, once the classes have answered.
  /// - Parameter questions: Returns the questions that have no answer yet. Called under the lock.
  static func withAnswers<R>(_ questions: () -> [Question], _ body: () -> R) -> R {
    while true {
      var open: [Question] = []
      let result = lock.withLock { () -> R? in
        open = questions()
        return open.isEmpty ? .some(body()) : .none
      }
      if let result { return result }
      for question in open { question.known.ask(question.key) }
    }
  }

  /// The question that has to be answered before a key is looked up. The caller holds `lock`.
  func questions(for key: String) -> [Question] {
    guard properties.withLock({ $0[key] }) == nil, !isAnswered(key), parts(of: key) != nil else {
      return []
    }
    return [Question(known: self, key: key)]
  }

  /// The questions that have to be answered before keys are looked up again, in the class and its subclasses.
  /// The caller holds `lock`.
  /// - Parameter isNew: Whether the class is asked even if it has no such key yet.
  func questions(refreshing keys: Set<String>, isNew: Bool = false) -> [Question] {
    guard preparation.isComplete else { return [] }
    let spellings = names(keys.union(keys.flatMap(KVOClass.aliases)))
    let own = spellings.filter { !isAnswered($0) && (isNew || parts(of: $0) != nil) }
    return own.map { Question(known: self, key: $0) }
      + preparation.subclasses.flatMap { $0.questions(refreshing: keys, isNew: isNew) }
  }

  /// Whether a key notifies automatically. The caller holds `lock`, and the class has answered.
  func isAutomatic(_ key: String) -> Bool {
    (preparation.automatic[key] ?? true) && (preparation.automaticByKeyPath[key] ?? true)
  }

  private func isAnswered(_ key: String) -> Bool {
    guard let automatic = preparation.automatic[key] else { return false }
    return !automatic || preparation.automaticByKeyPath[key] != nil || customization == nil
      || keyPath(of: key) == nil
  }

  // Two threads may ask at the same time; the first answer holds. An answer that may lack another thread's
  // declaration is dropped, so that the class is asked again. This thread's own declarations do not count,
  // because a class may declare something whenever it is asked.
  private func ask(_ key: String) {
    // The classes that see a hidden property know it by its name.
    let declarers = declarers(of: key)
    let (automatic, named, declarations) = KVOClass.lock.withLock {
      (preparation.automatic[key], keyPath(of: key), preparation.declarationsOfOthers)
    }
    let answer =
      automatic ?? declarers.lowest.type.automaticallyNotifiesObservers(forKey: declarers.key)
    let byKeyPath =
      answer ? named.flatMap { customization?.automaticallyNotifiesObservers(for: $0) } : nil
    KVOClass.lock.withLock {
      guard preparation.declarationsOfOthers == declarations else { return }
      if preparation.automatic[key] == nil { preparation.automatic[key] = answer }
      if let byKeyPath, preparation.automaticByKeyPath[key] == nil {
        preparation.automaticByKeyPath[key] = byKeyPath
      }
    }
  }
}

extension KVOClass.Preparation {
  /// The number of declarations that other threads have made so far.
  fileprivate var declarationsOfOthers: Int { declarations - (declarationsByThread[.current] ?? 0) }
}
