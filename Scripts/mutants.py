"""Sabotages the runtime, a line at a time, and sees whether a test of the broken rule notices.

Usage: mutants.py BUILD_FOLDER SCRATCH_FOLDER [--times N] [RULE | MUTANT]...

BUILD_FOLDER has the tests, built. A mutant is a file Tests/Mutants/<rule>-<what>.mutant, or for one
of a Swift library in a folder there, Swift for the overlay, Foundation and Testing for KVOFoundation and
KVOTesting:

    What is broken, in a line or more.
    --- change.c
    @@ static void deliver_to_list(
    - for (uint32_t i = 0; i < count; i++) {
    + for (uint32_t i = count; i-- > 0;) {

A source or header of the library has its name alone, wherever it lies. The lines after `-`, which follow
each other in the file, give way to those after `+`. Indentation does not matter. They must be there exactly
once: in the file, or if there is a line `@@`, between the one line that begins with its text and the next that
begins with a closing brace. Where what is
broken shows only if another thread comes between two instructions, a line `** delays` has the file
compiled with delays at its atomic operations and locks (Tests/Chaos), many of them. Where what is broken
keeps other tests of the rule from ever ending, a line `** by TEXT` has only those run whose name has that
text.

A mutant's sources are compiled apart from the tree, and linked with the others of its library as a shared one,
beside which the tests need not be linked again. Of the tests of that library, those run whose name has the rule as a word. One of them must
fail or crash; none of them may without the mutant. That they take too long is no notice: a test that only
waits tells nobody what is broken. With `--times` they run so often, and each time one must: a notice that
depends on how threads meet is none. What is inlined into other modules (`@_transparent`,
`@inline(__always)`) can't be sabotaged so.
"""

import argparse
import concurrent.futures
import contextlib
import dataclasses
import functools
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

import relink

MUTANTS = pathlib.Path("Tests/Mutants")
# Seconds that a mutant's tests may take: many times the longest ones, which other checks run beside.
TIMEOUT = 150
ENVIRONMENT = {
    # The backtrace of a crash takes seconds, sometimes more than a mutant has, and nobody reads it.
    "SWIFT_BACKTRACE": "enable=no",
    "KVO_CHAOS": "8",  # of so many points in a mutant with delays one is, as an average
}
MANY_RULES = 3  # a test that names more, at random, runs only where no other names the rule
RULE = re.compile(r"\b[A-S][0-9]{1,2}\b")


class Wrong(Exception):
    """A mutant that is no mutant: it does not apply, or no test names its rule."""


@dataclasses.dataclass
class Mutant:
    name: str
    rule: str
    file: pathlib.Path
    anchor: str | None
    old: list[str]
    new: list[str]
    delays: bool
    by: str # part of a test's name

    @property
    def library(self):
        return next(path for path in relink.LIBRARIES.values() if path in self.file.parents)

    @staticmethod
    def read(path):
        file, anchor, old, new, delays, by = None, None, [], [], False, ""
        for line in path.read_text().splitlines():
            mark, _, text = line.partition(" ")
            if mark == "---":
                file = relink.find(text.strip())
                if not file:
                    raise Wrong(f"there is no source {text.strip()!r}, or several")
            elif file and line.strip() == "** delays":
                delays = True
            elif file and line.startswith("** by "):
                by = text.removeprefix("by ").strip()
            elif file and mark == "@@":
                anchor = text.strip()
            elif file and mark in ("-", "+"):
                (old if mark == "-" else new).append(text.strip())
            elif file and line.strip():
                raise Wrong(f"can't read {line!r}")
        if not file or not old:
            raise Wrong("names no file, or no line that goes")
        rule = path.stem.partition("-")[0]
        return Mutant(path.stem, rule, file, anchor, old, new, delays, by)

    def apply(self, text):
        lines = text.splitlines()
        first, end = self.range(lines)
        stripped = [line.strip() for line in lines]
        size = len(self.old)
        places = [i for i in range(first, end) if stripped[i : i + size] == self.old]
        if len(places) != 1:
            raise Wrong(f"{self.file} has {self.old[0]!r} {len(places)} times there, not once")
        first = lines[places[0]]
        indentation = first[: len(first) - len(first.lstrip())]
        new = [indentation + line for line in self.new]
        return "\n".join(lines[: places[0]] + new + lines[places[0] + size :]) + "\n"

    def range(self, lines):
        if not self.anchor:
            return 0, len(lines)
        places = [i for i, line in enumerate(lines) if line.startswith(self.anchor)]
        if len(places) != 1:
            raise Wrong(f"{self.file} has {len(places)} lines that begin {self.anchor!r}")
        end = next((i for i in range(places[0], len(lines)) if lines[i].startswith("}")), None)
        return places[0], len(lines) if end is None else end


