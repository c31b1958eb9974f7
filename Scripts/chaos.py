"""Runs the stress with delays at every atomic operation and lock of the C runtime.

Usage: chaos.py BUILD_FOLDER SCRATCH_FOLDER ROUNDS SEED [MUTANT]

BUILD_FOLDER has the built tests. The C sources are compiled separately, with Tests/Chaos/chaos.h included before each, and
replace the library's objects in the tests. Freed memory is poisoned, and hazard pointers become visible late.

Each scenario runs for ROUNDS rounds of a fixed number of steps, beginning with SEED. It runs once with the interposers that
are selected for its setters and with the fast path allowed, and once with closures and the slow path only. MUTANT names a
mutant of the C runtime in Tests/Mutants, which this run must notice.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import link_variants
from mutant import MUTANTS, Mutant

SUITES = r"\.StressTests/"
TOLD = re.compile(r"^chaos: ([1-9]\d*) delays", re.M)


def library(scratch, mutant):
    """The C library's sources; a copy of them if a mutant is applied."""
    if not mutant:
        return link_variants.LIBRARY
    copy = scratch / link_variants.LIBRARY.name
    sabotage = Mutant.read(MUTANTS / f"{mutant}.mutant")
    shutil.copytree(link_variants.LIBRARY, copy)
    place = copy / sabotage.file.relative_to(link_variants.LIBRARY)
    place.write_text(sabotage.apply(place.read_text()))
    return copy


def delayed_tests(build, scratch, mutant):
    objects = {link_variants.LIBRARY: link_variants.compile_c(library(scratch, mutant), scratch, *link_variants.DELAYED)}
    return build.link(objects, scratch, link_variants.STRIPPED, str(link_variants.compile_delays(scratch)))


def run_tests(program, rounds, seed, closures):
    """Runs the stress. Returns whether it succeeded, and its output."""
    command = [str(program), "--testing-library", "swift-testing", "--filter", SUITES]
    environment = {"KVO_STRESS_ROUNDS": str(rounds), "KVO_SEED": str(seed)}
    environment |= {name: str(int(closures)) for name in ("KVO_FORCE_CLOSURES", "KVO_DISABLE_FAST_PATH")}
    environment["SWIFT_BACKTRACE"] = "color=no"
    # The tests' own watchdog ends a run that hangs.
    process = subprocess.run(
        command,
        env=os.environ | environment,
        text=True,
        errors="replace",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    return process.returncode == 0, process.stdout


def main():
    build, scratch, rounds, seed, *names = sys.argv[1:]
    scratch = pathlib.Path(scratch).resolve()
    mutant = names[0] if names else None
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    program = delayed_tests(link_variants.Build(build), scratch, mutant)
    ends_well, delays = True, 0
    for closures in (False, True):
        well, said = run_tests(program, rounds, seed, closures)
        print(said, flush=True)
        if well and not TOLD.search(said):
            sys.exit("there were no delays: the stress has shown nothing")
        delays += sum(map(int, TOLD.findall(said)))
        ends_well = ends_well and well
        if mutant and not well:
            break
    if mutant:
        print(f"{mutant} is {'not ' if ends_well else ''}noticed, seed {seed}")
        sys.exit(ends_well)
    print(f"{delays} delays in {rounds} rounds, seed {seed}{'' if ends_well else ': IT FAILS'}")
    sys.exit(not ends_well)


if __name__ == "__main__":
    main()
