// The macro for whole classes (Q1 to Q5). What it makes of a source is made by the program in Sources/KVOMacros, which
// the compiler starts; here is what sources name.

/// Makes every stored `var` of a class observable, and every property known by its name, with its getter and setter.
///
/// ```swift
/// @KVO final class Account: KVOObject {
///   var balance = 0.0 { didSet { balance >= 0 ? () : warn() } }
///   weak var owner: Person?
///   var total: Double { balance * rate }
/// }
/// ```
///
/// Stored properties are `@Observed`, and cost what these cost. Weak and unowned properties and those with `willSet` or `didSet` have
/// generated accessors that notify of changes, and `willSet` and `didSet` run inside the change. All are declared as if by `declareKeys`, so that key-value coding calls their setters,
/// with `didSet` and what a subclass has made of them, and paths over them are told exactly. What `registerKeys` declares
/// of the same key wins.
///
/// Methods that Apple's runtime would find by their names are declared as well: `keyPathsForValuesAffecting<Key>()`,
/// `automaticallyNotifiesObserversOf<Key>()`, `validate<Key>(_ value: inout …)`, and the accessors of the elements of a key that
/// is no stored property (`insertObject(_:in<Key>At:)` …).
///
/// ``KVOIgnored()`` leaves a property out. Constants, lazy properties, and those that have another wrapper are not observed.
/// What can't be done is said at its line.
///
/// In a class of an actor (`@MainActor`), by its own word, its superclass's or its module's, key-value coding calls getters and
/// setters on the thread that asks: ask on the actor.
@attached(memberAttribute)
@attached(
  member, names: named(_registerProperties), prefixed(_declareProperties), named(CodingKeys),
  named(encode(to:)), named(init(from:)), named(init()))
public macro KVO() = #externalMacro(module: "KVOMacros", type: "KVOMacro")

/// Leaves a property out of what ``KVO()`` does to its class.
@attached(peer)
public macro KVOIgnored() = #externalMacro(module: "KVOMacros", type: "KVOIgnoredMacro")

/// Says of a computed property of a ``KVO()`` class that what its setter changes is observed itself, so that ``KVO()`` has
/// nothing to warn of.
@attached(peer)
public macro KVOTracked() = #externalMacro(module: "KVOMacros", type: "KVOTrackedMacro")

/// What ``KVO()`` gives to a property that takes no wrapper, a weak or unowned one or one with observers: accessors that notify
/// of reads and changes, and storage beside it, which has the observers.
@attached(accessor, names: named(init), named(get), named(set), named(_modify))
@attached(peer, names: prefixed(_kvo_), prefixed(_kvo_willSet_), prefixed(_kvo_didSet_))
public macro KVOAccessed() = #externalMacro(module: "KVOMacros", type: "AccessedMacro")