def mutated_objects(mutant, build, folder):
    """The objects that differ from the build's, by the names of their sources."""
    tree = folder / mutant.library.name
    shutil.copytree(mutant.library, tree)
    place = tree / mutant.file.relative_to(mutant.library)
    place.write_text(mutant.apply(place.read_text()))
    if place.suffix == ".swift":
        return relink.compile_swift_sources([place], folder, build, mutant.library, tree)
    changed = relink.using(place, tree) if place.suffix == ".h" else [place]
    options = relink.DELAYED if mutant.delays else []
    return {
        path.name: relink.compile_source(path, folder, *options, library=tree) for path in changed
    }


# MARK: Testing


@dataclasses.dataclass
class Outcome:
    ending: str  # how the program ended, if not well
    failures: list[str]  # the identifiers of the tests that failed, in that order
    is_over: bool = True  # or it was ended, having taken too long

    def told(self, names):
        if not self.failures:
            return self.ending
        return names.get(self.failures[0], "a test fails, on a thread of its own")

    def is_notice(self):
        return bool(self.failures) or (bool(self.ending) and self.is_over)


def command(program, events, pattern):
    events.unlink(missing_ok=True)
    arguments = [str(program), "--testing-library", "swift-testing", "--filter", pattern]
    return [*arguments, "--event-stream-output-path", str(events), "--event-stream-version", "0"]


def run_tests(program, pattern, timeout, until_failure=False):
    """How the tests end; or, where one failure is enough, the first one that there is."""
    events = program.parent / "events"
    process = subprocess.Popen(
        command(program, events, pattern),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | ENVIRONMENT,
        start_new_session=True,
    )
    last = time.monotonic() + timeout
    while process.poll() is None and time.monotonic() < last:
        if until_failure and failures_in(events):
            break
        wait_a_moment(process)
    is_over = process.poll() is not None
    end_with_children(process)
    failures = failures_in(events)
    if is_over:
        ending = f"the program ends with {process.returncode}" if process.returncode else ""
    else:
        ending = "a test fails" if failures else f"it takes more than {timeout} seconds"
    return Outcome(ending, failures, is_over)


def end_with_children(process):
    """Tests start processes themselves, and a mutant may have them wait for ever."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def wait_a_moment(process):
    try:
        process.wait(timeout=0.1)
    except subprocess.TimeoutExpired:
        pass


def failures_in(events):
    """The identifiers of the tests that have failed, one for each failure, in that order."""
    if not events.exists() or b'"issueRecorded"' not in events.read_bytes():
        return []
    recorded = (event for kind, event in read_events(events) if kind == "event")
    return [
        e.get("testID", "")
        for e in recorded
        if e["kind"] == "issueRecorded" and not e.get("issue", {}).get("isKnown")
    ]


def read_events(path):
    """Whole lines: the program may have ended within the last one. Only a newline ends one: what else Unicode
    calls a line's end stands as it is in the names of tests and in what they are called with."""
    lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
    for line in lines:
        event = json.loads(line)
        yield event["kind"], event["payload"]


