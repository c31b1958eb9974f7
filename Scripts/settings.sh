# shellcheck shell=bash
# Programs of Tests/Settings, one that uses what there is, and one whose module is compiled without reflection
# metadata: as targets of a package, and what they must print, which is in the files beside them.

# settings_targets FOLDER: the targets of a manifest, the folder being theirs in its package.
settings_targets() {
  cat <<END
    .target(name: "Model", dependencies: ["KVORuntime"], path: "$1/Model"),
    .target(
      name: "Panels", dependencies: ["KVORuntime"], path: "$1/Panels",
      swiftSettings: [.defaultIsolation(MainActor.self)]),
    .executableTarget(name: "Program", dependencies: ["KVORuntime", "Model", "Panels"], path: "$1/Program"),
    .executableTarget(
      name: "Bare", dependencies: ["KVORuntime"], path: "$1/Bare",
      swiftSettings: [.unsafeFlags(["-Xfrontend", "-disable-reflection-metadata"])]),
END
}

# expect NAME PROGRAM: runs a program, and compares what it prints.
settings=0
expect() {
  local expected
  expected=Tests/Settings/$(basename "$2").txt
  settings=$((settings + 1))
  timeout 60 "$2" | diff "$expected" - || complain "$1: ${2##*/} does not print what $expected says"
}

# expect_stop NAME PROGRAM ARGUMENT TEXT: runs a program that must stop with a message.
expect_stop() {
  local said
  said=$(SWIFT_BACKTRACE=enable=no timeout 60 "$2" "$3" 2>&1 >/dev/null) &&
    complain "$1: ${2##*/} $3 does not stop"
  [[ $said == *"$4"* ]] || complain "$1: ${2##*/} $3 says '$said', not '$4'"
}

expect_all() {
  expect "$1" "$bin/Program"
  [ "$("$bin/Program" keys)" = "kept overridable computed" ] || complain "$1: keys have other names"
  expect "$1, without reflection metadata" "$bin/Bare"
  expect_stop "$1" "$bin/Bare" key 'Forgotten was compiled without reflection metadata, so "count"'
  expect_stop "$1" "$bin/Bare" key-path 'Declare it in registerKeys()'
}

# expect_stripped PROGRAM COPY: of the release build, where nothing but the runtime's own records names anything.
expect_stripped() {
  llvm-strip -o "$2" "$1"
  expect stripped "$2"
  expect_stop stripped "$2" keys \
    "key(of:) can't name \\Plain.<a property of type Int>: nothing tells the name of this property of Plain"
}
