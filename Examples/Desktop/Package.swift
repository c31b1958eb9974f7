// swift-tools-version: 6.2
// A separate package, so that the library itself does not depend on GTK. `Scripts/desktop` installs
// GTK and runs these programs.
import PackageDescription

// Warnings are errors, except deprecations by later versions of GTK.
let strict: [SwiftSetting] = [
  .treatAllWarnings(as: .error), .treatWarning("DeprecatedDeclaration", as: .warning),
]
let kvo: Target.Dependency = .product(name: "KVORuntime", package: "KVORuntime")
let changeLogs: Target.Dependency = .product(name: "KVOChangeLogs", package: "KVORuntime")

let package = Package(
  name: "Desktop",
  dependencies: [.package(name: "KVORuntime", path: "../..")],
  targets: [
    .systemLibrary(name: "CGTK", pkgConfig: "gtk4", providers: [.apt(["libgtk-4-dev"])]),
    .target(name: "Widgets", dependencies: ["CGTK", kvo], swiftSettings: strict),
    .target(name: "Inspector", dependencies: ["Widgets", kvo], swiftSettings: strict),
    .executableTarget(
      name: "LabColor", dependencies: ["Widgets", "Inspector", changeLogs, kvo],
      swiftSettings: strict),
    .executableTarget(
      name: "Contacts", dependencies: ["Widgets", "Inspector", changeLogs, kvo],
      swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)
