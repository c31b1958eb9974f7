"""Runs the stress with delays at every atomic operation and lock of the C runtime.

Usage: chaos.py BUILD_FOLDER SCRATCH_FOLDER ROUNDS SEED [MUTANT]

BUILD_FOLDER has the tests, built. The C sources are compiled apart with Tests/Chaos/chaos.h ahead of
each, and linked with what the tests are linked with otherwise: memory is poisoned, and hazard pointers are seen late.
Each scenario is run in so many rounds of a fixed number of steps, from SEED on: once with setters by the interposers that
are chosen for them and changes that may go the short way, once with closures and the long way. With the name of a mutant of Tests/Mutants, of the C runtime, that must be noticed.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import relink
from mutant import MUTANTS, Mutant

SUITES = r"\.StressTests/"
TOLD = re.compile(r"^chaos: ([1-9]\d*) delays", re.M)


def library(scratch, mutant):
    """The C library's sources; in a folder apart if they are sabotaged."""
    if not mutant:
        return relink.LIBRARY
    copy = scratch / relink.LIBRARY.name
    sabotage = Mutant.read(MUTANTS / f"{mutant}.mutant")
    shutil.copytree(relink.LIBRARY, copy)
    place = copy / sabotage.file.relative_to(relink.LIBRARY)
    place.write_text(sabotage.apply(place.read_text()))
    return copy


def delayed_tests(build, scratch, mutant):
    objects = {relink.LIBRARY: relink.compile_c(library(scratch, mutant), scratch, *relink.DELAYED)}
    return build.link(objects, scratch, relink.STRIPPED, str(relink.compile_delays(scratch)))


def run_tests(program, rounds, seed, closures):
    """Whether the stress ends well, and what it says."""
    command = [str(program), "--testing-library", "swift-testing", "--filter", SUITES]
    environment = {"KVO_STRESS_ROUNDS": str(rounds), "KVO_SEED": str(seed)}
    environment |= {name: str(int(closures)) for name in ("KVO_FORCE_CLOSURES", "KVO_FORCE_LONG_WAY")}
    environment["SWIFT_BACKTRACE"] = "color=no"
    # What hangs is ended by the tests' own watchdog.
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
    program = delayed_tests(relink.Build(build), scratch, mutant)
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
