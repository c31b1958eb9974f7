"""Builds the tests after a change of bodies of functions, without SwiftPM.

Usage: quick_build.py BUILD_FOLDER TREE <CHANGED

BUILD_FOLDER is SwiftPM's, with the tests built from the git tree TREE. CHANGED lists the files that differ from it,
each ended by NUL. If these are C sources, or differ in bodies of Swift functions alone, the commands of SwiftPM's plan
are run that compile the sources, or their modules, and that link the tests and the programs that tests start. Prints
`built` then.

Prints nothing if the change needs a full build: SwiftPM has to compile every module that depends on a changed one,
which takes minutes. A build that another command has changed since, such as `swift build`, needs a full build, too.

Other modules are not affected as long as only bodies of functions differ; the compiler's parser knows where these begin
and end. Bodies that the compiler copies into other modules (COPIED) count as visible; without optimisation it copies no
others, not even inlinable ones. The macro's plug-in stays as it was: what it generates is not tried (untried.py).
"""

import json
import pathlib
import re
import subprocess
import sys

PROGRAMS = ("/debug/KVORuntimePackageTests.xctest", "/debug/kvo-move", "/debug/ObservationBridge")
# The folders that SwiftPM compiles for the tests. Other folders of Tests are compiled by checks, or not at all.
COMPILED = ("Sources/", "Tests/Support/", "Tests/ObservationBridge/", "Tests/Migration/", "Tests/XCTMain.swift")
COMPILED += ("Package.swift",)

# A command of the plan, which is written in a part of YAML whose lists are JSON.
COMMAND = re.compile(r'^  ".*":\n((?:    .*\n)+)', re.M)
FIELD = re.compile(r"^    (inputs|outputs|args): (\[.*\])$", re.M)

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


def is_compiled(name):
    return name.startswith(COMPILED) or bool(re.match(r"Tests/\w+Tests/", name))


# MARK: The plan


def read_plan(folder):
    """The commands that compile the programs' objects, and those that link the programs."""
    blocks = COMMAND.findall((folder / "debug.yaml").read_text())
    commands = [{key: json.loads(value) for key, value in FIELD.findall(block)} for block in blocks]
    linking = [command for command in commands if command.get("outputs", [""])[0].endswith(PROGRAMS)]
    objects = {path for command in linking for path in command["inputs"] if path.endswith(".o")}
    return [command for command in commands if objects & set(command.get("outputs", []))], linking


def is_older(record, outputs):
    """Whether the record of a build is older than an output, or an output is missing."""
    recorded = record.stat().st_mtime_ns
    return any(not path.exists() or path.stat().st_mtime_ns > recorded for path in map(pathlib.Path, outputs))


def command_for(path, tree, compiling):
    """The command that the change of a file requires; None if no single one suffices."""
    own = [command for command in compiling if str(path.resolve()) in command["inputs"]]
    is_enough = path.exists() and (path.suffix != ".swift" or differs_in_bodies_alone(path, tree))
    return own[0] if len(own) == 1 and is_enough else None


def run(command):
    words = [word for word in command["args"] if word != "-parseable-output"]
    # Clang removes the object if it fails to compile it.
    trial = [["-fsyntax-only" if word == "-c" else word for word in words]] if words[0].endswith("clang") else []
    if any(subprocess.run(words, stdout=sys.stderr).returncode for words in [*trial, words]):
        sys.exit(1)


def main():
    folder, tree = pathlib.Path(sys.argv[1]), sys.argv[2]
    paths = [pathlib.Path(name) for name in sys.stdin.read().split("\0") if is_compiled(name)]
    compiling, linking = read_plan(folder)
    needed = [command_for(path, tree, compiling) for path in paths]
    outputs = [path for command in compiling for path in command["outputs"]]
    if None in needed or is_older(folder / "debug/built-from", outputs):
        return
    made = {path for command in needed for path in command["outputs"]}
    compiling = [command for command in compiling if command in needed]
    for command in [*compiling, *(command for command in linking if made & set(command["inputs"]))]:
        run(command)
    print("compiled:", *paths or ["nothing"], file=sys.stderr)
    print("built")


if __name__ == "__main__":
    main()
