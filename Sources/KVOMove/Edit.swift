/// Edits of a source: replacements of some of its bytes. All other bytes stay unchanged. No rule of Behaviour is kept
/// here. The code that makes edits relies on their order and on their not overlapping.

/// A replacement of some bytes of a source.
public struct Edit: Hashable, Sendable {
  /// The replaced bytes, as offsets in UTF-8. Empty for an insertion.
  public var range: Range<Int>
  public var text: String

  public init(_ range: Range<Int>, _ text: String) {
    (self.range, self.text) = (range, text)
  }
}

/// How much harm a finding does if it is left unchanged, in descending order.
public enum Harm: String, CaseIterable, Comparable, Sendable {
  /// It compiles, but behaves differently than on Apple's platforms.
  case differs
  /// It has no counterpart here.
  case missing
  /// The compiler reports it.
  case refused

  public static func < (one: Harm, other: Harm) -> Bool {
    allCases.firstIndex(of: one)! < allCases.firstIndex(of: other)!
  }
}

/// A place that a person has to look at.
public struct Finding: Hashable, Sendable {
  /// The line in the source after the edits, counted from 1.
  public var line: Int
  public var harm: Harm
  /// The problem, and the reason why the tool leaves it unchanged.
  public var reason: String
  /// The recommended change.
  public var advice: String

  public init(line: Int, harm: Harm, reason: String, advice: String) {
    (self.line, self.harm, self.reason, self.advice) = (line, harm, reason, advice)
  }
}

extension Edit {
  /// Whether it inserts whole lines, provided that it is at the beginning of a line.
  var endsLine: Bool {
    range.isEmpty && (text.utf8.last == UInt8(ascii: "\n") || text.utf8.last == UInt8(ascii: "\r"))
  }
}

extension [Edit] {
  /// The edits in order of their places, without those that overlap an earlier one. At one place, insertions of whole
  /// lines are first.
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

  /// The line number, after these ordered edits, of a byte that was in `line` before them.
  func line(_ line: Int, ofByte offset: Int, in bytes: [UInt8]) -> Int {
    let before = prefix {
      $0.range.lowerBound < offset || $0.range.lowerBound == offset && $0.range.isEmpty
    }
    return before.reduce(line) { line, edit in
      let removed = edit.range.clamped(to: 0..<offset)
      return line + lineEnds(in: edit.text.utf8) - lineEnds(in: bytes[removed])
    }
  }

  /// The bytes of a part of a source after applying these edits, which are in order and inside the part.
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

/// The number of line ends in some bytes: line feeds, carriage returns, and pairs of both.
private func lineEnds(in bytes: some Collection<UInt8>) -> Int {
  var (count, last) = (0, UInt8(0))
  for byte in bytes {
    let isRest = byte == UInt8(ascii: "\n") && last == UInt8(ascii: "\r")
    if Trivia.isLineEnd(byte), !isRest { count += 1 }
    last = byte
  }
  return count
}
