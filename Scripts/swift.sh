# shellcheck shell=bash disable=SC2034 # the checks use what this file sets
# Shared by the checks of the Swift modules' public interface.

source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# The modules that users import.
modules=(KVORuntime KVOChangeLogs KVOFoundation KVOObservation KVOTesting)

# Builds the Swift modules. Sets module_flags, with which these modules and those of C are found; and plugin_flags,
# with which swiftc finds the macros.
build_module() {
  local map module
  if [ -z "${KVO_TESTS_ARE_BUILT-}" ]; then
    for module in "${modules[@]:1}"; do # each also builds KVORuntime
      swift build "${debug[@]}" --target "$module"
    done
  fi
  module_flags=(-I "$bin/Modules" -Xcc "-I$root/Sources/CKVORuntime/include")
  plugin_flags=(-load-plugin-executable "$bin/KVOMacros-tool#KVOMacros")
  for map in "$bin"/*.build/module.modulemap Sources/*/module.modulemap Sources/*/*/module.modulemap; do
    module_flags+=(-Xcc "-fmodule-map-file=$map")
  done
}

# symbol_graph MODULE FOLDER OPTION...: writes the declarations of a module, and its extensions of other modules.
# Internal declarations are included, since the extractor would omit public ones with an underscore otherwise.
symbol_graph() {
  mkdir -p "$2"
  swift-symbolgraph-extract -module-name "$1" -target "$(clang -print-target-triple)" \
    -minimum-access-level internal -skip-synthesized-members -output-dir "$2" \
    "${module_flags[@]}" "${@:3}"
  [ -e "$2/$1.symbols.json" ] || fail "no symbol graph of $1"
}

# objects_of MODULE...: the object files of the modules' sources, each ended by NUL. Objects of deleted sources stay in
# the folder, so they are not listed from there.
objects_of() {
  local module source object
  for module; do
    while read -r source; do
      object=$bin/$module.build/$source.o
      [ "${source##*.}" != swift ] || object=$bin/$module.build/${source##*/}.o
      [ ! -e "$object" ] || printf '%s\0' "$object"
    done < <(find "Sources/$module" -type f \( -name '*.swift' -o -name '*.c' -o -name '*.cpp' \) -printf '%P\n')
  done
}
