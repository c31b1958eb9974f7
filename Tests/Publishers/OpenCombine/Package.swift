// swift-tools-version: 6.2
import PackageDescription

// A stand-in for OpenCombine, which can't be fetched where tests run: of the same names, and of no more than publishers of
// key-value changes use.
let package = Package(
  name: "OpenCombine",
  products: [.library(name: "OpenCombine", targets: ["OpenCombine"])],
  targets: [.target(name: "OpenCombine")],
  swiftLanguageModes: [.v5]
)
