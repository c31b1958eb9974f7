"""Prints which changed files Scripts/try does not cover, and which checks do.

Usage: untried.py COMMIT [CHECK...] <FILES

FILES differ from COMMIT and are NUL-terminated. CHECKs have run already. A file is covered if it has a test, as a
source of a library or as a test file, or if it is a mutant that tests must notice. A check covers the files that its
head names as inputs.
"""

import pathlib
import sys

import rings
import rules
from link_variants import EXCLUDED
from mutant import all_paths
from selection import git

MOST = 5  # files named in one line
# What the macro generates is compiled and run by other tests than those of its sources.
MACRO = ("KVOExpansion", "KVOMacros")


def is_tried(file, mutants):
    """Whether a test or a mutant of this file runs."""
    path = pathlib.Path(file)
    if path.parent.name == EXCLUDED:
        return False
    if path.parts[0] == "Sources":
        return path.parts[1] in rules.MODULES and path.parts[1] not in MACRO
    has_tests = path.suffix == ".swift" and path.parts[0] == "Tests" and path.exists() and any(rules.functions_of(path))
    return has_tests or path in mutants


def inputs_of(check, commit):
    """The files that a check names, including those deleted since a commit."""
    there = git("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *check.inputs)
    return set((there + git("diff", "-z", "--name-only", commit, "--", *check.inputs)).split("\0"))


def named(names):
    more = f" and {len(names) - MOST} more" if len(names) > MOST else ""
    return ", ".join(names[:MOST]) + more


def main(commit, *ran):
    mutants = set(all_paths())
    untried = {file for file in sys.stdin.read().split("\0") if file and not is_tried(file, mutants)}
    unknown = set(untried)
    groups = {}  # the checks by their ring and the files that they cover
    for check in rings.read_checks() if untried else ():
        own = untried & inputs_of(check, commit)
        unknown -= own
        if own and check.name not in ran:
            groups.setdefault((check.ring, tuple(sorted(own))), []).append(check.name)
    for (ring, own), names in groups.items():
        print(f"not tried here: {named(own)}: Scripts/check {' '.join(names)} ({ring} ring)")
    if any(pathlib.Path(file).parts[1:2] in {(name,) for name in MACRO} for file in untried):
        print("what the macro generates is not compiled here: Scripts/test compiles and runs it")
    if unknown:
        print(f"no check tries {named(sorted(unknown))}")


if __name__ == "__main__":
    main(*sys.argv[1:])
