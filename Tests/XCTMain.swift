import Testing

/// Runs the tests. SwiftPM takes this file for the entry point it would write otherwise, after it has searched an index of all
/// sources for XCTest's tests: there are none, and the index takes an eighth of the time that the tests take to build.
@main struct TestRun {
  static func main() async {
    // `swift test` starts the program once for each testing library.
    guard CommandLine.arguments.contains("swift-testing") else { return }
    await Testing.__swiftPMEntryPoint() as Never
  }
}
