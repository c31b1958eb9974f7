// swift-tools-version: 6.2
import PackageDescription

let strictC: [CSetting] = [
  .define("_GNU_SOURCE"),
  .enableWarning("all"),
  .enableWarning("extra"),
  .enableWarning("strict-prototypes"),
  .treatAllWarnings(as: .error),
]
let strictSwift: [SwiftSetting] = [
  .treatAllWarnings(as: .error)
]

let package = Package(
  name: "KVORuntime",
  products: [
    .library(name: "CKVORuntime", targets: ["CKVORuntime"]),
  ],
  targets: [
    .systemLibrary(
      name: "CFFI",
      pkgConfig: "libffi",
      providers: [.apt(["libffi-dev"]), .brew(["libffi"])]
    ),
    .target(
      name: "CKVORuntime", dependencies: ["CFFI"],
      cSettings: [.headerSearchPath("internal")] + strictC),

    // C: tests
    .target(
      name: "CFixtures", dependencies: ["CKVORuntime"], path: "Tests/Support/Fixtures",
      cSettings: strictC),
    .target(
      name: "SignatureFixtures", dependencies: ["CKVORuntime"], path: "Tests/Support/Signatures",
      cSettings: strictC),
    .testTarget(
      name: "CKVORuntimeTests", dependencies: ["CKVORuntime", "CFixtures", "SignatureFixtures"],
      swiftSettings: strictSwift),
  ],
  swiftLanguageModes: [.v6],
  cLanguageStandard: .c11
)
