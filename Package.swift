// swift-tools-version: 6.2
import CompilerPluginSupport
import PackageDescription

// This package's own checks turn warnings into errors (Scripts/lib.sh). Dependents' compilers may warn of other
// things.
let strictC: [CSetting] = [
  .define("_GNU_SOURCE"),
  .enableWarning("all"),
  .enableWarning("extra"),
  .enableWarning("strict-prototypes"),
]
// In debug builds, tests can make allocations fail and detect reads of freed memory and locks taken in a forbidden
// order.
let debugMemory: [CSetting] = [
  .define("KVO_FAILING_MEMORY", .when(configuration: .debug)),
  .define("KVO_POISON", .when(configuration: .debug)),
  .define("KVO_CHECK_LOCKS", .when(configuration: .debug)),
]
let strictCXX: [CXXSetting] = [
  .enableWarning("all"),
  .enableWarning("extra"),
]

// KVO_OPENCOMBINE: a path or URL of OpenCombine. If it is set, KVOFoundation has publishers.
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
    .library(name: "KVOChangeLogs", targets: ["KVOChangeLogs"]),
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
      // KVO_EXCEPTIONS: the runtime lets C++ exceptions pass through it. That part is written in C++.
      cSettings: [.headerSearchPath("."), .define("KVO_EXCEPTIONS")] + debugMemory
        + strictC,
      cxxSettings: [.headerSearchPath(".")] + strictCXX,
      linkerSettings: [.linkedLibrary("ffi")]),
    .systemLibrary(name: "CSwiftRuntime", path: "Sources/KVORuntime/SwiftRuntime"),
    .target(
      name: "KVORuntime", dependencies: ["CKVORuntime", "CSwiftRuntime", "KVOMacros"],
      exclude: ["SwiftRuntime"]),

    // Records of changes, undo and transcripts.
    .target(name: "KVOChangeLogs", dependencies: ["KVORuntime", "CKVORuntime"]),

    // The bridge to Swift's Observation. Linking it installs a read hook on every thread.
    .target(
      name: "CKVOObservation", dependencies: ["CKVORuntime"], cSettings: strictC),
    .target(
      name: "KVOObservation", dependencies: ["CKVOObservation", "CKVORuntime", "KVORuntime"]),

    // Foundation support, and support for testing observed code. The libraries above do not import Foundation.
    .target(
      name: "KVOFoundation",
      dependencies: ["KVORuntime"] + (openCombine.map { [$0.product] } ?? []),
      exclude: openCombine == nil ? ["OpenCombine"] : []),
    .target(name: "KVOTesting", dependencies: ["KVORuntime"]),

    // The macro @KVO. The compiler starts its plug-in as a program. It parses Swift source itself, because this
    // package depends on no outside package.
    .target(name: "SwiftSource"),
    .target(name: "KVOExpansion", dependencies: ["SwiftSource"]),
    .macro(name: "KVOMacros", dependencies: ["KVOExpansion"]),

    // kvo-move: moves code from Apple's platforms to KVORuntime.
    .target(name: "KVOMove", dependencies: ["KVOExpansion", "SwiftSource"]),
    .executableTarget(
      name: "kvo-move", dependencies: ["KVOMove"], path: "Sources/KVOMoveTool"),
    .plugin(
      name: "KVOMovePlugin",
      capability: .command(
        intent: .custom(
          verb: "kvo-move", description: "Moves code from Apple's platforms to KVORuntime"),
        permissions: [.writeToPackageDirectory(reason: "Moved code is written where it stands.")]),
      dependencies: ["kvo-move"], path: "Sources/KVOMovePlugin"),

    // Benchmarks. The observed Swift classes are in a separate module, as a user's classes are.
    .target(
      name: "BenchmarkC", dependencies: ["CKVORuntime", "CFFI"], path: "Benchmarks/C",
      cSettings: strictC),
    .target(
      name: "BenchmarkModel", dependencies: ["KVORuntime"], path: "Benchmarks/Model"),
    .executableTarget(
      name: "Benchmarks",
      dependencies: ["BenchmarkC", "BenchmarkModel", "KVOChangeLogs", "KVORuntime"],
      path: "Benchmarks/Runner"),
    // Benchmarks starts this program from the build folder. A target that depended on it would link it.
    .executableTarget(
      name: "BridgeReads", dependencies: ["KVOObservation", "KVORuntime"],
      path: "Benchmarks/Bridge"),

    // Tests
    .target(
      name: "CFixtures", dependencies: ["CKVORuntime"], path: "Tests/Support/Fixtures",
      // records.c reads the runtime's private thread records.
      cSettings: [.headerSearchPath("../../../Sources/CKVORuntime")] + debugMemory + strictC,
      cxxSettings: strictCXX),
    .target(
      name: "SignatureFixtures", dependencies: ["CKVORuntime"], path: "Tests/Support/Signatures",
      cSettings: strictC),
    .target(
      name: "TestSupport", dependencies: ["CKVORuntime", "CFixtures"],
      path: "Tests/Support/TestSupport"),
    // Support shared by suites of several modules. Separate from TestSupport, which programs without a test framework
    // link, too.
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
      name: "KVOChangeLogsTests",
      dependencies: [
        "Expectations", "KVOChangeLogs", "KVORuntime", "ModelFixtures", "TestScopes", "TestSupport",
      ]),
    .testTarget(
      name: "KVOFoundationTests",
      dependencies: [
        "Expectations", "KVOChangeLogs", "KVOFoundation", "KVORuntime", "CKVORuntime", "CFixtures",
        "ModelFixtures",
        "TestScopes", "TestSupport",
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
    // No test depends on the macro target: that would build all tests for the host, as the compiler's plug-ins are.
    .testTarget(
      name: "KVOExpansionTests", dependencies: ["Expectations", "KVOExpansion", "SwiftSource"]),
    // BridgeTests starts this program. A test target that depended on it would link it into all tests.
    .executableTarget(
      name: "ObservationBridge",
      dependencies: [
        "KVOChangeLogs", "KVOFoundation", "KVOObservation", "KVORuntime", "CFixtures",
        "ModelFixtures",
        "TestSupport",
      ],
      path: "Tests/ObservationBridge"),
    // Uses every public name, spelled as in users' code.
    .testTarget(
      name: "ContractTests",
      dependencies: [
        "Expectations", "KVOChangeLogs", "KVOFoundation", "KVOTesting", "KVORuntime", "CKVORuntime",
        "CFixtures",
      ],
      exclude: ["Names.txt"]),
    // Code moved here from Apple's platforms. The originals compile on those platforms only.
    .testTarget(
      name: "MigrationTests", dependencies: ["KVOFoundation", "KVORuntime"],
      path: "Tests/Migration",
      exclude: ["Originals", "Corpus", "Expected"]),
  ],
  swiftLanguageModes: [.v6],
  cLanguageStandard: .c11,
  cxxLanguageStandard: .cxx17
)
