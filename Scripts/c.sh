# shellcheck shell=bash disable=SC2034 # the checks use what this file sets
# Shared by the checks of the C sources: compiling them, and listing the declarations of the headers, without SwiftPM.

source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

c_sources=(Sources/CKVORuntime/*/*.c)
cplusplus_sources=(Sources/CKVORuntime/*/*.cpp)
c_headers=(Sources/CKVORuntime/include/*.h)
# These flags match Package.swift.
c_flags=(-std=c11 -D_GNU_SOURCE -ISources/CKVORuntime/include -ISources/CKVORuntime)

# What the fuzzers use of the tests' support, and how they are compiled.
fuzzed_fixtures=(Tests/Support/Fixtures/{graph,graph_items,graph_list,graph_tags,require,tracked,watcher}.c)
fuzzed_flags=(-DKVO_FAILING_MEMORY -ITests/Fuzz/Support -ITests/Support/Fixtures/include -ITests/Support/Fixtures)

# Sets link_flags to the flags that link libffi with the toolchain's own linker.
read_link_flags() {
  read -ra link_flags < <(pkg-config --cflags --libs libffi)
  link_flags+=(-fuse-ld=lld)
}

# compile NAME FLAG...: compiles the runtime, C and C++, with these flags, with all processors. The objects are in
# $build/c/NAME as <source>.o. A source whose content has not changed is not compiled again. Sets objects.
compile() {
  local folder=$build/c/$1 sources=("${c_sources[@]}" "${cplusplus_sources[@]}") ffi_flags
  read -ra ffi_flags < <(pkg-config --cflags libffi && echo)
  set -- "${@:2}" -DKVO_EXCEPTIONS "${c_flags[@]:1}" "${ffi_flags[@]}"
  mkdir -p "$folder"
  exec 9>"$folder.lock"
  flock 9
  # Each source's entry begins with this checksum, so a change of a header or a flag recompiles all sources.
  local shared
  shared=$({ clang --version && echo "$*" && cat "${c_headers[@]}" Sources/CKVORuntime/*/*.h; } | sha1sum | cut -c -40)
  sha1sum "${sources[@]}" | sed "s/^/$shared /" >"$folder/wanted"
  # Updated before compiling, so that an interrupted run leaves no wrong checksum.
  touch "$folder/compiled"
  grep -xFf "$folder/wanted" "$folder/compiled" >"$folder/still" || true
  mv "$folder/still" "$folder/compiled"
  # shellcheck disable=SC2016 # for the inner shell
  { grep -vxFf "$folder/compiled" "$folder/wanted" || true; } | sed 's/.* //' | xargs -r -P "$(nproc)" -I '{}' bash -c '
    language=(clang -std=c11)
    [[ $1 != *.cpp ]] || language=(clang++ -std=c++17)
    exec "${language[@]}" "${@:3}" -c "$1" -o "$2/${1##*/}.o"' bash '{}' "$folder" "$@"
  mv "$folder/wanted" "$folder/compiled"
  exec 9>&-
  objects=("${sources[@]##*/}")
  objects=("${objects[@]/#/$folder/}")
  objects=("${objects[@]/%/.o}")
}

# compile_all FOLDER COMMAND...: compiles the sources that it reads into objects, with all processors.
compile_all() {
  mkdir -p "$1"
  xargs -P "$(nproc)" -I '{}' sh -c '
    source=$1 folder=$2
    shift 2
    exec "$@" -c "$source" -o "$folder/$(echo "$source" | tr / _).o"' \
    sh '{}' "$@"
}

# c_symbol_graph FILE HEADER...: writes the declarations of headers, with their documentation comments.
c_symbol_graph() {
  clang -extract-api --product-name=CKVORuntime -x c-header -std=c11 -o "$1" "${@:2}"
}

# declared_symbols FILE: the functions and variables with external linkage in such a symbol graph. Clang identifies them
# as c:@F@name and c:@name. Other identifiers contain a header or a kind.
declared_symbols() {
  grep -oE '"precise":"c:@(F@)?[A-Za-z0-9_]+"' "$1" | sed -E 's/.*@(.*)"/\1/' | sort -u
}
