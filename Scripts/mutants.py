"""Breaks the libraries, a line at a time, and checks that a test of the broken rule notices.

Usage: mutants.py BUILD_FOLDER SCRATCH_FOLDER [--known | [--times N] [--write]] [RULE | MUTANT]...
       mutants.py BUILD_FOLDER SCRATCH_FOLDER --changed-since COMMIT [--tenth COUNT]

BUILD_FOLDER has the built tests. `--known` needs no build: it fails if an argument names no mutant, and does no more.
`mutant.py` describes mutants, `selection.py` which of them `--changed-since` runs.

A mutant's source is compiled outside of the tree and linked into a shared library. One of the library's tests that name
the rule must fail, crash or hang (events.py), and must pass without the mutant, in less than a fifth of the CPU time of
a hanging test. The test recorded in Tests/Mutants/noticed.txt runs first, and the rule's other tests only if it passes.
`--write` records the tests that notice now.

These do not count: a crash while no test of the rule is running; a mutant that the loader refuses, which is an error
itself. With `--times` the noticing test must notice in each of N runs, since a result that depends on the interleaving
of threads proves nothing. Code that other modules inline (`@_transparent`) can't be broken in this way.
"""

import argparse
import concurrent.futures
import functools
import os
import pathlib
import shutil
import sys
import time

import events
import mutant as mutant_module
import link_variants
import selection
from mutant import FOLDERS, MUTANTS, RULE, Mutant, Wrong, label, rule_of

NOTICED = MUTANTS / "noticed.txt"
MANY_RULES = 3  # a test that names more, at random, runs only if no other names the rule


def objects_of(mutant, build, folder):
    """The objects that differ from the build's, by the names of their sources."""
    tree = folder / mutant.library.name
    shutil.copytree(mutant.library, tree)
    place = tree / mutant.file.relative_to(mutant.library)
    place.write_text(mutant.apply(place.read_text()))
    if place.suffix == ".swift":
        return link_variants.compile_primary([place], folder, build, mutant.library, tree)
    changed = link_variants.using(place, tree) if place.suffix == ".h" else [place]
    options = link_variants.DELAYED if mutant.delays else []
    return {path.name: link_variants.compile_source(path, folder, *options, library=tree) for path in changed}


# MARK: Suites


class Suite:
    """The tests that notice the mutants of a folder, linked without the folder's library."""

    def __init__(self, name, build, names, scratch):
        self.build, self.library, self.module = build, FOLDERS[name].library, FOLDERS[name].module
        self.names = {test: said for test, said in names.items() if test.startswith(self.module + ".")}
        self.scratch = scratch / "without" / self.library.name
        self.scratch.mkdir(parents=True)
        self.prepare()

    def prepare(self):
        is_swift = self.library != link_variants.LIBRARY
        apart = self.scratch / "library"
        self.objects = link_variants.compile_apart(self.library, apart, self.build) if is_swift else {}
        self.program = self.build.link_without(self.library, self.objects, self.scratch)

    def link(self, mutant, objects, folder):
        """The tests with these objects in place of the library's."""
        delays = [str(link_variants.compile_delays(folder))] if mutant.delays else []
        self.build.link_shared(self.library, self.objects | objects, folder, *delays)
        return self.with_program(folder)

    def with_program(self, folder):
        program = folder / self.program.name
        program.unlink(missing_ok=True)
        os.link(self.program, program)
        return program

    @functools.cache
    def of_rule(self, rule):
        rules = {test: RULE.findall(name) for test, name in self.names.items()}
        naming = [test for test in rules if rule in rules[test]]
        return [test for test in naming if len(rules[test]) <= MANY_RULES] or naming

    def tests_for(self, mutant):
        tests = self.of_rule(mutant.rule) if mutant.rule else self.names
        tests = [test for test in tests if mutant.by in self.names[test]]
        if not tests:
            raise Wrong(f"no test of {self.module} names {mutant.rule} {mutant.by}")
        return tests

    def recorded(self, key):
        """The test of a record, if it still exists."""
        return next((test for test in self.names if selection.key_of(test) == key), None)


class ProgramSuite(Suite):
    """Tests that start a program beside them, which is relinked."""

    def __init__(self, name, *others):
        self.product = FOLDERS[name].product
        super().__init__(name, *others)

    def prepare(self):
        self.program = self.build.program
        self.of_product = link_variants.Build(self.build.folder, self.product)
        self.of_product.link({}, self.scratch)
        self.program = self.with_program(self.scratch)

    def link(self, mutant, objects, folder):
        self.of_product.link({mutant.library: objects}, folder, by_part=True)
        return self.with_program(folder)


def suites_for(paths, build, scratch):
    """The suites of the mutants' folders."""
    folders = {str(path.parent.relative_to(MUTANTS)) for path in paths}
    modules = sorted({FOLDERS[name].module for name in folders})
    names = events.names_of_tests(build.program, modules, scratch)
    return {
        name: (ProgramSuite if FOLDERS[name].product else Suite)(name, build, names, scratch) for name in folders
    }


# MARK: A mutant


def outcome_of(program, tests):
    """The outcome of the tests, up to the first that notices."""
    outcome = events.run_tests(program, tests)
    if outcome.fault:
        raise Wrong(outcome.fault)
    return outcome


