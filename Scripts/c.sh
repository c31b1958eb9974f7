# shellcheck shell=bash disable=SC2034 # the checks use what this file sets
# What the checks of the C sources share: compiling them, and listing what the headers declare,
# without SwiftPM.

source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

c_sources=(Sources/CKVORuntime/*/*.c)
c_headers=(Sources/CKVORuntime/include/*.h)
# As in Package.swift.
c_flags=(-std=c11 -D_GNU_SOURCE -ISources/CKVORuntime/include -ISources/CKVORuntime)

# Sets link_flags to what links libffi, by the toolchain's own linker.
read_link_flags() {
  read -ra link_flags < <(pkg-config --cflags --libs libffi)
  link_flags+=(-fuse-ld=lld)
}

# compile_cplusplus FOLDER FLAG...: what is C++ of the runtime, beside which C is compiled with -DKVO_EXCEPTIONS and linked
# with libstdc++, as in Package.swift. Sets `cplusplus_objects`.
compile_cplusplus() {
  cplusplus_objects=()
  local source
  for source in Sources/CKVORuntime/*/*.cpp; do
    cplusplus_objects+=("$1/$(basename "$source").o")
    clang++ -c -O2 -std=c++17 "${@:2}" "${c_flags[@]:1}" "$source" -o "${cplusplus_objects[-1]}"
  done
}

# c_symbol_graph FILE HEADER...: writes what headers declare, with the documentation comments.
c_symbol_graph() {
  clang -extract-api --product-name=CKVORuntime -x c-header -std=c11 -o "$1" "${@:2}"
}

# declared_symbols FILE: the functions and variables of external linkage in such a symbol graph.
# Clang identifies them as c:@F@name and c:@name, and others by the header or kind that they are of.
declared_symbols() {
  grep -oE '"precise":"c:@(F@)?[A-Za-z0-9_]+"' "$1" | sed -E 's/.*@(.*)"/\1/' | sort -u
}
