internal import CKVORuntime

// An object's registrations as values and as text, as the C core lists them (`dump.c`, J1). On Apple's platforms
// this is an optional, hence the comparisons with nil at the end.

/// Who is registered with an object: a picture of the moment it was asked for.
public struct ObservationInfo {
  /// One registration.
  public struct Registration {
    /// The key path as it was registered.
    public let keyPath: String
    /// The observer, described: `<Class: address>`, or what stands for a handler.
    public let observer: String
    /// What it asked for.
    public let options: KeyValueObservingOptions
    /// The context it was made with; a handler's registration has none.
    public let context: UnsafeRawPointer?
  }

  /// By key path, each in the order of registration.
  public let registrations: [Registration]
  private let dump: String
}

extension ObservationInfo {
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
    // A callback's context is its owner's: here it would be the handler's address.
    context = info.is_callback ? nil : info.context
  }
}

extension ObservationInfo: CustomStringConvertible, CustomDebugStringConvertible {
  /// One line for each registration.
  public var description: String {
    registrations.isEmpty
      ? "no registrations" : registrations.map(\.description).joined(separator: "\n")
  }

  /// The runtime's own dump: registrations, what the object itself observes, and pairs left open.
  public var debugDescription: String { dump }
}

extension ObservationInfo.Registration: CustomStringConvertible {
  /// Key path, observer, options and context in one line.
  public var description: String {
    let contextText = context.map { ", context \($0)" } ?? ""
    return "\"\(keyPath)\" by \(observer), options [\(options.names)]\(contextText)"
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

// MARK: As an optional

// The class's own property has a value, observed or not. Where an optional is asked for, by `if let` or
// `?.`, the extensions' answer. A variable that is given one without a type (`let info =
// account.observationInfo`) holds the value, which is no optional: `== nil` is of it all the same.
extension ObservationInfo {
  /// Whether nobody was registered when it was asked for, which is when `observationInfo` is nil on
  /// Apple's platforms.
  public static func == (info: ObservationInfo, none: _OptionalNilComparisonType) -> Bool {
    info.registrations.isEmpty
  }

  /// Whether somebody was registered when it was asked for.
  public static func != (info: ObservationInfo, none: _OptionalNilComparisonType) -> Bool {
    !info.registrations.isEmpty
  }

  /// The same as `info == nil`.
  public static func == (none: _OptionalNilComparisonType, info: ObservationInfo) -> Bool {
    info.registrations.isEmpty
  }

  /// The same as `info != nil`.
  public static func != (none: _OptionalNilComparisonType, info: ObservationInfo) -> Bool {
    !info.registrations.isEmpty
  }
}

extension KeyValueObserving where Self: KVOObject {
  /// Who is registered with this object; nil if nobody is. Any thread.
  /// - Complexity: O(*n*) in the number of registrations.
  public var observationInfo: ObservationInfo? { (observationInfo as ObservationInfo).unlessEmpty }
}

extension KeyValueObserving where Self: ForeignObject {
  /// Who is registered with this object; nil if nobody is. Any thread.
  /// - Complexity: O(*n*) in the number of registrations.
  public var observationInfo: ObservationInfo? { (observationInfo as ObservationInfo).unlessEmpty }
}

extension ObservationInfo {
  fileprivate var unlessEmpty: ObservationInfo? { registrations.isEmpty ? nil : self }
}
