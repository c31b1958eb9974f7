// swift-tools-version: 6.2
import PackageDescription

let strictC: [CSetting] = [
  .headerSearchPath("internal"),
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
    .target(name: "CKVORuntime", dependencies: ["CFFI"], cSettings: strictC),
  ],
  swiftLanguageModes: [.v6],
  cLanguageStandard: .c11
)
