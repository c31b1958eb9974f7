internal import SwiftSource

/// Decides which attribute `@KVO` adds to a member of its class (Q1, Q2): stored variables are observed.

struct ObservableMember {
  enum Form: Equatable {
    /// `@Observed`.
    case observed
    /// `@KVOAccessed`: weak, unowned, or with `willSet` or `didSet`.
    case accessed
    /// Known by its key only: computed, lazy, or a property that can't have a wrapper.
    case known
    /// No key from this macro: constants, properties of the type, and ignored ones.
    case none
  }

  /// Attributes that are not wrappers and don't change where the property is stored.
  private static let harmless: Set<String> = [
    "available", "objc", "nonobjc", "MainActor", "preconcurrency", "usableFromInline",
    "discardableResult", "KVOTracked", "IBOutlet", "IBInspectable", "GKInspectable", "_spi",
    "inlinable", "inline", "_documentation", "warn_unqualified_access",
  ]

  static func attribute(of request: AttachedMacro) -> Expansion {
    var reader = DeclarationReader(request.source)
    guard var member = reader.readMember(), request.parent?.lacksSuperclass != true else {
      return Expansion()
    }
    if request.parent?.marksProperties == true { member = member.ignoredUnlessMarked() }
    switch form(of: member) {
    // Qualified, since the class or its module may have a type `Observed` or `KVOAccessed`.
    case .observed where !hasKeyName(member): return Expansion(source: "@KVORuntime.Observed")
    case .observed, .accessed: return Expansion(source: "@KVORuntime.KVOAccessed")
    case .known, .none: return Expansion()
    }
  }

  /// Whether the property's name is a key; otherwise it can have a wrapper only.
  static func hasKeyName(_ member: Member) -> Bool {
    guard case .variable(_, let bindings) = member.kind else { return false }
    return bindings.first?.name?.name.isKey ?? false
  }

  static func form(of member: Member) -> Form {
    guard case .variable(let isVariable, let bindings) = member.kind, isVariable, !member.isOfType,
      bindings.count == 1, let binding = bindings.first, binding.name != nil
    else { return .none }
    if member.has("KVOIgnored") { return .none }
    if binding.isComputed { return isReadAtOnce(binding) ? .known : .none }
    if member.has("Observed") || member.has("KVOAccessed") { return .known }
    if wrapper(of: member) != nil { return .none }
    if member.isOverride { return binding.accessors == nil ? .known : .accessed }
    guard reasonNotObserved(member) == nil else { return .known }
    return isPlain(member) ? .observed : .accessed
  }

  /// Whether the variable has neither observers nor a modifier of references, overrides none, and holds no function. A
  /// function in generic storage is wrapped once more each time it is read and set back.
  static func isPlain(_ member: Member) -> Bool {
    guard case .variable(true, let bindings) = member.kind, let binding = bindings.first else {
      return false
    }
    return !member.isReference && !member.isOverride && binding.accessors == nil
      && !(binding.holdsFunction && hasKeyName(member))
  }

  /// Whether the class's macro declares the property under its name. A property with another wrapper is read through
  /// its getter, because its storage is the wrapper.
  static func hasKey(_ member: Member) -> Bool {
    if form(of: member) != .none { return true }
    guard case .variable(let isVariable, let bindings) = member.kind, isVariable, !member.isOfType,
      bindings.count == 1, !bindings[0].isComputed
    else { return false }
    return wrapper(of: member) != nil
  }

  /// Whether the macro adds an attribute to the member.
  static func isMarked(_ member: Member) -> Bool {
    let form = form(of: member)
    return form == .observed || form == .accessed
  }

  /// Whether it is a stored variable that another wrapper stores, or that can get neither attribute.
  static func isUnobserved(_ member: Member) -> Bool {
    guard case .variable(true, let bindings) = member.kind, !bindings.contains(where: \.isComputed)
    else { return false }
    let isMarked = member.has("Observed") || member.has("KVOAccessed")
    return !isMarked && wrapper(of: member) != nil || reasonNotObserved(member) != nil
  }

  /// The reason why a stored variable without another wrapper can get neither `@Observed` nor accessors; nil if it
  /// can.
  static func reasonNotObserved(_ member: Member) -> String? {
    guard case .variable(true, let bindings) = member.kind, let binding = bindings.first,
      !member.has("Observed"), !member.has("KVOAccessed"), !member.isOverride
    else { return nil }
    if member.modifiers.contains("lazy") {
      return "it is lazy, and Swift has no lazy properties with accessors"
    }
    if member.modifiers.contains(where: { $0.hasPrefix("nonisolated") }) {
      return "it is nonisolated, which no wrapper's property can be"
    }
    let isOpaque =
      binding.type.map { LexedSource($0).tokens.contains { $0.isWord("some") } } ?? false
    return isOpaque ? "its type is opaque, which no wrapper's property can have" : nil
  }

  /// The attribute that may be a wrapper or another macro, which rules out `@Observed`.
  static func wrapper(of member: Member) -> Attribute? {
    member.attributes.first { attribute in
      attribute.name.first?.isUppercase == true && !attribute.name.hasSuffix("Actor")
        && !harmless.contains(attribute.nameInLibrary)
        && !["Observed", "KVOAccessed", "KVOIgnored"].contains(attribute.nameInLibrary)
    }
  }

  /// Whether the getter neither waits nor throws. Key paths can't read other getters.
  static func isReadAtOnce(_ binding: Binding) -> Bool {
    guard binding.isComputed else { return true }
    let getter = binding.accessors?.block("get", "_read", "read", "unsafeAddress")
    return getter?.effects.isEmpty ?? false
  }
}

extension Attribute {
  /// Whether the attribute's member can't be used, or only with some versions of Swift. Other platforms, and the
  /// abbreviations that a build defines for their versions, don't matter here.
  fileprivate var makesUnavailable: Bool {
    guard nameInLibrary == "available", let domain = arguments.first?.text else { return false }
    let words = arguments.map(\.text)
    if domain == "*" { return words.contains("unavailable") }
    guard domain == "swift" else { return false }
    return words.contains("unavailable") || words.contains("obsoleted")
      || !words.contains("deprecated")
  }

  /// The attribute's name without this library's module name.
  fileprivate var nameInLibrary: String {
    let module = "KVORuntime."
    return name.hasPrefix(module) ? String(name.dropFirst(module.count)) : name
  }
}

extension Member {
  func has(_ attribute: String) -> Bool {
    attributes.contains { $0.nameInLibrary == attribute }
  }

  /// Whether generated code can't use the member. It uses members that are deprecated.
  var isUnavailable: Bool { attributes.contains(where: \.makesUnavailable) }

  /// The actor that an attribute of the member names.
  var actor: String? { attributes.first { $0.name.hasSuffix("Actor") }?.name }

  var isOverride: Bool { modifiers.contains("override") }

  var isReference: Bool {
    modifiers.contains { $0 == "weak" || $0.hasPrefix("unowned") }
  }
}
