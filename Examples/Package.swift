// swift-tools-version: 6.2
// A separate package, so that building the library does not build the examples.
import PackageDescription

let strictC: [CSetting] = [
  .define("_GNU_SOURCE"),
  .enableWarning("all"),
  .enableWarning("extra"),
  .enableWarning("strict-prototypes"),
]
let strictCXX: [CXXSetting] = [
  .enableWarning("all"),
  .enableWarning("extra"),
]
let c: Target.Dependency = .product(name: "CKVORuntime", package: "KVORuntime")
let swift: Target.Dependency = .product(name: "KVORuntime", package: "KVORuntime")

let package = Package(
  name: "Examples",
  dependencies: [.package(name: "KVORuntime", path: "..")],
  targets: [
    .executableTarget(name: "CAccount", dependencies: [c], path: "CAccount", cSettings: strictC),
    .executableTarget(
      name: "TinyBinding", dependencies: [c], path: "TinyBinding", cSettings: strictC),

    .target(name: "AccountEngine", dependencies: [c], path: "AccountEngine", cSettings: strictC),
    .executableTarget(
      name: "MixedAccount", dependencies: ["AccountEngine", swift], path: "MixedAccount"),

    .target(
      name: "ParameterEngine", dependencies: [c], path: "ParameterEngine",
      cSettings: strictC, linkerSettings: [.linkedLibrary("m")]),
    .executableTarget(
      name: "ParameterFront", dependencies: ["ParameterEngine", swift], path: "ParameterFront"),

    .target(name: "ContactStore", path: "ContactStore", cxxSettings: strictCXX),
    .executableTarget(
      name: "ContactList", dependencies: ["ContactStore", swift], path: "ContactList"),
  ],
  swiftLanguageModes: [.v6],
  cLanguageStandard: .c11,
  cxxLanguageStandard: .cxx17
)
