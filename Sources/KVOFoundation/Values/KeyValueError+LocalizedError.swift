public import Foundation
public import KVORuntime

/// An error by key, whose text `localizedDescription` shows.
extension KeyValueError: LocalizedError {
  /// The error's description, so that `localizedDescription` names the key, the class and the cause. It is not
  /// translated.
  public var errorDescription: String? { description }
}
