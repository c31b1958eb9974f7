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

/// How much harm is done if a finding is left as it is, the worst first.
public enum Harm: String, CaseIterable, Comparable, Sendable {
  /// It compiles, and does something else than on Apple's platforms.
  case differs
  /// Nothing here does what it does.
  case missing
  /// The compiler reports it.
  case refused

  public static func < (one: Harm, other: Harm) -> Bool {
    allCases.firstIndex(of: one)! < allCases.firstIndex(of: other)!
  }
}

/// Something that a human has to look at.
public struct Finding: Hashable, Sendable {
  /// The line in the source as the edits leave it, the first of which is 1.
  public var line: Int
  public var harm: Harm
  /// What is there, and why the tool leaves it.
  public var reason: String
  /// What to do.
  public var advice: String

  public init(line: Int, harm: Harm, reason: String, advice: String) {
    (self.line, self.harm, self.reason, self.advice) = (line, harm, reason, advice)
  }
}

extension Edit {
  /// Whether it puts in whole lines, if it stands where a line begins.
  var endsLine: Bool {
    range.isEmpty && (text.utf8.last == UInt8(ascii: "\n") || text.utf8.last == UInt8(ascii: "\r"))
  }
}

extension [Edit] {
  /// In their order, without those that overlap one before. Of those at one place, whole lines come first.
  func ordered() -> [Edit] {
    var (ordered, end) = ([Edit](), -1)
    func rank(_ edit: Edit, _ offset: Int) -> (Int, Int, Int, Int) {
      (edit.range.lowerBound, edit.range.upperBound, edit.endsLine ? 0 : 1, offset)
    }
    let sorted = enumerated().sorted {
      rank($0.element, $0.offset) < rank($1.element, $1.offset)
    }
    for (_, edit) in sorted where edit.range.lowerBound >= end {
      ordered.append(edit)
      end = edit.range.upperBound
    }
    return ordered
  }

  /// The line after the edits, which are in order, of a byte in a line of before them.
  func line(_ line: Int, ofByte offset: Int, in bytes: [UInt8]) -> Int {
    let before = prefix {
      $0.range.lowerBound < offset || $0.range.lowerBound == offset && $0.range.isEmpty
    }
    return before.reduce(line) { line, edit in
      let removed = edit.range.clamped(to: 0..<offset)
      return line + lineEnds(in: edit.text.utf8) - lineEnds(in: bytes[removed])
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

/// How many lines end in some bytes: by a line feed, a carriage return, or both.
private func lineEnds(in bytes: some Collection<UInt8>) -> Int {
  var (count, last) = (0, UInt8(0))
  for byte in bytes {
    let isRest = byte == UInt8(ascii: "\n") && last == UInt8(ascii: "\r")
    if Trivia.isLineEnd(byte), !isRest { count += 1 }
    last = byte
  }
  return count
}
