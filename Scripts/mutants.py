"""Sabotages the C runtime, a line at a time, and sees whether a test of the broken rule notices.

Usage: mutants.py BUILD_FOLDER SCRATCH_FOLDER [RULE | MUTANT]...

BUILD_FOLDER has the tests, built. A mutant is a file Tests/Mutants/<rule>-<what>.mutant:

    What is broken, in a line or more.
    --- Sources/CKVORuntime/change.c
    @@ static void deliver_to_list(
    - for (uint32_t i = 0; i < count; i++) {
    + for (uint32_t i = count; i-- > 0;) {

The lines after `-`, which follow each other in the file, give way to those after `+`. Indentation
does not matter. They must be there exactly once: in the file, or if there is a line `@@`, between
the one line that begins with its text and the next that begins with a closing brace.

A mutant's sources are compiled apart from the tree and linked with what the tests are linked with
otherwise. Of the tests, those run whose name has the rule as a word. One of them must fail, crash
or take too long; none of them may without the mutant.
"""

import concurrent.futures
import dataclasses
import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

import relink

MODULE = "CKVORuntimeTests"
TIMEOUT = 30  # seconds that a mutant's tests may take
MANY_RULES = 3  # a test that names more, at random, runs only where no other names the rule
RULE = re.compile(r"\b[A-J][0-9]{1,2}\b")


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

    @staticmethod
    def read(path):
        file, anchor, old, new = None, None, [], []
        for line in path.read_text().splitlines():
            mark, _, text = line.partition(" ")
            if mark == "---":
                file = pathlib.Path(text.strip())
            elif file and mark == "@@":
                anchor = text.strip()
            elif file and mark in ("-", "+"):
                (old if mark == "-" else new).append(text.strip())
            elif file and line.strip():
                raise Wrong(f"can't read {line!r}")
        if not file or not old:
            raise Wrong("names no file, or no line that goes")
        return Mutant(path.stem, path.stem.partition("-")[0], file, anchor, old, new)

    def apply(self, text):
        lines = text.splitlines()
        first, end = self.range(lines)
        stripped = [line.strip() for line in lines]
        size = len(self.old)
        places = [i for i in range(first, end) if stripped[i : i + size] == self.old]
        if len(places) != 1:
            raise Wrong(f"{self.file} has {self.old[0]!r} {len(places)} times there, not once")
        return "\n".join(lines[: places[0]] + self.new + lines[places[0] + size :]) + "\n"

    def range(self, lines):
        if not self.anchor:
            return 0, len(lines)
        places = [i for i, line in enumerate(lines) if line.startswith(self.anchor)]
        if len(places) != 1:
            raise Wrong(f"{self.file} has {len(places)} lines that begin {self.anchor!r}")
        end = next((i for i in range(places[0], len(lines)) if lines[i].startswith("}")), None)
        return places[0], len(lines) if end is None else end


def mutated_objects(mutant, folder):
    """The objects that differ from the build's, by the names of their sources."""
    tree = folder / "CKVORuntime"
    shutil.copytree(relink.LIBRARY, tree)
    place = tree / mutant.file.relative_to(relink.LIBRARY)
    place.write_text(mutant.apply(place.read_text()))
    changed = relink.sources(tree) if place.suffix == ".h" else [place]
    return {path.name: relink.compile_source(path, folder, library=tree) for path in changed}


# MARK: Testing


@dataclasses.dataclass
class Outcome:
    ending: str  # how the program ended, if not well
    failures: list[str]  # the identifiers of the tests that failed, in that order

    def told(self, names):
        return names[self.failures[0]] if self.failures else self.ending


def command(program, events, pattern):
    events.unlink(missing_ok=True)
    arguments = [str(program), "--testing-library", "swift-testing", "--filter", pattern]
    return [*arguments, "--event-stream-output-path", str(events), "--event-stream-version", "0"]


