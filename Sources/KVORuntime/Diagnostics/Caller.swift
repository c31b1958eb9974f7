/// Where the program calls a function that may stop it. Passed on, and looked at by what stops the program alone.
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
