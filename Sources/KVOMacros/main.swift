// The program that the compiler starts for KVORuntime's macros. It reads messages from standard input and writes
// answers to standard output. Each is preceded by its length as eight bytes, little-endian. The compiler closes the
// input at the end.
import KVOExpansion

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Reads exactly `count` bytes; nil at the end of the input.
private func read(_ count: Int) -> [UInt8]? {
  var bytes = [UInt8](repeating: 0, count: count)
  var filled = 0
  while filled < count {
    let more = bytes.withUnsafeMutableBytes { buffer in
      read(STDIN_FILENO, buffer.baseAddress! + filled, count - filled)
    }
    if more < 0, errno == EINTR { continue }
    guard more > 0 else { return nil }
    filled += more
  }
  return bytes
}

private func write(_ bytes: [UInt8]) -> Bool {
  var written = 0
  while written < bytes.count {
    let more = bytes.withUnsafeBytes { buffer in
      write(STDOUT_FILENO, buffer.baseAddress! + written, bytes.count - written)
    }
    if more < 0, errno == EINTR { continue }
    guard more > 0 else { return false }
    written += more
  }
  return true
}

/// No message is this long: such input does not come from a compiler.
private let longestMessage: UInt64 = 1 << 31

var plugin = Plugin()
while let header = read(8) {
  let length = header.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
  guard length < longestMessage, let message = read(Int(length)) else { break }
  let answer = Array(plugin.answer(to: message).text.utf8)
  let size = (0..<8).map { UInt8(truncatingIfNeeded: answer.count >> ($0 * 8)) }
  guard write(size + answer) else { break }
}
