"""Links the tests with libraries that are compiled for a sanitizer, or optimised.

Usage: sanitize.py BUILD_FOLDER SCRATCH_FOLDER address|thread|optimised

BUILD_FOLDER has the built tests. They are not compiled again: that would take several times as long as everything else, and
a sanitizer would find only mistakes of the tests in them. Every object of each library is replaced, and must contain calls
of the sanitizer. The program must report the errors of Tests/Checks/planted.c. The program ObservationBridge, which the
tests start, is linked beside them. Prints the path of the tests.
"""

import os
import pathlib
import shutil
import subprocess
import sys

import link_variants

SWIFT_LIBRARIES = [link_variants.OVERLAY, link_variants.FOUNDATION, link_variants.TESTING, link_variants.OBSERVATION]
C_LIBRARIES = [link_variants.LIBRARY, link_variants.C_OBSERVATION]
# The parts of the tests' support that are compiled again as well: C, which reads memory that the runtime may have freed;
# and, for the thread sanitizer, everything that makes threads meet.
C_SUPPORT = [link_variants.FIXTURES, link_variants.SIGNATURES]
SWIFT_SUPPORT = [pathlib.Path("Tests/Support", name) for name in ("TestSupport", "TestScopes", "ModelFixtures")]
SUPPORT = {"address": C_SUPPORT, "thread": C_SUPPORT + SWIFT_SUPPORT, "optimised": []}
PLANTED = pathlib.Path("Tests/Checks/planted.c")
# Not optimised: optimising takes most of the compile time, and removes accesses.
LINES = ["-O0", "-gline-tables-only", "-fno-omit-frame-pointer"]
C_FLAGS = {
    "address": [*LINES, "-fsanitize=address,undefined", "-fno-sanitize-recover=all"],
    # With exceptions, a function that an exception leaves reports that to the sanitizer, whose own stack would overflow
    # otherwise.
    "thread": [*LINES, "-fsanitize=thread", "-fexceptions"],
    "optimised": ["-O2"],
}
SWIFT_FLAGS = {
    "address": ["-sanitize=address", "-gline-tables-only"],
    "thread": ["-sanitize=thread", "-gline-tables-only"],
    "optimised": ["-O"],
}
LINK_FLAGS = {
    "address": ["-fsanitize=address"],
    "thread": ["-fsanitize=thread", "-lBlocksRuntime", "-ldispatch"],  # the sanitizer replaces their functions
    "optimised": [],
}
# The function that each object calls, and the reports of the planted errors.
MARKS = {"address": b"__asan_init", "thread": b"__tsan_init"}
REPORTS = {
    "address": {"free": "heap-use-after-free", "shift": "shift exponent 40 is too large"},
    "thread": {"race": "data race"},
    "optimised": {},
}


def compile_library(library, into, build, way):
    if library in C_LIBRARIES + C_SUPPORT:
        return link_variants.compile_c(library, into, *C_FLAGS[way])
    return link_variants.compile_module(library, into, build, *SWIFT_FLAGS[way])


def of_program(objects, build):
    """The objects of the libraries that a program contains."""
    return {library: made for library, made in objects.items() if build.objects_of(library)}


def plant(program, way):
    """Fails unless the program reports each error that is planted in it."""
    for error, report in REPORTS[way].items():
        environment = os.environ | {"KVO_PLANTED": error}
        result = subprocess.run([str(program)], env=environment, text=True, capture_output=True)
        if not result.returncode or report not in result.stderr:
            sys.exit(f"the planted error {error!r} is not reported:\n{result.stderr[-2000:]}")


def main():
    build, scratch, way = sys.argv[1:]
    bridge = link_variants.Build(build, "ObservationBridge")
    build, scratch = link_variants.Build(build), pathlib.Path(scratch).resolve()
    shutil.rmtree(scratch, ignore_errors=True)
    objects = {
        library: compile_library(library, scratch / library.name, build, way)
        for library in [*C_LIBRARIES, *SWIFT_LIBRARIES, *SUPPORT[way]]
    }
    if way in MARKS:
        link_variants.require_in(objects, MARKS[way])
    planted = link_variants.compile_source(PLANTED, scratch, *C_FLAGS[way])
    bridge.link(of_program(objects, bridge), scratch, *LINK_FLAGS[way])
    program = build.link(of_program(objects, build), scratch, *LINK_FLAGS[way], str(planted))
    plant(program, way)
    print(program)


if __name__ == "__main__":
    main()