def names_of_tests(program, module):
    """The names of a module's tests by identifier. They are told before the first one runs."""
    events = program.parent / "events"
    process = subprocess.Popen(
        command(program, events, f"^{module}\\."),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while process.poll() is None and not (events.exists() and b'"runStarted"' in events.read_bytes()):
        time.sleep(0.05)
    process.kill()
    process.wait()
    tests = [test for kind, test in read_events(events) if kind == "test"]
    return {t["id"]: t.get("displayName", t["name"]) for t in tests if t["kind"] == "function"}


def pattern_of(tests):
    return "^(" + "|".join(re.escape(test) for test in sorted(tests)) + ")$"


class Suite:
    """The tests of one library that name rules, linked without it, which of them fail without a mutant, and the
    objects that a mutant's take the place of."""

    def __init__(self, build, library, rules, folder):
        folder.mkdir(parents=True)
        self.build, self.library, self.rules = build, library, rules
        is_swift = library != relink.LIBRARY
        self.objects = relink.compile_apart(library, folder / "library", build) if is_swift else {}
        self.program = build.link_without(library, self.objects, folder)
        self.module = library.name + "Tests"
        self.names = names_of_tests(self.program, self.module)

    def begin(self, aside):
        tests = {test for rule in self.rules for test in self.tests_of(rule)}
        self.whole = aside.submit(
            run_tests, self.program, pattern_of(tests), TIMEOUT * len(self.rules)
        )

    def link(self, objects, folder, *others):
        """The tests with these objects in place of the library's."""
        self.build.link_shared(self.library, self.objects | objects, folder, *others)
        program = folder / self.program.name
        os.link(self.program, program)
        return program

    @functools.cached_property
    def failing(self):
        """What fails without a mutant, which is found out beside them."""
        whole = self.whole.result()
        if whole.ending and not whole.failures:
            sys.exit(f"{self.module}: without a mutant, {whole.ending}")
        return set(whole.failures)

    @functools.cache
    def tests_of(self, rule):
        rules = {test: RULE.findall(name) for test, name in self.names.items()}
        naming = [test for test in rules if rule in rules[test]]
        return [test for test in naming if len(rules[test]) <= MANY_RULES] or naming

    def naming(self, rule, part):
        tests = [test for test in self.tests_of(rule) if part in self.names[test]]
        if not tests:
            raise Wrong(f"no test of {self.module} names {rule}{part and ' and has '}{part!r}")
        return tests


# MARK: All of it


def library_of(path):
    return relink.LIBRARIES[str(path.parent.relative_to(MUTANTS))]


def label(path):
    return str(path.relative_to(MUTANTS).with_suffix(""))


def notices(program, pattern, suite, times):
    """Whether each of so many runs notices, and what to say of them."""
    results = [run_tests(program, pattern, TIMEOUT, True) for _ in range(times)]
    told = [result.told(suite.names) for result in results if result.is_notice()]
    verdict = told[0] if told else "NOT NOTICED"
    if 0 < len(told) < times:
        verdict = f"NOT NOTICED {times - len(told)} of {times} times, else by {verdict}"
    hanging = sum(not result.is_over and not result.failures for result in results)
    if hanging:
        verdict += f", but for {hanging} times that it takes more than {TIMEOUT} seconds"
    return len(told) == times, verdict


def examine(path, build, suites, scratch, times):
    """Whether the mutant was noticed, and a line that tells by what, or what is wrong with it."""
    started = time.monotonic()
    suite = suites[library_of(path)]
    folder = scratch / label(path)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        mutant = Mutant.read(path)
        if mutant.library != library_of(path):
            raise Wrong(f"{mutant.file} is of another library than the folder says")
        pattern = pattern_of(suite.naming(mutant.rule, mutant.by))
        objects = mutated_objects(mutant, build, folder)
        delays = [str(relink.compile_delays(folder))] if mutant.delays else []
        program = suite.link(objects, folder, *delays)
        noticed, verdict = notices(program, pattern, suite, times)
    except (Wrong, relink.CommandFailed) as wrong:
        noticed, verdict = False, f"WRONG: {wrong}"
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return noticed, f"{label(path):36} {time.monotonic() - started:5.1f} s  {verdict}"


def rule_of(path):
    return path.stem.partition("-")[0]


def chosen(wanted):
    paths = [
        path for folder in relink.LIBRARIES for path in sorted((MUTANTS / folder).glob("*.mutant"))
    ]
    named = {path: {path.stem, label(path), rule_of(path)} for path in paths}
    for word in wanted:
        if not any(word in names for names in named.values()):
            sys.exit(f"there is no mutant of {word}")
    return [path for path in paths if not wanted or named[path] & set(wanted)]


def suites_of(paths, build, scratch, aside):
    """A suite for each library that is to be sabotaged."""
    rules = {}
    for path in paths:
        rules.setdefault(library_of(path), set()).add(rule_of(path))
    suites = {
        library: Suite(build, library, rules[library], scratch / "without" / library.name) for library in rules
    }
    for suite in suites.values():
        suite.begin(aside)
    return suites


def failing_without(paths, suites):
    """The mutants whose tests fail without them, with the names of these tests."""
    for path in paths:
        suite = suites[library_of(path)]
        for test in suite.failing.intersection(suite.tests_of(rule_of(path))):
            yield f"{label(path):36} WRONG: {suite.names[test]!r} fails without it"


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("build", type=relink.Build)
    arguments.add_argument("scratch", type=pathlib.Path)
    arguments.add_argument("--times", type=int, default=1)
    arguments.add_argument("wanted", nargs="*")
    given = arguments.parse_intermixed_args()
    build, scratch, paths = given.build, given.scratch, chosen(given.wanted)
    shutil.rmtree(scratch, ignore_errors=True)
    with (
        concurrent.futures.ThreadPoolExecutor(1) as aside,
        concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool,
    ):
        suites = suites_of(paths, build, scratch, aside)
        work = functools.partial(
            examine, build=build, suites=suites, scratch=scratch, times=given.times
        )
        results = []
        for noticed, line in pool.map(work, paths):
            print(line, flush=True)
            results.append(noticed)
    for line in failing_without(paths, suites):
        print(line)
        results.append(False)
    failures, rules = results.count(False), len({rule_of(path) for path in paths})
    print(f"{len(paths)} mutants of {rules} rules, {failures} not noticed or wrong")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
