internal import CKVORuntime

// An object's registrations as values and as text, as the C core lists them (`dump.c`, J1). On Apple's
// platforms this is an optional, so comparisons with nil are supported.

/// The registrations with an object at the moment of the request.
public struct ObservationInfo {
  /// One registration with an object.
  public struct Registration {
    /// The key path as it was registered. For a typed one that has no name, a key of its own, which begins with a backslash.
    public fileprivate(set) var keyPath: String
    /// The text of a typed key path that has no name.
    fileprivate var keyInSource: String?
    /// A description of the observer: `<Class: address>`, or a text that represents a handler.
    public let observer: String
    /// The options of the registration.
    public let options: KeyValueObservingOptions
    /// The context of the registration; nil for a handler's.
    public let context: UnsafeRawPointer?
  }

  /// The registrations, grouped by key path, in the order in which they were made for each.
  public private(set) var registrations: [Registration]
  private let dump: String
}

extension ObservationInfo {
  /// Collects the registrations of an object. Hidden properties have the names that their classes give them (Q2).
  /// - Complexity: O(*n*) in the number of registrations.
  init(of object: KVOObject) {
    self.init(of: UnsafePointer(object.boundHeader))
    let known = KVOClass.of(object)
    for index in registrations.indices {
      let first = registrations[index].keyPath.prefix { $0 != "." }
      let key = known.declarers(of: String(first)).key
      registrations[index].keyPath.replaceSubrange(first.startIndex..<first.endIndex, with: key)
      registrations[index].keyInSource = known.keyInSource(key)
    }
  }

  /// Collects the registrations of an object.
  /// - Complexity: O(*n*) in the number of registrations.
  init(of object: UnsafePointer<kvo_object>) {
    var registrations: [Registration] = []
    withUnsafeMutablePointer(to: &registrations) {
      _ = kvo_visit_registrations(object, ObservationInfo.collect, $0)
    }
    self.registrations = registrations
    self.dump = ObservationInfo.dump(of: object)
  }

  private static let collect:
    @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<kvo_registration_info>) -> Void = {
      let list = $0?.assumingMemoryBound(to: [Registration].self)
      list?.pointee.append(Registration($1.pointee))
    }

  private static func dump(of object: UnsafePointer<kvo_object>) -> String {
    kvo_copy_debug_dump(object).map { String(taking: $0) } ?? ""
  }
}

extension ObservationInfo.Registration {
  init(_ info: kvo_registration_info) {
    keyPath = String(cString: info.key_path)
    observer = String(cString: info.observer)
    options = KeyValueObservingOptions(rawValue: UInt(info.options.rawValue))
    // The context of a callback is its owner's; for a handler it would be the handler's address.
    context = info.is_callback ? nil : info.context
  }
}

extension ObservationInfo: CustomStringConvertible, CustomDebugStringConvertible {
  /// The registrations as text, with a line for each.
  public var description: String {
    registrations.isEmpty
      ? "no registrations" : registrations.map(\.description).joined(separator: "\n")
  }

  /// The C runtime's dump of the object: its registrations, those that it made as an observer, and manual
  /// changes that were left open.
  public var debugDescription: String { dump }
}

extension ObservationInfo.Registration: CustomStringConvertible {
  /// The registration as one line: key path, observer, options and context.
  public var description: String {
    let contextText = context.map { ", context \($0)" } ?? ""
    let subject = keyInSource ?? "\"\(keyPath)\""
    return "\(subject) by \(observer), options [\(options.names)]\(contextText)"
  }
}

extension KeyValueObservingOptions {
  fileprivate var names: String {
    let all: [(KeyValueObservingOptions, String)] = [
      (.new, "new"), (.old, "old"), (.initial, "initial"), (.prior, "prior"),
      (.distinct, "distinct"),
    ]
    return all.filter { contains($0.0) }.map(\.1).joined(separator: ", ")
  }
}

// MARK: Comparison with nil

// The class's own property always has a value. If the context wants an optional (`if let`, `?.`), the
// compiler chooses the property of an extension below. A variable without a written type (`let info =
// account.observationInfo`) holds the value, which is not an optional; these operators make `== nil` valid
// for it, too.
extension ObservationInfo {
  /// Returns whether there was no registration at the time of the request, in which case `observationInfo` is
  /// nil on Apple's platforms.
  public static func == (info: ObservationInfo, none: _OptionalNilComparisonType) -> Bool {
    info.registrations.isEmpty
  }

  /// Returns whether there was a registration at the time of the request.
  public static func != (info: ObservationInfo, none: _OptionalNilComparisonType) -> Bool {
    !info.registrations.isEmpty
  }

  /// Returns whether there was no registration at the time of the request; equals `info == nil`.
  public static func == (none: _OptionalNilComparisonType, info: ObservationInfo) -> Bool {
    info.registrations.isEmpty
  }

  /// Returns whether there was a registration at the time of the request; equals `info != nil`.
  public static func != (none: _OptionalNilComparisonType, info: ObservationInfo) -> Bool {
    !info.registrations.isEmpty
  }
}

extension KeyValueObserving where Self: KVOObject {
  /// The registrations with this object, or nil if there are none. May be used on any thread.
  ///
  /// - Complexity: O(*n*) in the number of registrations.
  public var observationInfo: ObservationInfo? { (observationInfo as ObservationInfo).unlessEmpty }
}

extension KeyValueObserving where Self: ForeignObject {
  /// The registrations with this object of the C runtime, or nil if there are none. May be used on any
  /// thread.
  ///
  /// - Complexity: O(*n*) in the number of registrations.
  public var observationInfo: ObservationInfo? { (observationInfo as ObservationInfo).unlessEmpty }
}

extension ObservationInfo {
  fileprivate var unlessEmpty: ObservationInfo? { registrations.isEmpty ? nil : self }
}
