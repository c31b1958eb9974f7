"""Relinks the tests after a change of one source, without SwiftPM.

Usage: quick_build.py BUILD_FOLDER SCRATCH_FOLDER TREE <CHANGED

BUILD_FOLDER has the tests, built from the git tree TREE. CHANGED lists the files that differ from it, each ended by NUL.
Prints the path of the program. Prints nothing if the change needs a full build: if more than one source differs, or more
than the bodies of functions. Then SwiftPM has to compile every module that depends on the changed one, which takes minutes.
A build that another command has changed since, such as `swift build`, needs a full build, too.

A C source is compiled alone, a Swift source with its module. Other modules are not affected as long as only bodies of
functions differ; the compiler's parser knows where these begin and end. Bodies that the compiler copies into other modules
(COPIED) count as visible; without optimisation it copies no others, not even inlinable ones.
"""

import pathlib
import re
import subprocess
import sys

import link_variants

SWIFT_LIBRARIES = [link_variants.OVERLAY, link_variants.FOUNDATION, link_variants.TESTING, link_variants.EXPANSION]
SWIFT_LIBRARIES += [link_variants.SOURCE, link_variants.MOVE, link_variants.OBSERVATION]
C_LIBRARIES = [link_variants.LIBRARY, link_variants.C_OBSERVATION, link_variants.FIXTURES, link_variants.SIGNATURES]
PRODUCTS = ["kvo-move", "ObservationBridge"]  # started by tests
# The folders that SwiftPM compiles for the tests. Other folders of Tests are compiled by checks, or not at all.
COMPILED = ("Sources/", "Tests/Support/", "Tests/ObservationBridge/", "Tests/Migration/", "Tests/XCTMain.swift")
COMPILED += ("Package.swift",)

WARNINGS = ["-Wall", "-Wextra", "-Wstrict-prototypes", "-Werror"]

# A node of a syntax tree, as the compiler prints it: its depth, its kind, and where it begins and ends.
NODE = re.compile(rb"( *)\((\w+) .*?range=\[<stdin>:(\d+):(\d+) - line:(\d+):(\d+)\]")
FUNCTIONS = {b"func_decl", b"accessor_decl", b"constructor_decl", b"destructor_decl"}
COPIED = {b"transparent_attr", b"always_emit_into_client_attr"}


def bodies(source):
    """The places of the bodies of functions and accessors, without copied ones, and without those in other bodies."""
    command = ["swift-frontend", "-dump-parse", "-D", "DEBUG", "-module-name", "Parsed", "-"]
    tree = subprocess.run(command, input=source, capture_output=True, check=False).stdout
    above = []  # the nodes around the next one, outermost first: depth, kind, and whether a body is copied
    for line in tree.splitlines():
        if not (node := NODE.match(line)):
            continue
        depth, kind = len(node[1]), node[2]
        while above and above[-1][0] >= depth:
            above.pop()
        if kind in COPIED:
            above[-1][2] = True
        is_inner = any(outer == b"brace_stmt" or is_copied for _, outer, is_copied in above)
        if kind == b"brace_stmt" and above and above[-1][1] in FUNCTIONS and not is_inner:
            yield tuple(map(int, node.groups()[2:]))
        above.append([depth, kind, False])


def without_bodies(source):
    """The lines of a Swift source without comments and without bodies of functions and accessors."""
    lines = source.splitlines()
    for first, begin, last, end in reversed(list(bodies(source))):
        lines[first - 1 : last] = [lines[first - 1][:begin] + lines[last - 1][end - 1 :]]
    return [line for line in lines if not line.lstrip().startswith(b"//")]


def differs_in_bodies_alone(path, tree):
    before = subprocess.run(["git", "show", f"{tree}:{path}"], capture_output=True, check=False)
    return before.returncode == 0 and without_bodies(before.stdout) == without_bodies(path.read_bytes())


def library_of(path, libraries):
    return next((library for library in libraries if library in path.parents), None)


def compiled(path, tree, build, scratch):
    """The objects that the change of a source requires, by library; None if they can't be determined."""
    library = library_of(path, C_LIBRARIES)
    if library and path.suffix in (".c", ".cpp"):
        return {library: {path.name: link_variants.compile_source(path, scratch, library=library, warnings=WARNINGS)}}
    library = library_of(path, SWIFT_LIBRARIES)
    if library and path.suffix == ".swift" and differs_in_bodies_alone(path, tree):
        return {library: link_variants.compile_module(library, scratch / library.name, build, "-warnings-as-errors")}
    return None


def is_compiled(name):
    return name.startswith(COMPILED) or bool(re.match(r"Tests/\w+Tests/", name))


def is_newer(build):
    """Whether an object was compiled after the record of the build was written."""
    recorded = (build.folder / "built-from").stat().st_mtime_ns
    return any(path.stat().st_mtime_ns > recorded for path in build.objects)


def main():
    folder, scratch, tree = sys.argv[1:]
    sources = [pathlib.Path(name) for name in sys.stdin.read().split("\0") if is_compiled(name)]
    scratch = pathlib.Path(scratch).resolve()
    scratch.mkdir(parents=True, exist_ok=True)
    build = link_variants.Build(folder)
    if is_newer(build):
        return
    if not sources:
        print("nothing to compile", file=sys.stderr)
        return print(build.program)
    objects = compiled(sources[0], tree, build, scratch) if len(sources) == 1 and sources[0].exists() else None
    if not objects:
        return
    for name in PRODUCTS:
        product = link_variants.Build(folder, name)
        if all(product.objects_of(library) for library in objects):
            product.link(objects, scratch, by_part=True)
    print(f"linked anew with {sources[0]}", file=sys.stderr)
    print(build.link(objects, scratch, by_part=True))


if __name__ == "__main__":
    main()
