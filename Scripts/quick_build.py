"""Relinks the tests after a change of one source, without SwiftPM.

Usage: quick_build.py BUILD_FOLDER SCRATCH_FOLDER TREE <CHANGED

BUILD_FOLDER has the tests, built from the git tree TREE. CHANGED lists the files that differ from it, each ended by NUL.
Prints the path of the program. Prints nothing if the change needs a full build: if more than one source differs, or more
than the bodies of functions. Then SwiftPM has to compile every module that depends on the changed one, which takes minutes.
A build that another command has changed since, such as `swift build`, needs a full build, too.

A C source is compiled alone, a Swift source with its module. Other modules are not affected as long as only bodies of
functions differ; the layout made by swift-format shows where these begin and end. Bodies that the compiler copies into
other modules (ALWAYS_COPIED) count as visible; without optimisation it copies no others, not even inlinable ones.
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

FUNCTION = re.compile(r"^ *(?:@\S+ +|\w+(?:\(\w+\))? +)*(?:func\b|init\b|deinit\b|subscript\b)")
ACCESSOR = re.compile(r"^ *(?:@\S+ +|(?:non)?mutating +)*(?:get|set|_modify|_read|willSet|didSet)\b.*\{$")
COMPUTED = re.compile(r"^ *(?:@\S+ +|\w+(?:\(\w+\))? +)*var\b[^=]*\{$")
ALWAYS_COPIED = ("@_transparent", "@_alwaysEmitIntoClient")


def indentation(line):
    return len(line) - len(line.lstrip())


def end_of_block(lines, first, opening):
    """The index of the closing brace of a block; it has the indentation of the first line of the block's header."""
    closing = " " * indentation(lines[first]) + "}"
    return next((i for i in range(opening + 1, len(lines)) if lines[i].startswith(closing)), None)


def end_of_header(lines, first):
    """The index of the line that ends a function's header with a brace; None if no body follows, or one on the same line."""
    depth = indentation(lines[first])
    for i in range(first, len(lines)):
        if i > first and not lines[i].lstrip().startswith((")", "->", "where")) and indentation(lines[i]) <= depth:
            return None
        if lines[i].endswith("{"):
            return i
    return None


def begins_body(lines, i):
    if ACCESSOR.match(lines[i]):
        return True
    is_getter = COMPUTED.match(lines[i]) and i + 1 < len(lines) and not ACCESSOR.match(lines[i + 1])
    return is_getter or bool(FUNCTION.match(lines[i]))


def is_copied(lines, i):
    """Whether a function has an attribute that copies its body into other modules."""
    first = i
    while first > 0 and lines[first - 1].lstrip().startswith("@"):
        first -= 1
    return any(attribute in line for line in lines[first : i + 1] for attribute in ALWAYS_COPIED)


def body(lines, i):
    """The lines of the body after the header at line `i`, as a range; empty if there is none to leave out."""
    last = end_of_header(lines, i) if begins_body(lines, i) and not is_copied(lines, i) else None
    end = None if last is None else end_of_block(lines, i, last)
    return range(0) if end is None else range(last + 1, end)


def without_bodies(text):
    """The lines of a Swift source without comments and without bodies of functions and accessors."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("//")]
    kept, i = [], 0
    while i < len(lines):
        inside = body(lines, i)
        kept += lines[i : inside.start] if inside else [lines[i]]
        i = inside.stop if inside else i + 1
    return kept


def differs_in_bodies_alone(path, tree):
    before = subprocess.run(["git", "show", f"{tree}:{path}"], capture_output=True, text=True, check=False)
    return before.returncode == 0 and without_bodies(before.stdout) == without_bodies(path.read_text())


def library_of(path, libraries):
    return next((library for library in libraries if library in path.parents), None)


def compiled(path, tree, build, scratch):
    """The objects that the change of a source requires, by library; None if they can't be determined."""
    library = library_of(path, C_LIBRARIES)
    if library and path.suffix in (".c", ".cpp"):
        return {library: {path.name: link_variants.compile_source(path, scratch, library=library, warnings=WARNINGS)}}
    library = library_of(path, SWIFT_LIBRARIES)
    if library and path.suffix == ".swift" and differs_in_bodies_alone(path, tree):
        return {library: link_variants.compile_module(library, scratch / library.name, build)}
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