def noticing(program, tests):
    """The outcome of a test that also notices when it runs alone."""
    left = list(tests)
    while left and (test := (outcome := outcome_of(program, left)).noticed_by):
        if len(left) == 1 or (outcome := outcome_of(program, [test])).noticed_by:
            return outcome
        left.remove(test)
    return None


def name_in(outcome, test, suite):
    """The name of a test, and how the program ended if that test did not."""
    name = suite.names.get(test, test)
    return f"{name} ({outcome.end})" if test == outcome.stopped else name


def judge(program, suite, tests, record, times):
    """The test that notices the mutant, and the text to print."""
    recorded = suite.recorded(record)
    first = [recorded] if recorded in tests else []
    outcome = noticing(program, first) or noticing(program, [test for test in tests if test not in first])
    if not outcome:
        return None, "NOT NOTICED"
    found = outcome.noticed_by
    said = name_in(outcome, found, suite)
    missed = sum(outcome_of(program, [found]).noticed_by != found for _ in range(times - 1))
    if missed:
        return None, f"NOT NOTICED {missed} of {times} times, else by {said}"
    if record and found != recorded:
        said += f" — the record is out of date, see --write: {record}"
    return found, said


def examine(path, build, suites, scratch, records, times):
    """The test that notices the mutant, and a line with its name or with the error."""
    started = time.monotonic()
    suite = suites[str(path.parent.relative_to(MUTANTS))]
    folder = scratch / label(path)
    folder.mkdir(parents=True)
    try:
        mutant = Mutant.read(path)
        tests = suite.tests_for(mutant)
        program = suite.link(mutant, objects_of(mutant, build, folder), folder)
        found, said = judge(program, suite, tests, records.get(label(path)), times)
    except (Wrong, link_variants.CommandFailed) as wrong:
        found, said = None, f"WRONG: {wrong}"
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return found, f"{label(path):36} {time.monotonic() - started:5.1f} s  {said}"


def failing_without(suite, tests):
    """A line for each of the noticing tests that also fails without a mutant."""
    outcome = events.run_tests(suite.program, tests, until_failure=False, most_cpu=events.MOST_CPU / 5)
    if outcome.fault:
        return [f"WRONG: without a mutant, {outcome.fault}"]
    failed = [*outcome.failed, *([outcome.stopped] if outcome.stopped else [])]
    return [f"WRONG: this fails without a mutant: {name_in(outcome, test, suite)}" for test in failed]


# MARK: Main program


def chosen(wanted):
    paths = mutant_module.all_paths()
    names = {path: {path.stem, label(path), rule_of(path)} for path in paths}
    for word in wanted:
        if not any(word in own for own in names.values()):
            program = mutant_module.PROGRAMS / f"{word}.txt"
            left = f"{word} is left to the scheduler: Scripts/prove --schedules {program} --with {word}"
            sys.exit(left if program.exists() else f"there is no mutant of {word}")
    return [path for path in paths if not wanted or names[path] & set(wanted)]


def write_records(records, found):
    """Writes the records of mutants that were run, keeps the others, and drops those of deleted mutants."""
    labels = {label(path) for path in mutant_module.all_paths()}
    renewed = records | {label(path): selection.key_of(test) for path, test in found.items() if test}
    lines = [f"{name:44} {renewed[name]}\n" for name in sorted(renewed) if name in labels]
    NOTICED.write_text("".join(lines))


def run_all(paths, build, scratch, records, times):
    """The noticing tests by mutant, and the number of other errors."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        suites = suites_for(paths, build, scratch)
        work = functools.partial(
            examine, build=build, suites=suites, scratch=scratch, records=records, times=times
        )
        found = {}
        for path, (test, line) in zip(paths, pool.map(work, paths)):
            print(line, flush=True)
            found[path] = test
        noticing = {}
        for path, test in found.items():
            if test in (suite := suites[str(path.parent.relative_to(MUTANTS))]).names:
                noticing.setdefault(suite, set()).add(test)
        wrong = [line for lines in pool.map(failing_without, *zip(*noticing.items())) for line in lines]
    for line in wrong:
        print(line)
    return found, len(wrong)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("build")
    arguments.add_argument("scratch", type=pathlib.Path)
    arguments.add_argument("--times", type=int, default=1)
    arguments.add_argument("--write", action="store_true")
    arguments.add_argument("--known", action="store_true")
    selection.add_arguments(arguments)
    arguments.add_argument("wanted", nargs="*")
    given = arguments.parse_intermixed_args()
    records = selection.read_records(NOTICED)
    paths = chosen(given.wanted)
    if given.known:
        return
    if given.changed_since:
        paths = selection.select(paths, records, given.changed_since, given.tenth)
    failures = 0
    if paths:
        shutil.rmtree(given.scratch, ignore_errors=True)
        given.scratch.mkdir(parents=True)
        found, wrong = run_all(paths, link_variants.Build(given.build), given.scratch, records, given.times)
        failures = wrong + sum(test is None for test in found.values())
        if given.write:
            write_records(records, found)
    rules = len({rule_of(path) for path in paths})
    print(f"{len(paths)} mutants of {rules} rules, {failures} not noticed or wrong")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
