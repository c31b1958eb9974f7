# shellcheck shell=bash
# Shared by all scripts: the package's root, the build folder, the toolchain, and the installation of missing packages.

caller=$PWD
script=$(readlink -f "$0")
unset CDPATH # with CDPATH, cd would print the folder
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root" || exit

# from_caller PATH: a path relative to the caller's folder, made absolute.
from_caller() { case $1 in /*) echo "$1" ;; *) echo "$caller/$1" ;; esac; }

# The build folder. The default is SwiftPM's own, so that scripts and plain commands share it.
build=$(from_caller "${KVO_BUILD_PATH:-$root/.build}")
[ -z "${KVO_BUILD_PATH-}" ] || export KVO_BUILD_PATH=$build
bin=$build/debug # the debug build's programs

# How tests are built: each module as a whole, which takes two thirds of the time of compiling file by file; without
# debug information; and without an index (Tests/XCTMain.swift). Scripts/try builds small changes itself
# (quick_build.py).
whole=(-Xswiftc -whole-module-optimization -Xswiftc -no-emit-module-separately-wmo -Xswiftc -num-threads -Xswiftc 2)
debug=(--scratch-path "$build" "${whole[@]}" -debug-info-format none --disable-index-store)

# Warnings are errors when the package checks itself. Package.swift does not say so, since users may have other
# compilers.
strict=(-Xswiftc -warnings-as-errors -Xcc -Werror)
[ -z "${CI-}${KVO_STRICT-}" ] || debug+=("${strict[@]}")

# For packages that depend on this one: in one scratch folder they share one build of the library. SwiftPM would take an
# earlier package's plan in that folder for the next one's, so each package plans anew.
plan_anew=(--disable-build-manifest-caching)
beside=(--scratch-path "$build/beside" "${plan_anew[@]}" "${debug[@]:2}")

# build_tests: builds the tests and the two programs that tests start. Snippets, examples and benchmarks are not
# built. Scripts/check calls it once for all checks of a ring, since SwiftPM lets only one process use a folder, even if
# there is nothing to build.
#
# `built-from` names the git tree that the tests were built from. The tree is read before the build, since a file edited
# during the build may not be compiled. The name is written only if the build succeeds.
build_tests() {
  local product tree
  [ -z "${KVO_TESTS_ARE_BUILT-}" ] || return 0
  rm -f "$bin/built-from"
  tree=$(tree_now) || return
  for product in KVORuntimePackageTests kvo-move ObservationBridge; do
    swift build --product $product "${debug[@]}" || return
  done
  echo "$tree" >"$bin/built-from"
}

# tree_now: the git tree of the package's own folders in their current state, tracked or not. It keeps an index of its
# own, so that git hashes only files that have changed since. Each call works on a copy that has the original's time,
# because git compares it with the files' times.
tree_now() {
  local -x GIT_INDEX_FILE
  mkdir -p "$build"
  GIT_INDEX_FILE=$(mktemp -u "$build/index.XXXXXX")
  [ ! -e "$build/index" ] || cp -p "$build/index" "$GIT_INDEX_FILE"
  git add --all -- "${own_folders[@]}" && git write-tree || { rm -f "$GIT_INDEX_FILE" && return 1; }
  mv "$GIT_INDEX_FILE" "$build/index"
}

# help_if_asked ARGUMENT...: prints the comment at the head of the script if an argument is --help.
help_if_asked() {
  [[ " $* " = *" --help "* ]] || return 0
  sed -n '2,/^set/s/^# \{0,1\}//p' "$script"
  exit
}

# commit_seed: a seed for random programs. Each commit has new programs; another run of the same commit tries the same
# ones.
commit_seed() { echo $((16#$(git rev-parse --short=7 HEAD))); }

fail() {
  printf '%s: %s\n' "${0##*/}" "$1" >&2
  exit 1
}

