# shellcheck shell=bash
# What the scripts share: the package's root, where builds go, the toolchain, and the installing
# of what a fresh machine lacks.

caller=$PWD
script=$(readlink -f "$0")
unset CDPATH # cd would say where it goes
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root" || exit

# from_caller PATH: the path as whoever called the script means it.
from_caller() { case $1 in /*) echo "$1" ;; *) echo "$caller/$1" ;; esac; }

# Where builds go. The default is SwiftPM's own, so that the scripts and the plain commands share.
build=$(from_caller "${KVO_BUILD_PATH:-$root/.build}")
[ -z "${KVO_BUILD_PATH-}" ] || export KVO_BUILD_PATH=$build

# How the tests are built: each module as a whole, which takes two thirds of the time that it takes file by file; without debug
# information; and without an index (Tests/XCTMain.swift). After a small change Scripts/try links the tests anew itself
# (quick_build.py).
whole=(-Xswiftc -whole-module-optimization -Xswiftc -no-emit-module-separately-wmo -Xswiftc -num-threads -Xswiftc 2)
debug=(--scratch-path "$build" "${whole[@]}" -debug-info-format none --disable-index-store)

# Warnings are errors where the package checks itself. Package.swift does not say so: a user may have another compiler.
strict=(-Xswiftc -warnings-as-errors -Xcc -Werror)
[ -z "${CI-}${KVO_STRICT-}" ] || debug+=("${strict[@]}")

# For packages that depend on this one: in one scratch folder they share one build of the library. SwiftPM would take the plan
# that an earlier package has left there for the plan of the next, so each plans anew.
plan_anew=(--disable-build-manifest-caching)
beside=(--scratch-path "$build/beside" "${plan_anew[@]}" "${debug[@]:2}")

# build_tests: builds the tests and the two programs that tests start; sets bin. Snippets, examples and benchmarks are not built.
# Scripts/check does so once for all checks of a ring: SwiftPM lets only one process use a folder, even if there is nothing to build.
#
# `built-from` names the tree that they were built from. The tree is read before the build, since a file that is edited
# during the build may not be compiled; and the name is written only if the build succeeds.
build_tests() {
  local product tree
  if [ -n "${KVO_TESTS_ARE_BUILT-}" ]; then read_bin && return; fi
  read_bin
  rm -f "$bin/built-from"
  tree=$(tree_now) || return
  for product in KVORuntimePackageTests kvo-move ObservationBridge; do
    swift build --product $product "${debug[@]}" || return
  done
  echo "$tree" >"$bin/built-from"
}

# tree_now: the git tree of the package's own folders as they are, tracked or not. An index of its own is kept, so that git
# hashes only files that have changed since; each call works on a copy, which has the time of the original: git compares it with
# the files' times.
tree_now() {
  local -x GIT_INDEX_FILE
  mkdir -p "$build"
  GIT_INDEX_FILE=$(mktemp -u "$build/index.XXXXXX")
  [ ! -e "$build/index" ] || cp -p "$build/index" "$GIT_INDEX_FILE"
  git add --all -- "${own_folders[@]}" && git write-tree || { rm -f "$GIT_INDEX_FILE" && return 1; }
  mv "$GIT_INDEX_FILE" "$build/index"
}

# Sets bin: where the debug build has its programs.
read_bin() { bin=$build/debug; }

# help_if_asked ARGUMENT...: prints what is said at the head of the script.
help_if_asked() {
  [ "${1-}" = --help ] || return 0
  sed -n '2,/^set/s/^# \{0,1\}//p' "$script"
  exit
}

fail() {
  printf '%s: %s\n' "${0##*/}" "$1" >&2
  exit 1
}

# require_numbers ARGUMENT...: each is one, the first, which says how many, is not 0, and there are two at most.
require_numbers() {
  local argument
  for argument in "$@"; do
    [[ $argument =~ ^[0-9]+$ ]] || fail "'$argument' is no number: see --help"
  done
  [[ ! ${1-} =~ ^0+$ ]] || fail "$1 is nothing to do: see --help"
  [ $# -le 2 ] || fail "there are too many arguments: see --help"
}

# complain MESSAGE: what a check has found wrong. It looks further, and ends with `finish SUMMARY`.
findings=0
complain() {
  echo "wrong: $1"
  findings=$((findings + 1))
}

finish() {
  echo "$1"
  exit $((findings > 0))
}

# tell_failures LOG LINES FRAMES: the lines of a log that tell failures, at most so many.
tell_failures() {
  awk -f Scripts/failures.awk -v most="$2" -v frames="$3" "$1" | sed 's/^/    /'
}

# Puts the toolchain's other programs (clang, llvm-nm …) into reach and ahead of the system's.
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
  # One at a time: checks run beside each other, and of two that fetch Debian's lists one would fail.
  (
    flock 9
    "${as_root[@]}" apt-get update -qq >&2
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
      apt-get install -y -qq --no-install-recommends "$@" >&2
  ) 9>"$build/installing" || fail "apt-get could not install $*"
}

# judge_tests LOG: fails if no test ran, and if one was skipped.
judge_tests() {
  local status=0
  grep -q 'Test run with [1-9][0-9]* tests\{0,1\} ' "$1" || { echo "wrong: no test was run" && status=1; }
  if grep '^➜.* skipped' "$1" | sed 's/^➜ */wrong: a test was skipped: /' | grep .; then status=1; fi
  return $status
}

