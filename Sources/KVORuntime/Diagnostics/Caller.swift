/// The place where the program calls a function that may stop it. It is passed on, and read only by the code
/// that stops the program.
@frozen @usableFromInline
package struct Caller {
  @usableFromInline package let file: StaticString
  @usableFromInline package let line: UInt

  @inlinable
  package init(_ file: StaticString, _ line: UInt) {
    self.file = file
    self.line = line
  }
}
