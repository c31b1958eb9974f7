// Functions of the C library that the overlay uses, for C strings that it takes ownership of or only reads.

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

extension String {
  /// Copies a C string that a C function has allocated, and frees it.
  init(taking text: UnsafeMutablePointer<CChar>) {
    self.init(cString: text)
    free(text)
  }

  /// Whether a C string begins with this string.
  func begins(_ text: UnsafePointer<CChar>) -> Bool {
    withCString { strncmp(text, $0, utf8.count) == 0 }
  }
}
