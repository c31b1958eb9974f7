"""Links the tests with libraries that are compiled in another way.

Usage: variant.py BUILD_FOLDER SCRATCH_FOLDER WAY

BUILD_FOLDER has the built tests. They are not compiled again: that would take several times as long as everything else,
and a sanitizer would find only mistakes of the tests in them. Every object of the way's libraries is replaced, and must
contain the way's mark. The program must report the errors of Tests/Checks/planted.c. The program ObservationBridge,
which the tests start, is linked beside them. Prints the path of the tests.
"""

import dataclasses
import os
import pathlib
import shutil
import subprocess
import sys

import link_variants

C_LIBRARIES = [link_variants.LIBRARY, link_variants.C_OBSERVATION]
LIBRARIES = [*C_LIBRARIES, link_variants.OVERLAY, link_variants.CHANGE_LOGS, link_variants.FOUNDATION]
LIBRARIES += [link_variants.TESTING, link_variants.OBSERVATION]
# The parts of the tests' support that are compiled again as well: C, which reads memory that the runtime may have
# freed; and, for the thread sanitizer, everything that makes threads meet.
C_SUPPORT = [link_variants.FIXTURES, link_variants.SIGNATURES]
SWIFT_SUPPORT = [pathlib.Path("Tests/Support", name) for name in ("TestSupport", "TestScopes", "ModelFixtures")]
PLANTED = pathlib.Path("Tests/Checks/planted.c")
# Not optimised: optimising takes most of the compile time, and removes accesses.
LINES = ["-O0", "-gline-tables-only", "-fno-omit-frame-pointer"]


@dataclasses.dataclass
class Way:
    libraries: list
    c: list  # compiler flags
    swift: list = ()
    link: list = ()
    mark: bytes = b""  # in each object
    added: pathlib.Path | None = None  # a source that is linked, too, and its flags
    flags: list = ()
    reports: dict = dataclasses.field(default_factory=dict)  # of planted errors


SANITIZED = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
# With exceptions, a function that an exception leaves reports that to the sanitizer, whose own stack would overflow
# otherwise.
THREAD = ["-fsanitize=thread", "-fexceptions"]
# The counters are in a mapped file, so that processes that a test makes stop are counted, too. They are atomic: the
# number of times that an `else` is run is a difference of two counters, which would be wrong if threads lost an
# increment.
COUNTERS = ["-fprofile-instr-generate", "-fcoverage-mapping", "-mllvm", "-runtime-counter-relocation"]
COUNTERS += ["-fprofile-update=atomic"]
WAYS = {
    "address": Way(
        [*LIBRARIES, *C_SUPPORT],
        [*LINES, *SANITIZED],
        ["-sanitize=address", "-gline-tables-only"],
        ["-fsanitize=address"],
        b"__asan_init",
        PLANTED,
        [*LINES, *SANITIZED],
        {"free": "heap-use-after-free", "shift": "shift exponent 40 is too large"},
    ),
    "thread": Way(
        [*LIBRARIES, *C_SUPPORT, *SWIFT_SUPPORT],
        [*LINES, *THREAD],
        ["-sanitize=thread", "-gline-tables-only"],
        ["-fsanitize=thread", "-lBlocksRuntime", "-ldispatch"],  # the sanitizer replaces their functions
        b"__tsan_init",
        PLANTED,
        [*LINES, *THREAD],
        {"race": "data race"},
    ),
    "optimised": Way(LIBRARIES, ["-O2"], ["-O"]),
    # With delays at every atomic operation and lock.
    "delayed": Way(
        [link_variants.LIBRARY],
        link_variants.DELAYED,
        link=[link_variants.STRIPPED],
        added=link_variants.CHAOS / "chaos.c",
        flags=["-O1"],
    ),
    "counted": Way(
        [link_variants.LIBRARY],
        COUNTERS,
        link=["-fprofile-instr-generate", link_variants.STRIPPED],
        mark=b"__llvm_covmap",
        added=pathlib.Path("Tests/Checks/counters.c"),
    ),
}


def compile_library(library, into, build, way):
    if link_variants.is_c(library):
        return link_variants.compile_c(library, into, *way.c)
    return link_variants.compile_module(library, into, build, *way.swift)


def link(build, objects, scratch, *options):
    """Links a program with those of the libraries that it contains."""
    own = {library: made for library, made in objects.items() if build.objects_of(library)}
    return build.link(own, scratch, *options)


def plant(program, reports):
    """Fails unless the program reports each error that is planted in it."""
    for error, report in reports.items():
        environment = os.environ | {"KVO_PLANTED": error}
        result = subprocess.run([str(program)], env=environment, text=True, capture_output=True)
        if not result.returncode or report not in result.stderr:
            sys.exit(f"the planted error {error!r} is not reported:\n{result.stderr[-2000:]}")


def main():
    folder, scratch, name = sys.argv[1:]
    way = WAYS[name]
    build, scratch = link_variants.Build(folder), pathlib.Path(scratch).resolve()
    shutil.rmtree(scratch, ignore_errors=True)
    objects = {library: compile_library(library, scratch / library.name, build, way) for library in way.libraries}
    link_variants.require_in(objects, way.mark)
    added = [str(link_variants.compile_source(way.added, scratch, *way.flags))] if way.added else []
    link(link_variants.Build(folder, "ObservationBridge"), objects, scratch, *way.link, *added)
    program = link(build, objects, scratch, *way.link, *added)
    plant(program, way.reports)
    print(program)


if __name__ == "__main__":
    main()
