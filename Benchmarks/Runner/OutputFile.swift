/// A text file, opened before there is anything to write, so that a path that can't be written is
/// found out before minutes were spent on measuring.
import Glibc

final class OutputFile {
  private let path: String
  private let file: UnsafeMutablePointer<FILE>

  /// Opens the file; what was in it is gone.
  init(path: String) throws {
    guard let file = fopen(path, "w") else { throw FileError(path: path, code: errno) }
    self.path = path
    self.file = file
  }

  deinit {
    fclose(file)
  }

  func write(_ text: String) throws {
    guard fputs(text, file) >= 0, fflush(file) == 0 else {
      throw FileError(path: path, code: errno)
    }
  }
}

/// A file that can't be written.
private struct FileError: Error, CustomStringConvertible {
  let path: String
  let code: Int32

  var description: String { "\(path): \(String(cString: strerror(code)))" }
}
