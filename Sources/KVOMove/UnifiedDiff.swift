/// Formats edits as a unified diff. The edits show which lines differ, so no lines are compared. No rule of Behaviour
/// is kept here.

struct UnifiedDiff {
  private let bytes: [UInt8]
  private let edits: [Edit]
  /// The offset of each line; the last is the end of the source.
  private var starts: [Int] = [0]
  private static let context = 3

  /// Takes edits that are in order.
  init(_ bytes: [UInt8], _ edits: [Edit]) {
    (self.bytes, self.edits) = (bytes, edits)
    for (index, byte) in bytes.enumerated() where byte == UInt8(ascii: "\n") {
      starts.append(index + 1)
    }
    if starts.last != bytes.count { starts.append(bytes.count) }
  }

  private struct Change {
    var lines: Range<Int>
    var edits: [Edit]
  }

  private func line(at offset: Int) -> Int {
    var (low, high) = (0, max(starts.count - 1, 1))
    while high - low > 1 {
      let middle = (low + high) / 2
      if starts[middle] <= offset { low = middle } else { high = middle }
    }
    return low
  }

  private var changes: [Change] {
    var changes: [Change] = []
    for edit in edits {
      let first = line(at: edit.range.lowerBound)
      // An insertion of whole lines touches no existing line. A removal of whole lines also touches the line after
      // it.
      let isWhole =
        edit.range.isEmpty && edit.text.utf8.last == UInt8(ascii: "\n")
        && starts[first] == edit.range.lowerBound
      let end = isWhole ? first : line(at: edit.range.upperBound) + 1
      if let before = changes.last, first < before.lines.upperBound {
        changes[changes.count - 1].lines =
          before.lines.lowerBound..<max(before.lines.upperBound, end)
        changes[changes.count - 1].edits.append(edit)
      } else {
        changes.append(Change(lines: first..<end, edits: [edit]))
      }
    }
    return changes
  }

  private func lines(_ range: Range<Int>, _ mark: String) -> String {
    lines(of: Array(bytes[starts[range.lowerBound]..<starts[range.upperBound]]), mark)
  }

  private func lines(of bytes: [UInt8], _ mark: String) -> String {
    guard !bytes.isEmpty else { return "" }
    var parts = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    let isEnded = parts.last?.isEmpty ?? false
    if isEnded { parts.removeLast() }
    let text = parts.map { mark + String(decoding: $0, as: UTF8.self) + "\n" }.joined()
    return isEnded ? text : text + "\\ No newline at end of file\n"
  }

  private func count(_ bytes: [UInt8]) -> Int {
    let ends = bytes.count { $0 == UInt8(ascii: "\n") }
    return bytes.isEmpty || bytes.last == UInt8(ascii: "\n") ? ends : ends + 1
  }

  /// The diff; empty if there are no edits.
  func text(path: String) -> String {
    guard !edits.isEmpty else { return "" }
    let lineCount = starts.count - 1
    var (result, shift) = ("--- \(path)\n+++ \(path)\n", 0)
    var rest = changes[...]
    while let first = rest.first {
      var group = [first]
      rest.removeFirst()
      while let next = rest.first,
        next.lines.lowerBound - group.last!.lines.upperBound <= 2 * Self.context
      {
        group.append(next)
        rest.removeFirst()
      }
      let begin = max(first.lines.lowerBound - Self.context, 0)
      let end = min(group.last!.lines.upperBound + Self.context, lineCount)
      var (body, added, position) = ("", 0, begin)
      for change in group {
        let part = starts[change.lines.lowerBound]..<starts[change.lines.upperBound]
        let new = change.edits.applied(to: bytes, in: part)
        body += lines(position..<change.lines.lowerBound, " ")
        body += lines(change.lines, "-") + lines(of: new, "+")
        added += count(new) - change.lines.count
        position = change.lines.upperBound
      }
      body += lines(position..<end, " ")
      result += "@@ -\(begin + 1),\(end - begin) +\(begin + 1 + shift),\(end - begin + added) @@\n"
      result += body
      shift += added
    }
    return result
  }
}
