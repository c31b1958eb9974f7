// swift-tools-version: 6.2
import PackageDescription

// A stand-in for OpenCombine, which tests can't fetch, with the names that the tests use.
let package = Package(
  name: "OpenCombine",
  products: [.library(name: "OpenCombine", targets: ["OpenCombine"])],
  targets: [.target(name: "OpenCombine")],
  swiftLanguageModes: [.v5]
)
