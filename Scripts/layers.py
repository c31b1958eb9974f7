"""Checks that each layer of the C core uses only the layers below it.

Usage: layers.py OBJECTS_FOLDER

A layer ("room") is a folder of Sources/CKVORuntime. OBJECTS_FOLDER has each source's object as <source>.o, not
optimised, so that it refers to every function of another file that the source names. base/kvo_forward.h declares the
few upcalls. At most LARGEST_RING files may refer to one another in a cycle, and a folder may have at most MOST_FILES
files.
"""

import collections
import pathlib
import re
import subprocess
import sys

CORE = pathlib.Path("Sources/CKVORuntime")
OVERLAY = pathlib.Path("Sources/KVORuntime")
UPCALLS = CORE / "base/kvo_forward.h"
# In ascending order. Documentation/Internals/Overview.md describes the purpose of each.
ROOMS = (
    "base objects types classes values threads coding tables graph paths delivery observing interposing setting"
).split()
LEVEL = {room: level for level, room in enumerate(["include", *ROOMS])}
LARGEST_RING = 4
MOST_FILES = 16
INCLUDE = re.compile(r'^#include "(\w+)/(\w+\.h)"', re.MULTILINE)
DECLARED = re.compile(r"\b(kvo_\w+)\(")

Reference = collections.namedtuple("Reference", "source symbol target")


def sources():
    return sorted([*CORE.glob("*/*.c"), *CORE.glob("*/*.cpp")])


def headers():
    return sorted(CORE.glob("*/*.h"))


def names(object_file, option):
    command = ["llvm-nm", "--extern-only", "--format=just-symbols", option, str(object_file)]
    return set(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split())


def references(objects):
    """All references from one file to another."""
    defined = {}
    for path, object_file in objects.items():
        defined |= {symbol: path for symbol in names(object_file, "--defined-only")}
    return [
        Reference(path, symbol, defined[symbol])
        for path, object_file in objects.items()
        for symbol in sorted(names(object_file, "--undefined-only") & defined.keys())
        if defined[symbol] != path
    ]


def upcalls():
    text = re.sub(r"//.*", "", UPCALLS.read_text())
    return set(DECLARED.findall(text))


def room(path):
    return path.parent.name


def refer_upward(found, allowed):
    for reference in found:
        if reference.symbol in allowed:
            continue
        if LEVEL[room(reference.target)] > LEVEL[room(reference.source)]:
            yield (
                f"{reference.source} refers to {reference.symbol} of {reference.target}: "
                f"{room(reference.target)} is above {room(reference.source)}"
            )


def include_upward(texts):
    for path, text in texts:
        for folder, header in INCLUDE.findall(text):
            if folder not in LEVEL:
                yield f"{path} includes {folder}/{header}, which is in no room"
            elif LEVEL[folder] > LEVEL[room(path)]:
                yield f"{path} includes {folder}/{header}: {folder} is above {room(path)}"


def rings(found, allowed):
    """The sets of files that refer to one another, directly or through others."""
    reached = collections.defaultdict(set)
    for reference in found:
        if reference.symbol not in allowed:
            reached[reference.source].add(reference.target)
    for through in list(reached):
        for path in reached:
            if through in reached[path]:
                reached[path] |= reached[through]
    return {frozenset(other for other in reached[path] if path in reached[other]) for path in list(reached)}


def large_rings(found, allowed):
    for ring in rings(found, allowed):
        if len(ring) > LARGEST_RING:
            yield f"{len(ring)} files refer to one another: {' '.join(sorted(p.name for p in ring))}"


def folders():
    for folder in CORE.iterdir():
        if folder.is_dir() and folder.name not in LEVEL:
            yield f"{folder} is no room: give it a place in Scripts/layers.py"
    for folder in [*CORE.rglob("*"), OVERLAY, *OVERLAY.rglob("*")]:
        if folder.is_dir():
            files = [path for path in folder.iterdir() if path.is_file()]
            if len(files) > MOST_FILES:
                yield f"{folder} has {len(files)} files, more than {MOST_FILES}: split it"


def unused_upcalls(found, allowed):
    upward = {r.symbol for r in found if LEVEL[room(r.target)] > LEVEL[room(r.source)]}
    for symbol in sorted(allowed - upward):
        yield f"{symbol} is declared as an upcall, but nothing below calls it"


def main(folder):
    objects = {path: pathlib.Path(folder) / f"{path.name}.o" for path in sources()}
    found, allowed = references(objects), upcalls()
    texts = [(path, path.read_text()) for path in sources() + headers()]
    wrong = [
        *refer_upward(found, allowed),
        *include_upward(texts),
        *large_rings(found, allowed),
        *unused_upcalls(found, allowed),
        *folders(),
    ]
    for line in wrong:
        print(f"wrong: {line}")
    largest = max(len(ring) for ring in rings(found, allowed))
    print(
        f"{len(objects)} sources in {len(ROOMS)} rooms, {len(found)} references, "
        f"{len(allowed)} upcalls, the largest ring has {largest} files"
    )
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
