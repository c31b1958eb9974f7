"""Links the tests with what they test, and what they share, compiled for a sanitizer.

Usage: sanitize.py BUILD_FOLDER SCRATCH_FOLDER address|thread

BUILD_FOLDER has the tests, built. Tests themselves stay as they are: compiling them once more would take several times as
long as all the rest, and what a sanitizer tells of a test would be a mistake of the test alone. Prints where the program
is.
"""

import concurrent.futures
import os
import pathlib
import shutil
import sys

import relink

SWIFT_LIBRARIES = [relink.OVERLAY, pathlib.Path("Sources/KVOFoundation"), pathlib.Path("Sources/KVOTesting")]
SUPPORT = pathlib.Path("Tests/Support")
SWIFT_LIBRARIES += [SUPPORT / name for name in ("TestSupport", "TestScopes", "ModelFixtures")]
C_LIBRARIES = [relink.LIBRARY, relink.FIXTURES, relink.SIGNATURES]
# The C sources also under the sanitizer of undefined behaviour, which needs no program of its own.
C_FLAGS = {
    "address": ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"],
    "thread": ["-fsanitize=thread"],
}


def compile_c(library, into, sanitizer):
    flags = ["-O1", *C_FLAGS[sanitizer], "-g", "-fno-omit-frame-pointer", f"-I{relink.LIBRARY}/include", f"-I{relink.LIBRARY}"]

    def compile_one(path):
        return path.name, relink.compile_source(path, into, *flags, library=library)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(pool.map(compile_one, relink.sources(library)))


def main():
    build, scratch, sanitizer = sys.argv[1:]
    build, scratch = relink.Build(build), pathlib.Path(scratch).resolve()
    shutil.rmtree(scratch, ignore_errors=True)
    objects = {}
    for library in [*C_LIBRARIES, *SWIFT_LIBRARIES]:
        into = scratch / library.name
        into.mkdir(parents=True)
        if library in C_LIBRARIES:
            objects[library] = compile_c(library, into, sanitizer)
        else:
            # The models that random programs are compared with, as fast as can be: what is tested keeps its checks.
            options = ["-O"] if library.name == "TestSupport" else []
            objects[library] = relink.compile_module(library, into, build, f"-sanitize={sanitizer}", "-g", *options)
    print(build.link(objects, scratch, f"-sanitize={sanitizer}"))


if __name__ == "__main__":
    main()
