// swift-tools-version: 6.2
import CompilerPluginSupport
import PackageDescription

// Warnings are errors in this package's own checks alone (Scripts/lib.sh): other compilers have other warnings.
let strictC: [CSetting] = [
  .define("_GNU_SOURCE"),
  .enableWarning("all"),
  .enableWarning("extra"),
  .enableWarning("strict-prototypes"),
]
// So that tests can have memory run out, and notice what reads freed memory, or takes a lock under one that allows none.
let debugMemory: [CSetting] = [
  .define("KVO_FAILING_MEMORY", .when(configuration: .debug)),
  .define("KVO_POISON", .when(configuration: .debug)),
  .define("KVO_CHECK_LOCKS", .when(configuration: .debug)),
]
let strictCXX: [CXXSetting] = [
  .enableWarning("all"),
  .enableWarning("extra"),
]

// If the environment names a copy of OpenCombine, by a path or a URL, KVOFoundation has publishers.
let openCombine = Context.environment["KVO_OPENCOMBINE"].map { place in
  (
    package: place.contains("://")
      ? Package.Dependency.package(url: place, from: "0.14.0")
      : .package(name: "OpenCombine", path: place),
    product: Target.Dependency.product(name: "OpenCombine", package: "OpenCombine")
  )
}

let package = Package(
  name: "KVORuntime",
  products: [
    .library(name: "CKVORuntime", targets: ["CKVORuntime"]),
    .library(name: "KVORuntime", targets: ["KVORuntime"]),
    .library(name: "KVOObservation", targets: ["KVOObservation"]),
    .library(name: "KVOFoundation", targets: ["KVOFoundation"]),
    .library(name: "KVOTesting", targets: ["KVOTesting"]),
    .executable(name: "kvo-move", targets: ["kvo-move"]),
    .plugin(name: "KVOMovePlugin", targets: ["KVOMovePlugin"]),
  ],
  dependencies: openCombine.map { [$0.package] } ?? [],
  targets: [
    .systemLibrary(
      name: "CFFI",
      pkgConfig: "libffi",
      providers: [.apt(["libffi-dev"]), .brew(["libffi"])]
    ),
    .target(
      name: "CKVORuntime", dependencies: ["CFFI"],
      // KVO_EXCEPTIONS: with what is written in C++.
      cSettings: [.headerSearchPath("."), .define("KVO_EXCEPTIONS")] + debugMemory
        + strictC,
      cxxSettings: [.headerSearchPath(".")] + strictCXX,
      linkerSettings: [.linkedLibrary("ffi")]),
    .systemLibrary(name: "CSwiftRuntime", path: "Sources/KVORuntime/SwiftRuntime"),
    .target(
      name: "KVORuntime", dependencies: ["CKVORuntime", "CSwiftRuntime", "KVOMacros"],
      exclude: ["SwiftRuntime"]),

    // The bridge to Swift's Observation. What links it has its reads asked about.
    .target(
      name: "CKVOObservation", dependencies: ["CKVORuntime"], cSettings: strictC),
    .target(
      name: "KVOObservation", dependencies: ["CKVOObservation", "CKVORuntime", "KVORuntime"]),

    // For who uses Foundation, which the libraries above do without; and for who tests what is observed.
    .target(
      name: "KVOFoundation",
      dependencies: ["KVORuntime"] + (openCombine.map { [$0.product] } ?? []),
      exclude: openCombine == nil ? ["OpenCombine"] : []),
    .target(name: "KVOTesting", dependencies: ["KVORuntime"]),

    // The macro @KVO: a program that the compiler starts, which reads Swift source by itself, since no outside package
    // can be had.
    .target(name: "SwiftSource"),
    .target(name: "KVOExpansion", dependencies: ["SwiftSource"]),
    .macro(name: "KVOMacros", dependencies: ["KVOExpansion"]),

    // Moves code from Apple's platforms.
    .target(name: "KVOMove", dependencies: ["SwiftSource"]),
    .executableTarget(
      name: "kvo-move", dependencies: ["KVOMove"], path: "Sources/KVOMoveTool"),
    .plugin(
      name: "KVOMovePlugin",
      capability: .command(
        intent: .custom(
          verb: "kvo-move", description: "Moves code from Apple's platforms to KVORuntime"),
        permissions: [.writeToPackageDirectory(reason: "Moved code is written where it stands.")]),
      dependencies: ["kvo-move"], path: "Sources/KVOMovePlugin"),

    // Benchmarks. The observed Swift classes are in a module of their own, as a user's are.
    .target(
      name: "BenchmarkC", dependencies: ["CKVORuntime", "CFFI"], path: "Benchmarks/C",
      cSettings: strictC),
    .target(
      name: "BenchmarkModel", dependencies: ["KVORuntime"], path: "Benchmarks/Model"),
    .executableTarget(
      name: "Benchmarks",
      dependencies: ["BenchmarkC", "BenchmarkModel", "KVORuntime"],
      path: "Benchmarks/Runner"),
    // Benchmarks runs it where it has been built. A target that depended on it would be linked with it.
    .executableTarget(
      name: "BridgeReads", dependencies: ["KVOObservation", "KVORuntime"],
      path: "Benchmarks/Bridge"),

    // Tests
    .target(
      name: "CFixtures", dependencies: ["CKVORuntime"], path: "Tests/Support/Fixtures",
      // records.c looks at threads' records.
      cSettings: [.headerSearchPath("../../../Sources/CKVORuntime")] + debugMemory + strictC,
      cxxSettings: strictCXX),
    .target(
      name: "SignatureFixtures", dependencies: ["CKVORuntime"], path: "Tests/Support/Signatures",
      cSettings: strictC),
    .target(
      name: "TestSupport", dependencies: ["CKVORuntime", "CFixtures"],
      path: "Tests/Support/TestSupport"),
    // What suites of several modules have: apart from TestSupport, which is linked where no test framework is.
    .target(
      name: "TestScopes", dependencies: ["TestSupport"], path: "Tests/Support/TestScopes"),
    .target(name: "Expectations", path: "Tests/Support/Expectations"),
    .target(
      name: "ModelFixtures", dependencies: ["KVORuntime", "TestSupport"],
      path: "Tests/Support/ModelFixtures"),
    .testTarget(
      name: "CKVORuntimeTests",
      dependencies: [
        "Expectations", "CKVORuntime", "CFixtures", "SignatureFixtures", "TestSupport",
      ]),
    .testTarget(
      name: "KVORuntimeTests",
      dependencies: [
        "KVORuntime", "CKVORuntime", "CFixtures", "ModelFixtures", "TestScopes", "TestSupport",
        "Expectations",
      ]),
    .testTarget(
      name: "KVOFoundationTests",
      dependencies: [
        "Expectations", "KVOFoundation", "KVORuntime", "ModelFixtures", "TestScopes", "TestSupport",
      ]),
    .testTarget(
      name: "KVOTestingTests",
      dependencies: [
        "Expectations", "KVOTesting", "KVORuntime", "ModelFixtures", "TestScopes", "TestSupport",
      ]),
    .testTarget(
      name: "KVOMoveTests", dependencies: ["Expectations", "KVOMove", "SwiftSource"]),
    .testTarget(
      name: "SwiftSourceTests", dependencies: ["Expectations", "SwiftSource"]),
    // None of the tests depends on the macro itself, or all would be built as it is, for the compiler's own machine.
    .testTarget(
      name: "KVOExpansionTests", dependencies: ["Expectations", "KVOExpansion", "SwiftSource"]),
    // BridgeTests run it. None of them depends on it, or it would be linked with all tests.
    .executableTarget(
      name: "ObservationBridge",
      dependencies: ["KVOObservation", "KVORuntime", "CFixtures", "ModelFixtures", "TestSupport"],
      path: "Tests/ObservationBridge"),
    // Every public name, as the users' code spells it.
    .testTarget(
      name: "ContractTests",
      dependencies: [
        "Expectations", "KVOFoundation", "KVOTesting", "KVORuntime", "CKVORuntime", "CFixtures",
      ],
      exclude: ["Names.txt"]),
    // Code from Apple's platforms, moved here. The originals can't be compiled but there.
    .testTarget(
      name: "MigrationTests", dependencies: ["KVORuntime"], path: "Tests/Migration",
      exclude: ["Originals", "Corpus", "Expected"]),
  ],
  swiftLanguageModes: [.v6],
  cLanguageStandard: .c11,
  cxxLanguageStandard: .cxx17
)
