/// Declarations that a superclass's code makes for a subclass (Q2, Q4).
///
/// `_registerProperties` and `registerKeys` run for each class, also as far as a class inherits them. For a subclass,
/// inherited code usually declares what it has declared for the superclass. That is dropped, since it would take
/// precedence over the declarations of classes between the two, and over later ones. Two kinds are the subclass's own:
///
/// - answers about automatic notification and dependencies that differ, as the code may call a method that the subclass
///   overrides, such as `automaticallyNotifiesObserversOf<Key>`;
/// - accessors and validators by `Self.declareKeys`, unless another declaration has replaced the superclass's.
extension KVOClass {
  /// The declarations that one method has made for one class: its own and inherited ones, including those that were
  /// dropped.
  typealias Answers = KeyDeclarations<KVOObject>

  /// A method that declares the keys of a class, while it runs.
  final class DeclaringMethod {
    fileprivate let known: KVOClass
    /// Whether it is `registerKeys`, whose dependencies add up. Of the macro's answers about a key the last one counts,
    /// which is that of the lowest class.
    private let isByHand: Bool
    /// The answers of the superclass's method.
    private let earlier: Answers
    fileprivate var answers = Answers()
    /// The declarations that superclasses' code has made for the class.
    private var inherited = KeyDeclarations<KVOObject>()
    /// Those of them that name the class by `Self`.
    private var bySelf = KeyDeclarations<KVOObject>()

    init(of known: KVOClass, byHand isByHand: Bool, earlier: Answers) {
      self.known = known
      self.isByHand = isByHand
      self.earlier = earlier
    }

    /// Takes a declaration. Returns true if it is inherited, and is considered when the method has returned.
    ///
    /// By `Self`, inherited code names the class as its own. If the class overrides the method, a declaration by `Self` may
    /// come from its own code or, by super, from inherited code. It counts as the class's own.
    func inherits<Root>(_ declared: KeyDeclarations<Root>, by declarer: KVOClass) -> Bool {
      answers.merge(declared)
      if !isByHand { answers.dependencies.add(declared.dependencies) { $1 } }
      if declarer === known {
        guard isByHand, !MethodOverride.registers(known.type) else { return false }
        bySelf.merge(declared)
      }
      inherited.merge(declared)
      return true
    }

    /// Those inherited declarations that are the class's own.
    var inheritedAnswers: KeyDeclarations<KVOObject> {
      var own = KeyDeclarations<KVOObject>()
      guard !inherited.isEmpty else { return own }
      own.automatic = inherited.automatic.filter {
        earlier.automatic[$0.key] != $0.value
          && known.preparation.declared.automatic[$0.key] == nil
      }
      guard isByHand else {
        own.dependencies = answers.dependencies.filter {
          inherited.dependencies[$0.key] != nil && earlier.dependencies[$0.key] != $0.value
        }
        return own
      }
      for (key, paths) in inherited.dependencies {
        let added = paths.subtracting(earlier.dependencies[key] ?? [])
        if !added.isEmpty || earlier.dependencies[key] == nil { own.dependencies[key] = added }
      }
      own.accessors = ownOnes(\.accessors, known.declaredAccessors) { $0 }
      own.toMany = ownOnes(\.toMany, known.declaredToMany) { $0.identity }
      own.validators = ownOnes(\.validators, known.validator) { $0 }
      return own
    }

    // Those for which there is no other declaration, and those by `Self` that replace the superclass's.
    private func ownOnes<Declared>(
      _ table: KeyPath<KeyDeclarations<KVOObject>, [String: Declared]>,
      _ present: (String) -> Declared?, _ identity: (Declared) -> AnyObject
    ) -> [String: Declared] {
      func id(_ declared: Declared?) -> AnyObject? { declared.map(identity) }
      return inherited[keyPath: table].filter { key, declared in
        guard key.mayBeKey, let present = present(key) else { return key.mayBeKey }
        return id(present) === id(earlier[keyPath: table][key])
          && id(declared) === id(bySelf[keyPath: table][key])
          && !known.ownFields.contains { $0.key == key }
      }
    }
  }

  // The innermost one, as a method may need other classes. Protected by `lock`.
  private nonisolated(unsafe) static var declaring: DeclaringMethod?

  /// Declares the class's keys by one of its methods. The caller holds `lock`.
  func declareKeys(byHand isByHand: Bool, _ method: () -> Void) {
    let answers = isByHand ? \Preparation.answersByHand : \Preparation.answersByMacro
    let outer = KVOClass.declaring
    let running = DeclaringMethod(
      of: self, byHand: isByHand, earlier: superclass?.preparation[keyPath: answers] ?? Answers())
    KVOClass.declaring = running
    method()
    KVOClass.declaring = outer
    preparation[keyPath: answers] = running.answers
    let own = running.inheritedAnswers
    if !own.isEmpty { add(inherited: own, byHand: isByHand) }
  }

  /// Returns true if a method of a subclass runs and inherits the declaration, which the class's code makes.
  func isInherited<Root>(_ declared: KeyDeclarations<Root>) -> Bool {
    KVOClass.lock.withLock {
      guard let running = KVOClass.declaring,
        sequence(first: running.known, next: \.superclass).contains(where: { $0 === self })
      else { return false }
      return running.inherits(declared, by: self)
    }
  }
}

extension KeyDeclarations {
  fileprivate var isEmpty: Bool {
    accessors.isEmpty && automatic.isEmpty && toMany.isEmpty && dependencies.isEmpty
      && validators.isEmpty
  }
}
