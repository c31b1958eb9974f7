// The macro for whole classes (Q1 to Q5). It is implemented by the program in Sources/KVOMacros, which the
// compiler runs; this file has the declarations that source code uses.

/// Makes every stored `var` of a class observable, and every property accessible by its name, with its getter
/// and setter.
///
/// ```swift
/// @KVO final class Account: KVOObject {
///   var balance = 0.0 { didSet { balance >= 0 ? () : warn() } }
///   weak var owner: Person?
///   var total: Double { balance * rate }
/// }
/// ```
///
/// Stored properties become `@Observed` and cost as much. Weak and unowned properties, and those with
/// `willSet` or `didSet`, get accessors that notify observers; `willSet` and `didSet` run inside the change.
///
/// All properties are declared as if by `declareKeys`. So key-value coding calls their setters, with `didSet`
/// and overrides of subclasses, and key paths through them are observed exactly. A declaration of the same
/// key in `registerKeys` takes precedence.
///
/// Methods that Apple's runtime would find by their names are declared as well:
/// `keyPathsForValuesAffecting<Key>()`, `automaticallyNotifiesObserversOf<Key>()`, and `validate<Key>(_
/// value: inout …)`. So are the accessors of the elements of a key that is not a stored property
/// (`insertObject(_:in<Key>At:)` …).
///
/// ``KVOIgnored()`` excludes a property. Constants, lazy properties, and properties with another wrapper are
/// not observed. A declaration that the macro can't handle gets a diagnostic.
///
/// A class may be isolated to a global actor such as `@MainActor`, by its own attribute, its superclass's, or
/// its module's default. Key-value coding then calls getters and setters on the calling thread, so use it on
/// the actor.
@attached(memberAttribute)
@attached(
  member, names: named(_registerProperties), prefixed(_declareProperties), named(CodingKeys),
  named(encode(to:)), named(init(from:)), named(init()),
  prefixed(_kvo_declareCodableInClass_))
public macro KVO() = #externalMacro(module: "KVOMacros", type: "KVOMacro")

/// Excludes a property from ``KVO()``: it is neither observed nor declared as a key by the macro.
@attached(peer)
public macro KVOIgnored() = #externalMacro(module: "KVOMacros", type: "KVOIgnoredMacro")

/// Silences the warning that the setter of a computed property of a ``KVO()`` class changes nothing
/// observable. Use it if the setter changes something that is observed elsewhere.
@attached(peer)
public macro KVOTracked() = #externalMacro(module: "KVOMacros", type: "KVOTrackedMacro")

/// Adds observing accessors and separate storage to a property that can't have a wrapper: a weak or unowned
/// one, or one with `willSet` or `didSet`. ``KVO()`` attaches this macro where it is needed.
@attached(accessor, names: named(init), named(get), named(set), named(_modify))
@attached(
  peer, names: prefixed(_), prefixed(_kvo_), prefixed(_kvo_willSet_), prefixed(_kvo_didSet_))
public macro KVOAccessed() = #externalMacro(module: "KVOMacros", type: "AccessedMacro")
