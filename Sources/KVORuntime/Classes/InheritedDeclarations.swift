/// Declarations that a superclass's code makes for a subclass (Q2, Q4).
///
/// `_registerProperties` and `registerKeys` run for each class, also as far as a class inherits them. For a subclass,
/// inherited code usually declares what it has declared for the superclass. That is dropped, since it would take
/// precedence over the declarations of classes between the two, and over later ones. But the code may call a method that
/// the subclass overrides, such as `automaticallyNotifiesObserversOf<Key>`. Then its answer differs, and is the
/// subclass's.
extension KVOClass {
  /// The answers that code has given about the keys of one class.
  struct Answers {
    fileprivate(set) var automatic: [String: Bool] = [:]
    fileprivate(set) var dependencies: [String: Set<String>] = [:]
  }

  /// A method that declares the class's keys, while it runs.
  struct DeclaringMethod {
    /// Whether it is `registerKeys`, whose dependencies add up. Of the macro's answers about a key the last one counts,
    /// which is that of the lowest class.
    let isByHand: Bool
    fileprivate var answers = Answers()
    /// The declarations that superclasses' code has made for the class.
    fileprivate var inherited = KeyDeclarations<KVOObject>()

    init(isByHand: Bool) { self.isByHand = isByHand }

    fileprivate mutating func note<Root>(_ declared: KeyDeclarations<Root>) {
      answers.automatic.add(declared.automatic) { $1 }
      answers.dependencies.add(declared.dependencies) { isByHand ? $0.union($1) : $1 }
    }
  }

  /// Declares the class's keys by one of its methods. The caller holds `lock`, and so do the other functions' callers.
  func declareKeys(byHand isByHand: Bool, _ method: () -> Void) {
    preparation.declaring = DeclaringMethod(isByHand: isByHand)
    method()
    guard let done = preparation.declaring else { return }
    preparation.declaring = nil
    if isByHand {
      preparation.answersByHand = done.answers
    } else {
      preparation.answersByMacro = done.answers
    }
    let own = declarationsOfItsOwn(done)
    if !own.isEmpty { add(inherited: own, byHand: isByHand) }
  }

  /// Takes what the code of `declarer` declares while a method of this class runs. Returns true if it is inherited code,
  /// whose declarations are considered when the method has returned.
  ///
  /// By `Self.declareKeys`, inherited code names this class as its own.
  func take<Root>(_ declared: KeyDeclarations<Root>, by declarer: KVOClass) -> Bool {
    guard let running = preparation.declaring else { return false }
    preparation.declaring?.note(declared)
    guard declarer !== self || running.isByHand && !MethodOverride.registers(type) else {
      return false
    }
    preparation.declaring?.inherited.merge(declared)
    return true
  }

  // Closures can't be compared: a key that the superclass has keeps its accessors.
  private func declarationsOfItsOwn(_ done: DeclaringMethod) -> KeyDeclarations<KVOObject> {
    var own = KeyDeclarations<KVOObject>()
    guard !done.inherited.isEmpty, let superclass else { return own }
    let inherited = done.inherited
    let declared = preparation.declared
    let earlier =
      done.isByHand ? superclass.preparation.answersByHand : superclass.preparation.answersByMacro
    own.automatic = inherited.automatic.filter {
      earlier.automatic[$0.key] != $0.value && declared.automatic[$0.key] == nil
    }
    own.dependencies = done.answers.dependencies.filter {
      inherited.dependencies[$0.key] != nil && earlier.dependencies[$0.key] != $0.value
    }
    guard done.isByHand else { return own }
    own.accessors = inherited.accessors.filter { lacks($0.key, \.accessors) }
    own.toMany = inherited.toMany.filter { lacks($0.key, \.toMany) }
    own.validators = inherited.validators.filter { lacks($0.key, \.validators) }
    return own
  }

  private func lacks<Value>(
    _ key: String, _ table: KeyPath<KeyDeclarations<KVOObject>, [String: Value]>
  ) -> Bool {
    key.mayBeKey
      && !sequence(first: self, next: \.superclass).contains {
        $0.preparation.declared[keyPath: table][key] != nil
      }
  }
}

extension KeyDeclarations {
  fileprivate var isEmpty: Bool {
    accessors.isEmpty && automatic.isEmpty && toMany.isEmpty && dependencies.isEmpty
      && validators.isEmpty
  }
}