# require_numbers ARGUMENT...: fails unless there are at most two arguments, all are numbers, and the first, a count, is
# not
# 0.
require_numbers() {
  local argument
  for argument in "$@"; do
    [[ $argument =~ ^[0-9]+$ ]] || fail "'$argument' is no number: see --help"
  done
  [[ ! ${1-} =~ ^0+$ ]] || fail "$1 is nothing to do: see --help"
  [ $# -le 2 ] || fail "there are too many arguments: see --help"
}

# complain MESSAGE: records a finding of a check. The check continues, and ends with `finish SUMMARY`.
findings=0
complain() {
  echo "wrong: $1"
  findings=$((findings + 1))
}

finish() {
  echo "$1"
  exit $((findings > 0))
}

# tell_failures LOG LINES FRAMES: prints the lines of a log that report failures, at most LINES of them.
tell_failures() {
  awk -f Scripts/failures.awk -v most="$2" -v frames="$3" "$1" | sed 's/^/    /'
}

# Adds the toolchain's other programs (clang, llvm-nm …) to PATH, before the system's.
use_toolchain() {
  command -v swiftc >/dev/null || fail "there is no Swift in PATH: install the toolchain 6.3"
  local resources
  resources=$(swiftc -print-target-info | sed -n 's/.*"runtimeResourcePath": "\(.*\)".*/\1/p')
  PATH=$(cd "$resources/../../bin" && pwd):$PATH
}

# install_packages WHAT PACKAGE...: installs Debian packages because WHAT is missing, and says so.
install_packages() {
  local what=$1 as_root=()
  shift
  command -v apt-get >/dev/null ||
    fail "$what is missing, and there is no apt-get here: install what Debian calls $*"
  if [ "$(id -u)" -ne 0 ]; then
    sudo -n true 2>/dev/null ||
      fail "$what is missing, and this user may not install it. Run: sudo apt-get install $*"
    as_root=(sudo -n)
  fi
  echo "$what is missing: installing $*" >&2
  mkdir -p "$build"
  # One at a time: checks run concurrently, and if two fetched Debian's lists at once, one would fail.
  (
    flock 9
    "${as_root[@]}" apt-get update -qq >&2
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
      apt-get install -y -qq --no-install-recommends "$@" >&2
  ) 9>"$build/installing" || fail "apt-get could not install $*"
}

# run_judged PROGRAM REASONS OPTION...: runs built tests. Fails if one fails or hangs, if none runs, or if one is
# skipped for a reason that does not match REASONS.
run_judged() { python3 Scripts/events.py "$2" "$1" "${@:3}"; }

# run_tests OPTION... [-- OPTION...]: builds the tests alone and runs them: `swift test` would build all examples and
# benchmarks first. The options after `--` are for running only.
run_tests() {
  local options=("${whole[@]}")
  while [ $# -gt 0 ] && [ "$1" != -- ]; do options+=("$1") && shift; done
  swift build --product KVORuntimePackageTests "${options[@]}"
  swift test --skip-build --disable-xctest "${options[@]}" "${@:2}"
}

# Tests of modules that only read and write Swift source: on one thread, without pointers, and without the runtime.
skip_text=(--skip SwiftSourceTests --skip KVOExpansionTests --skip KVOMoveTests)

# have PROGRAM...: whether all these programs exist. (`command -v` succeeds if one does.)
have() {
  local program
  for program; do command -v "$program" >/dev/null || return 1; done
}

# libffi's headers, and pkg-config, with which SwiftPM finds them.
require_libffi() {
  pkg-config --exists libffi 2>/dev/null ||
    install_packages "libffi-dev or pkg-config" libffi-dev pkg-config
}

require_python() {
  python3 -c 'import venv, ensurepip' 2>/dev/null ||
    install_packages "python3 (for the checks alone)" python3 python3-venv
}

require_valgrind() {
  [ -e /usr/include/valgrind/callgrind.h ] ||
    install_packages "valgrind (for the checks alone)" valgrind
}

# The folders in which an untracked file may belong to the package. Other files at the top level, such as a build folder
# with another name, are ignored.
own_folders=(Sources Tests Benchmarks Snippets Examples Documentation Scripts Package.swift)
own=(-x '/*')
for folder in "${own_folders[@]}"; do own+=(-x "!/$folder"); done

# files PATTERN...: the package's files that match, NUL-terminated, in the working tree: tracked, or new in one of the
# package's own folders and not ignored.
files() {
  git ls-files -z --cached --others --exclude-standard "${own[@]}" -- "$@" |
    while IFS= read -r -d '' file; do
      if [ -e "$file" ]; then printf '%s\0' "$file"; fi
    done
}

# changed_files COMMIT: the package's files that differ from a commit, including new and deleted ones, NUL-terminated.
changed_files() {
  git diff --name-only -z "$1"
  git ls-files -z --others --exclude-standard "${own[@]}"
}

# Fetched programs and libraries are stored outside of builds, so that a new clone does not fetch them again.
cache=${KVO_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/kvoruntime}

# cached NAME COMMAND...: makes $cache/NAME with a command, which gets the folder's path, unless an earlier call has
# made it. It may be called twice at once. Sets place.
cached() {
  place=$cache/$1
  mkdir -p "$cache"
  (
    flock 9
    [ ! -e "$place/whole" ] || exit 0
    echo "$1 is missing: fetching it into $cache" >&2
    rm -rf "$place"
    "${@:2}" "$place" >&2 && touch "$place/whole"
  ) 9>"$cache/$1.lock" || fail "could not fetch $1"
}

# fetch_python PACKAGE VERSION FOLDER: makes a folder with a Python that has a package of the Python package index.
fetch_python() {
  python3 -m venv "$3" && "$3/bin/pip" install --quiet --disable-pip-version-check "$1==$2"
}

# require_from_index PACKAGE VERSION: sets place to such a Python, for the installed version of Python.
require_from_index() {
  require_python
  cached "$1-$2-python$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')" fetch_python "$1" "$2"
}

# The version is pinned, since clang-format's layout differs between versions.
clang_format_version=21.1.8

# Sets clang_format to a clang-format of the pinned version: the one in PATH, or one of the Python package index.
require_clang_format() {
  clang_format=$(command -v clang-format || true)
  if [ -n "$clang_format" ] && "$clang_format" --version | grep -qwF "$clang_format_version"; then
    return
  fi
  require_from_index clang-format "$clang_format_version"
  clang_format=$place/bin/clang-format
}

# Draws the pictures. The version is pinned, since another one may draw the same figures differently.
matplotlib_version=3.10.8

# Sets matplotlib_python to a Python with matplotlib.
require_matplotlib() {
  require_from_index matplotlib "$matplotlib_version"
  matplotlib_python=$place/bin/python3
}