# run_tests OPTION... [-- OPTION...]: runs the tests, having built nothing besides: `swift test` alone
# builds all examples and benchmarks first. What stands behind `--` is for running.
run_tests() {
  local options=("${whole[@]}")
  while [ $# -gt 0 ] && [ "$1" != -- ]; do options+=("$1") && shift; done
  swift build --product KVORuntimePackageTests "${options[@]}"
  swift test --skip-build --disable-xctest "${options[@]}" "${@:2}"
}

# What reads and writes Swift source, on one thread, without a pointer, and without the runtime.
skip_text=(--skip SwiftSourceTests --skip KVOExpansionTests --skip KVOMoveTests)

# have PROGRAM...: whether all of them are there. (`command -v` is content with one.)
have() {
  local program
  for program; do command -v "$program" >/dev/null || return 1; done
}

# libffi's headers, and pkg-config, by which SwiftPM finds them.
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

# The model checker, and the compiler that it calls.
require_spin() {
  have spin gcc || install_packages "spin (for the checks alone)" spin gcc libc6-dev
}

require_gdb() {
  have gdb || install_packages "gdb (for the checks alone)" gdb
}

# A terminal that a script can type on and look at.
require_tmux() {
  have tmux || install_packages "tmux (for the checks alone)" tmux
}

# Where a file that git does not track yet can be the package's. What else is at the top level, such as a build folder by
# another name, is not looked into.
own_folders=(Sources Tests Benchmarks Snippets Examples Documentation Scripts Package.swift)
own=(-x '/*')
for folder in "${own_folders[@]}"; do own+=(-x "!/$folder"); done

# files PATTERN...: the package's files that match, NUL-terminated, as git sees the working tree: tracked, or new in one of
# the package's own folders and not ignored.
files() {
  git ls-files -z --cached --others --exclude-standard "${own[@]}" -- "$@" |
    while IFS= read -r -d '' file; do
      if [ -e "$file" ]; then printf '%s\0' "$file"; fi
    done
}

# changed_files COMMIT: the package's files that differ from a commit, are new or are gone, NUL-terminated.
changed_files() {
  git diff --name-only -z "$1"
  git ls-files -z --others --exclude-standard "${own[@]}"
}

# Programs and libraries that are fetched are kept apart from builds, so that a new clone does not fetch them again.
cache=${KVO_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/kvoruntime}

# cached NAME COMMAND...: makes $cache/NAME by a command, which gets a folder's path, unless an earlier call has made it.
# It may be called twice at once. Sets place.
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

# require_from_index PACKAGE VERSION: has such a Python in `place`, for the version of Python that is there.
require_from_index() {
  require_python
  cached "$1-$2-python$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')" fetch_python "$1" "$2"
}

# clang-format makes different layouts in different versions, hence the pin.
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

# What draws pictures. Another version may draw the same figures otherwise, hence the pin.
matplotlib_version=3.10.8

# Sets matplotlib_python to a Python that has it.
require_matplotlib() {
  require_from_index matplotlib "$matplotlib_version"
  matplotlib_python=$place/bin/python3
}

require_gtk() {
  pkg-config --exists gtk4 || install_packages "GTK 4 (for the desktop samples alone)" libgtk-4-dev
}

# A screen that nobody sees, and what drives windows as assistive technology does: Debian's Python has its bindings.
require_window_driver() {
  if have Xvfb xauth xdotool maim dbus-run-session &&
    /usr/bin/python3 -c 'import gi; gi.require_version("Atspi", "2.0")' 2>/dev/null; then
    return
  fi
  install_packages "what drives windows (for the checks alone)" xvfb xauth xdotool maim dbus at-spi2-core \
    python3 python3-gi gir1.2-atspi-2.0 adwaita-icon-theme fonts-dejavu-core
}

# A browser that needs no screen.
require_chromium() {
  have chromium || install_packages "a browser (for the checks alone)" chromium
}

# What drives the browser.
playwright_version=1.65.2

# Sets playwright_python to a Python that has it.
require_playwright() {
  require_from_index playwright "$playwright_version"
  playwright_python=$place/bin/python3
}

# require_cross TRIPLE EMULATOR ARCHITECTURE: compilers for another processor, and what runs its programs here.
require_cross() {
  have "$1-gcc" "$1-g++" "$2" ||
    install_packages "what compiles for $3 (for the checks alone)" \
      "gcc-$1" "g++-$1" "libc6-dev-$3-cross" qemu-user
}

# fetch_libffi ARCHITECTURE FOLDER: libffi of another processor's Debian, into a folder, past the system's own packages.
fetch_libffi() {
  local lists=$2/lists
  mkdir -p "$lists"/{lists/partial,cache/archives/partial}
  touch "$lists/status"
  local options=(-o "APT::Architecture=$1" -o "APT::Architectures=$1" -o "Dir::State=$lists"
    -o "Dir::State::status=$lists/status" -o "Dir::Cache=$lists/cache"
    -o Debug::NoLocking=1 -o APT::Sandbox::User=root)
  apt-get "${options[@]}" update -qq &&
    (cd "$lists" && apt-get "${options[@]}" download -qq libffi8 libffi-dev) || return
  for package in "$lists"/*.deb; do dpkg -x "$package" "$2" || return; done
  rm -r "$lists"
}

# require_libffi_of ARCHITECTURE: has it in `place`.
require_libffi_of() {
  cached "libffi-$1-$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)" fetch_libffi "$1"
}

require_debhelper() {
  have dh dpkg-buildpackage gcc g++ make ||
    install_packages "debhelper (for Debian packages)" debhelper dpkg-dev fakeroot gcc g++ make
}
