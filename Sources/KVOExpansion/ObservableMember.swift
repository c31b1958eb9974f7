internal import SwiftSource

/// Which attribute `@KVO` gives to a member of its class (Q1, Q2): what is stored and may change is observed.

struct ObservableMember {
  enum Form: Equatable {
    /// `@Observed`.
    case observed
    /// `weak`, `unowned`, or with `willSet` or `didSet`: `@KVOAccessed`.
    case accessed
    /// Known by its key alone: computed, lazy, or what a wrapper can't be put on.
    case known
    /// No key of this macro's: constants, what belongs to the type, what is marked.
    case none
  }

  /// Attributes that are no wrappers and change nothing of where the property is stored.
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
    // By the module's name: the class, or its module, may have a type of the name itself.
    case .observed: return Expansion(source: "@KVORuntime.Observed")
    case .accessed: return Expansion(source: "@KVORuntime.KVOAccessed")
    case .known, .none: return Expansion()
    }
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
    return member.isReference || binding.accessors != nil ? .accessed : .observed
  }

  /// Whether the class's macro declares it under its name. A property with another wrapper has its value by its getter: the
  /// storage is the wrapper.
  static func hasKey(_ member: Member) -> Bool {
    if form(of: member) != .none { return true }
    guard case .variable(let isVariable, let bindings) = member.kind, isVariable, !member.isOfType,
      bindings.count == 1, !bindings[0].isComputed
    else { return false }
    return wrapper(of: member) != nil
  }

  /// Whether the macro puts an attribute before it.
  static func isMarked(_ member: Member) -> Bool {
    let form = form(of: member)
    return form == .observed || form == .accessed
  }

  /// Why a stored variable, beside which no wrapper stands, can be given neither `@Observed` nor accessors.
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

  /// The attribute that may be a wrapper or another macro, beside which `@Observed` can't stand.
  static func wrapper(of member: Member) -> Attribute? {
    member.attributes.first { attribute in
      attribute.name.first?.isUppercase == true && !attribute.name.hasSuffix("Actor")
        && !harmless.contains(attribute.nameInLibrary)
        && !["Observed", "KVOAccessed", "KVOIgnored"].contains(attribute.nameInLibrary)
    }
  }

  /// Whether its getter neither waits nor throws: a key path reads no other.
  static func isReadAtOnce(_ binding: Binding) -> Bool {
    guard binding.isComputed else { return true }
    let getter = binding.accessors?.block("get", "_read", "read", "unsafeAddress")
    return getter?.effects.isEmpty ?? false
  }
}

extension Attribute {
  /// Without the name of this library's module.
  fileprivate var nameInLibrary: String {
    let module = "KVORuntime."
    return name.hasPrefix(module) ? String(name.dropFirst(module.count)) : name
  }
}

extension Member {
  func has(_ attribute: String) -> Bool {
    attributes.contains { $0.nameInLibrary == attribute }
  }

  /// The actor that an attribute of its own names.
  var actor: String? { attributes.first { $0.name.hasSuffix("Actor") }?.name }

  var isOverride: Bool { modifiers.contains("override") }

  var isReference: Bool {
    modifiers.contains { $0 == "weak" || $0.hasPrefix("unowned") }
  }
}
