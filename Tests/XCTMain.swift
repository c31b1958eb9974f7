import Testing

/// Runs the tests. SwiftPM uses this file instead of generating an entry point from an index of all sources, in which
/// it searches for XCTest tests. There are none, and the index takes an eighth of the tests' build time.
@main struct TestRun {
  static func main() async {
    // `swift test` starts the program once for each testing library.
    guard CommandLine.arguments.contains("swift-testing") else { return }
    await Testing.__swiftPMEntryPoint() as Never
  }
}
