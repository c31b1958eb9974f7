import Dispatch
import Glibc

/// The terminal, in raw mode and on its alternate screen until `restore()`.
@MainActor
final class Terminal {
  /// The typed bytes. A signal that ends the program arrives as a `q`; the end of the terminal ends
  /// the stream.
  let bytes: AsyncStream<UInt8>
  private let settings: termios
  private let sources: [any DispatchSourceProtocol]

  /// Nil if the program does not run on a terminal.
  init?() {
    var settings = termios()
    guard isatty(STDOUT_FILENO) == 1, tcgetattr(STDIN_FILENO, &settings) == 0 else { return nil }
    self.settings = settings
    let (bytes, typing) = AsyncStream.makeStream(of: UInt8.self)
    self.bytes = bytes
    sources = [Self.keyboard(typing)] + [SIGINT, SIGTERM, SIGHUP].map { Self.signal($0, typing) }
    cfmakeraw(&settings)
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings)
    write("\u{1B}[?1049h\u{1B}[?25l")  // alternate screen, no cursor
    for source in sources { source.activate() }
  }

  func restore() {
    for source in sources { source.cancel() }
    write("\u{1B}[?25h\u{1B}[?1049l")
    var settings = settings
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings)
  }

  /// Shows these lines from the top, replacing the previous ones.
  func show(_ lines: [String]) {
    write("\u{1B}[H" + lines.map { $0 + "\u{1B}[K\r\n" }.joined() + "\u{1B}[J")
  }

  private func write(_ text: String) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let written = rest.withUnsafeBytes { Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
      guard written > 0 || errno == EINTR else { return }
      rest = rest.dropFirst(max(0, written))
    }
  }

  private static func keyboard(
    _ typing: AsyncStream<UInt8>.Continuation
  ) -> any DispatchSourceProtocol {
    let source = DispatchSource.makeReadSource(fileDescriptor: STDIN_FILENO)
    source.setEventHandler { @Sendable in
      var typed = [UInt8](repeating: 0, count: 64)
      let count = read(STDIN_FILENO, &typed, typed.count)
      guard count > 0 else { return typing.finish() }
      for byte in typed.prefix(count) { typing.yield(byte) }
    }
    return source
  }

  private static func signal(
    _ number: Int32, _ typing: AsyncStream<UInt8>.Continuation
  ) -> any DispatchSourceProtocol {
    _ = Glibc.signal(number, SIG_IGN)
    let source = DispatchSource.makeSignalSource(signal: number)
    source.setEventHandler { @Sendable in typing.yield(UInt8(ascii: "q")) }
    return source
  }
}

/// A key that the program reacts to.
enum Key {
  case up, down, right, left, louder, softer, pause, quit
}

extension Key {
  /// The next key; nil at the end of the terminal.
  @MainActor
  static func next(_ bytes: inout AsyncStream<UInt8>.Iterator) async -> Key? {
    while let byte = await bytes.next(isolation: #isolation) {
      if let key = byte == 0x1B ? await arrow(&bytes) : named(byte) { return key }
    }
    return nil
  }

  // ESC [ A, or ESC O A in application cursor mode.
  @MainActor
  private static func arrow(_ bytes: inout AsyncStream<UInt8>.Iterator) async -> Key? {
    guard let second = await bytes.next(isolation: #isolation) else { return nil }
    guard second == UInt8(ascii: "[") || second == UInt8(ascii: "O") else { return named(second) }
    return switch await bytes.next(isolation: #isolation) {
    case UInt8(ascii: "A"): .up
    case UInt8(ascii: "B"): .down
    case UInt8(ascii: "C"): .right
    case UInt8(ascii: "D"): .left
    default: nil
    }
  }

  private static func named(_ byte: UInt8) -> Key? {
    switch byte {
    case UInt8(ascii: "+"): .louder
    case UInt8(ascii: "-"): .softer
    case UInt8(ascii: " "): .pause
    case UInt8(ascii: "q"), 3: .quit  // ^C, which raises no signal in raw mode
    default: nil
    }
  }
}
