/// Why a change log could not do what it was asked. Class names are unqualified.
public enum ChangeLogError: Error, Equatable, Sendable {
  /// Undo, redo and transcripts are refused inside `withGroup`, and while one of them is at work.
  case isBusy
  /// Records were asked for that the log has let go of, or that are still to come.
  case noRecord(position: Int, first: Int, count: Int)
  /// A value of the key is not `Codable`, or an object that the log can't name in a transcript: one of whose class no
  /// keys are recorded, or that was a member of a set when the log began.
  case notCodable(key: String, className: String, found: String)
  /// A transcript has an object that this log does not know: its graph is another one.
  case unknownObject(number: Int)
  /// A transcript makes an object that this log has already: its graph is another one.
  case knownObject(number: Int)
  /// Elements are to be changed that are not there: of an object in another graph than the transcript's, or of a key that has
  /// been changed meanwhile without the log.
  case otherElements(key: String, className: String)
  /// No recorded class has such a name, or no keys are recorded for it.
  case unknownKey(key: String, className: String)
  /// An object of the class joins, and no `making:` tells how one is made.
  case cannotMake(className: String)
  /// The decoder's `userInfo` has no log for `ChangeLog.userInfoKey`.
  case noLog
}

extension ChangeLogError: CustomStringConvertible {
  /// A sentence that names class, key and cause.
  public var description: String {
    switch self {
    case .isBusy:
      "A change log undoes, redoes or applies nothing inside a group, or while it is at it."
    case .noRecord(let position, let first, let count):
      "There is no record \(position): the log has \(count), from \(first) on."
    case .notCodable(let key, let className, let found):
      "\(quoted(key)) of \(className) can't be in a transcript: \(found)."
    case .unknownObject(let number):
      "The transcript has an object \(number), which this log does not know."
    case .knownObject(let number):
      "The transcript makes an object \(number), which this log has already."
    case .otherElements(let key, let className):
      "\(quoted(key)) of \(className) has not the elements that the log is to change."
    case .unknownKey(let key, let className):
      "This log records no \(quoted(key)) of a class \(className)."
    case .cannotMake(let className):
      "An object of \(className) joins, and nothing tells how one is made: .keys(of: \(className).self, …, "
        + "making: { \(className)() })."
    case .noLog: "The decoder has no log: decoder.userInfo[ChangeLog.userInfoKey] = log."
    }
  }
}
