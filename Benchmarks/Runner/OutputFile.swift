/// A text file that is opened before the measurements, so that a path that can't be written fails at once and
/// not after minutes of measuring.
import Glibc

final class OutputFile {
  private let path: String
  private let file: UnsafeMutablePointer<FILE>

  /// Opens the file and truncates it.
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
