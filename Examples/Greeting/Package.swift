// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Greeting",
  dependencies: [.package(path: "../KVORuntime")],
  targets: [
    .systemLibrary(
      name: "CGTK", pkgConfig: "gtk4", providers: [.apt(["libgtk-4-dev"])]),
    .executableTarget(
      name: "Greeting",
      dependencies: [
        "CGTK", .product(name: "KVORuntime", package: "KVORuntime"),
      ]),
  ]
)