def run_tests(program, pattern, timeout):
    events = program.parent / "events"
    try:
        result = subprocess.run(
            command(program, events, pattern), timeout=timeout, capture_output=True
        )
        ending = "" if result.returncode == 0 else f"the program ends with {result.returncode}"
    except subprocess.TimeoutExpired:
        ending = f"it takes more than {timeout} seconds"
    recorded = (event for kind, event in read_events(events) if kind == "event")
    return Outcome(ending, [e["testID"] for e in recorded if e["kind"] == "issueRecorded"])


def read_events(path):
    for line in path.read_text().splitlines() if path.exists() else []:
        try:
            event = json.loads(line)
        except json.JSONDecodeError:
            return  # the program ended within the line
        yield event["kind"], event["payload"]


def names_of_tests(program):
    """The names of all tests by identifier. They are told before the first one runs."""
    events = program.parent / "events"
    process = subprocess.Popen(
        command(program, events, f"^{MODULE}\\."),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while process.poll() is None and not (events.exists() and '"runStarted"' in events.read_text()):
        time.sleep(0.05)
    process.kill()
    process.wait()
    tests = [test for kind, test in read_events(events) if kind == "test"]
    return {t["id"]: t.get("displayName", t["name"]) for t in tests if t["kind"] == "function"}


def pattern_of(tests):
    return "^(" + "|".join(re.escape(test) for test in sorted(tests)) + ")$"


class Suite:
    """The tests of the C runtime that name rules, and which of them fail without a mutant."""

    def __init__(self, program, rules):
        self.names = names_of_tests(program)
        tests = {test for rule in rules for test in self.tests_of(rule)}
        whole = run_tests(program, pattern_of(tests), TIMEOUT * len(rules))
        if whole.ending and not whole.failures:
            sys.exit(f"without a mutant, {whole.ending}")
        self.failing = set(whole.failures)

    @functools.cache
    def tests_of(self, rule):
        rules = {test: RULE.findall(name) for test, name in self.names.items()}
        naming = [test for test in rules if rule in rules[test]]
        return [test for test in naming if len(rules[test]) <= MANY_RULES] or naming

    def naming(self, rule):
        tests = self.tests_of(rule)
        if not tests:
            raise Wrong(f"no test of {MODULE} names {rule}")
        for test in self.failing.intersection(tests):
            raise Wrong(f"{self.names[test]!r} fails without it")
        return pattern_of(tests)


# MARK: All of it


def examine(path, build, suite, scratch):
    """Whether the mutant was noticed, and a line that tells by what, or what is wrong with it."""
    started = time.monotonic()
    folder = scratch / path.stem
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        mutant = Mutant.read(path)
        pattern = suite.naming(mutant.rule)
        program = build.link(mutated_objects(mutant, folder), folder)
        result = run_tests(program, pattern, TIMEOUT)
        noticed = bool(result.ending)
        verdict = result.told(suite.names) if noticed else "NOT NOTICED"
    except (Wrong, relink.CommandFailed) as wrong:
        noticed, verdict = False, f"WRONG: {wrong}"
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return noticed, f"{path.stem:34} {time.monotonic() - started:5.1f} s  {verdict}"


def chosen(wanted):
    paths = sorted(pathlib.Path("Tests/Mutants").glob("*.mutant"))
    for word in wanted:
        if not any(word in (path.stem, path.stem.partition("-")[0]) for path in paths):
            sys.exit(f"there is no mutant of {word}")
    return [p for p in paths if not wanted or {p.stem, p.stem.partition("-")[0]} & set(wanted)]


def main():
    build, scratch, *wanted = sys.argv[1:]
    build, scratch = relink.Build(build), pathlib.Path(scratch)
    paths = chosen(wanted)
    whole = scratch / "whole"
    shutil.rmtree(scratch, ignore_errors=True)
    whole.mkdir(parents=True)
    rules = {path.stem.partition("-")[0] for path in paths}
    suite = Suite(build.link({}, whole), rules)
    work = functools.partial(examine, build=build, suite=suite, scratch=scratch)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = []
        for noticed, line in pool.map(work, paths):
            print(line, flush=True)
            results.append(noticed)
    failures = results.count(False)
    print(f"{len(paths)} mutants of {len(rules)} rules, {failures} not noticed or wrong")
    sys.exit(bool(failures))


main()
