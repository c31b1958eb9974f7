/// The machine and the software on which the figures were measured.
import BenchmarkC
import Glibc

struct Machine {
  /// The date in ISO 8601.
  let date: String
  /// The processor's name, if the system reports it.
  let cpu: String?
  /// The number of usable cores.
  let cores: Int
  /// The kernel's name and release.
  let kernel: String
  /// The version that the toolchain in the path prints, if there is one.
  let swift: String?
  let libffi: String?
  /// The build configuration: debug or release.
  let configuration: String

  /// The machine that the program runs on.
  static func current() -> Machine {
    Machine(
      date: today(), cpu: processor(), cores: sysconf(Int32(_SC_NPROCESSORS_ONLN)),
      kernel: kernelRelease(),
      swift: firstLine(ofCommand: "swift --version 2>/dev/null"),
      libffi: bench_libffi_version().map { String(cString: $0) }, configuration: buildConfiguration)
  }

  /// One line for the reader of the table.
  var summary: String {
    let parts = [
      cpu ?? "unknown processor", "\(cores) cores", kernel, swift, libffi, "\(configuration) build",
    ]
    return parts.compactMap(\.self).joined(separator: "; ")
  }
}

private var buildConfiguration: String {
  #if DEBUG
    "debug"
  #else
    "release"
  #endif
}

private func today() -> String {
  var (now, parts) = (time(nil), tm())
  gmtime_r(&now, &parts)
  func digits(_ number: Int32) -> String { (number < 10 ? "0" : "") + String(number) }
  return "\(1900 + parts.tm_year)-\(digits(parts.tm_mon + 1))-\(digits(parts.tm_mday))"
}

private func kernelRelease() -> String {
  var name = utsname()
  uname(&name)
  return "\(string(of: name.sysname)) \(string(of: name.release)) \(string(of: name.machine))"
}

/// The string in an array of C characters, which Swift sees as a tuple.
private func string<Characters>(of characters: Characters) -> String {
  withUnsafeBytes(of: characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
}

private func processor() -> String? {
  guard let file = fopen("/proc/cpuinfo", "r") else { return nil }
  defer { fclose(file) }
  while let line = readLine(from: file) {
    guard line.hasPrefix("model name"), let colon = line.firstIndex(of: ":") else { continue }
    return String(line[line.index(after: colon)...].drop { $0 == " " })
  }
  return nil
}

private func firstLine(ofCommand command: String) -> String? {
  guard let pipe = popen(command, "r") else { return nil }
  defer { pclose(pipe) }
  return readLine(from: pipe)
}

/// The next line without its newline. A line longer than the buffer is returned in parts.
private func readLine(from file: UnsafeMutablePointer<FILE>) -> String? {
  withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1024) { buffer in
    guard let start = fgets(buffer.baseAddress!, Int32(buffer.count), file) else { return nil }
    let line = String(cString: start)
    return line.hasSuffix("\n") ? String(line.dropLast()) : line
  }
}
