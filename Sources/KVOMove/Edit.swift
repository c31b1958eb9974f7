/// Edits of a source: what stands in place of some of its bytes. All that no edit names stays, byte for byte.
/// No rule of Behaviour is kept here; what finds the edits relies on their order and on their not overlapping.

/// A replacement of some bytes of a source.
public struct Edit: Hashable, Sendable {
  /// In bytes of UTF-8. Empty where something is put in.
  public var range: Range<Int>
  public var text: String

  public init(_ range: Range<Int>, _ text: String) {
    (self.range, self.text) = (range, text)
  }
}

/// Something that a human has to look at.
public struct Finding: Hashable, Sendable {
  /// The line in the source as the edits leave it, the first of which is 1.
  public var line: Int
  /// What is there, and why the tool leaves it.
  public var reason: String
  /// What to do.
  public var advice: String

  public init(line: Int, reason: String, advice: String) {
    (self.line, self.reason, self.advice) = (line, reason, advice)
  }
}

extension [Edit] {
  /// In their order, without those that overlap one before.
  func ordered() -> [Edit] {
    var (ordered, end) = ([Edit](), -1)
    let sorted = enumerated().sorted {
      ($0.element.range.lowerBound, $0.element.range.upperBound, $0.offset)
        < ($1.element.range.lowerBound, $1.element.range.upperBound, $1.offset)
    }
    for (_, edit) in sorted where edit.range.lowerBound >= end {
      ordered.append(edit)
      end = edit.range.upperBound
    }
    return ordered
  }

  /// The line after the edits, which are in order, of a byte in a line of before them.
  func line(_ line: Int, ofByte offset: Int, in bytes: [UInt8]) -> Int {
    let newline = UInt8(ascii: "\n")
    let before = prefix {
      $0.range.lowerBound < offset || $0.range.lowerBound == offset && $0.range.isEmpty
    }
    return before.reduce(line) { line, edit in
      let removed = edit.range.clamped(to: 0..<offset)
      return line + edit.text.utf8.count { $0 == newline } - bytes[removed].count { $0 == newline }
    }
  }

  /// The bytes of a part of a source after the edits in it, which are in order.
  func applied(to bytes: [UInt8], in part: Range<Int>) -> [UInt8] {
    var (result, position) = ([UInt8](), part.lowerBound)
    for edit in self {
      result += bytes[position..<edit.range.lowerBound]
      result += [UInt8](edit.text.utf8)
      position = edit.range.upperBound
    }
    return result + bytes[position..<part.upperBound]
  }
}
