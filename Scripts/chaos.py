"""Runs the stress with delays at every atomic operation and lock of the C runtime.

Usage: chaos.py BUILD_FOLDER SCRATCH_FOLDER SECONDS SEED [MUTANT]

BUILD_FOLDER has the tests, built. The C sources are compiled apart with Tests/Chaos/chaos.h ahead of
each, and linked with what the tests are linked with otherwise: memory is poisoned, and hazard pointers are seen late.
Half of the time goes to setters by the interposers that are chosen for them and changes that may go the short way, half
to closures and the long way. With the name of a
mutant of Tests/Mutants, of the C runtime, that must be noticed.
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
PATIENCE = 300  # seconds that the run may take in addition
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


def run_tests(program, seconds, seed, closures):
    """Whether the stress ends well, and what it says."""
    command = [str(program), "--testing-library", "swift-testing", "--filter", SUITES]
    environment = {"KVO_STRESS_SECONDS": str(seconds), "KVO_SEED": str(seed)}
    environment |= {name: str(int(closures)) for name in ("KVO_FORCE_CLOSURES", "KVO_FORCE_LONG_WAY")}
    environment["SWIFT_BACKTRACE"] = "color=no"
    process = subprocess.Popen(
        command,
        env=os.environ | environment,
        text=True,
        errors="replace",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    try:
        said, _ = process.communicate(timeout=seconds + PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        said, _ = process.communicate()
        return False, said + "\nerror: the stress does not come to an end\n"
    return process.returncode == 0, said


def main():
    build, scratch, seconds, seed, *names = sys.argv[1:]
    scratch = pathlib.Path(scratch).resolve()
    mutant = names[0] if names else None
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    program = delayed_tests(relink.Build(build), scratch, mutant)
    ends_well, delays = True, 0
    for closures in (False, True):
        well, said = run_tests(program, max(1, int(seconds) // 2), seed, closures)
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
    print(f"{delays} delays in {seconds} s, seed {seed}{'' if ends_well else ': IT FAILS'}")
    sys.exit(not ends_well)


if __name__ == "__main__":
    main()
