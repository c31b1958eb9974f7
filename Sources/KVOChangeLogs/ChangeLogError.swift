internal import KVORuntime

/// An error of a change log. Class names are unqualified.
public enum ChangeLogError: Error, Equatable, Sendable {
  /// Undo, redo and transcripts are not possible inside `withGroup`, or while one of them is running.
  case isBusy
  /// The requested records were dropped, or do not exist yet.
  case noRecord(position: Int, first: Int, count: Int)
  /// A value of the key can't be in a transcript: it is not `Codable`, or it is an object that the log can't
  /// name. That is one whose class has no recorded keys, or one that was a member of a set when the log
  /// began.
  case notCodable(key: String, className: String, found: String)
  /// The transcript refers to an object that this log does not know, so its graph is a different one.
  case unknownObject(number: Int)
  /// The transcript creates an object that this log has already, so its graph is a different one.
  case knownObject(number: Int)
  /// The elements to change do not exist. The graph is not the transcript's, or the key was changed without
  /// being recorded.
  case otherElements(key: String, className: String)
  /// No recorded class has that name, or the key is not recorded for it.
  case unknownKey(key: String, className: String)
  /// An object of the class joins, but its recorded keys have no `making:` function that creates one.
  case cannotMake(className: String)
  /// The decoder's `userInfo` has no log for `ChangeLog.userInfoKey`.
  case noLog
}

extension ChangeLogError: CustomStringConvertible {
  /// A sentence that names the class, the key and the cause.
  public var description: String {
    switch self {
    case .isBusy:
      "A change log can't undo, redo or apply a transcript inside a group, or while it does one of these."
    case .noRecord(let position, let first, let count):
      "There is no record \(position): the log has \(count), from \(first) on."
    case .notCodable(let key, let className, let found):
      "\(quoted(key)) of \(className) can't be in a transcript: \(found)."
    case .unknownObject(let number):
      "The transcript has an object \(number), which this log does not know."
    case .knownObject(let number):
      "The transcript makes an object \(number), which this log has already."
    case .otherElements(let key, let className):
      "\(quoted(key)) of \(className) does not have the elements that the log is to change."
    case .unknownKey(let key, let className):
      "This log records no \(quoted(key)) of a class \(className)."
    case .cannotMake(let className):
      "The log does not know how to make an object of \(className): .keys(of: \(className).self, …, "
        + "making: { \(className)() })."
    case .noLog: "The decoder has no log: decoder.userInfo[ChangeLog.userInfoKey] = log."
    }
  }
}
