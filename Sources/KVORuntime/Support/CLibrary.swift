// What the overlay uses of the C library: texts that C has allocated, or hands over to be looked at.

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

extension String {
  /// A text that a function of C has allocated, which is freed.
  init(taking text: UnsafeMutablePointer<CChar>) {
    self.init(cString: text)
    free(text)
  }

  /// Whether a text of C begins with this one.
  func begins(_ text: UnsafePointer<CChar>) -> Bool {
    withCString { strncmp(text, $0, utf8.count) == 0 }
  }
}
