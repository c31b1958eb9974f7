"""Runs the checks of a ring, and records the results of the full ring.

Usage: rings.py LOGS [--list] [--full] [NAME...]

A check is a program in Scripts/checks. Its head states its purpose (line 2), its ring and its inputs:

    # Ring: landing
    # Inputs: Sources/CKVORuntime Tests/Counts

The inputs are git pathspecs of the files whose change can change the check's result. The scripts that it runs or
imports, and Package.swift if one of them builds with SwiftPM, are found in their texts and are not repeated there. The
environment variable KVO_RING tells a check how much to do, `landing` or `full`. KVO_SINCE names the commit of its last
full run, if there is one.

RECORD has a line for each check: the commit at which it last passed at full strength, the date, wall and CPU seconds,
and its summary. A check that fails at full strength loses its line. The landing ring fails if a check has no line, or
one that is older than MOST_COMMITS commits. It also runs the checks of the full ring whose inputs have changed since
that commit: the cheapest first, up to AFFORDABLE CPU seconds in all.
"""

import argparse
import concurrent.futures
import dataclasses
import datetime
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time

CHECKS = pathlib.Path("Scripts/checks")
RECORD = pathlib.Path(".ci/full-ring.txt")
MOST_COMMITS = 100
AFFORDABLE = 120
# The seconds after which a check is stopped and reported. It decides no result: during other builds the longest check
# on record takes a tenth of it.
HANGING = 4 * 3600
# In a script: other scripts that it runs, sources or imports; and what builds with SwiftPM, which Scripts/lib.sh
# defines.
USED = re.compile(
    r"(?:^|python3|exec|source|\$\(|[;|&!]) *Scripts/([\w./-]+)|/(\w+\.sh)\b|^(?:import|from) (\w+)", re.M
)
BUILDS = re.compile(r"\bswift (?:build|test|package)\b|\bbuild_tests\b")


@dataclasses.dataclass(frozen=True)
class Check:
    name: str
    purpose: str
    ring: str
    inputs: tuple

    @staticmethod
    def read(path):
        head = path.read_text().splitlines()[:12]
        lines = {key: [] for key in ("Ring", "Inputs")}
        for line in head:
            key, _, text = line.removeprefix("# ").partition(": ")
            if key in lines:
                lines[key] += text.split()
        if len(lines["Ring"]) != 1 or lines["Ring"][0] not in ("landing", "full") or not lines["Inputs"]:
            sys.exit(f"{path}: its head names no ring, or no inputs: see Scripts/rings.py")
        scripts = scripts_of(path)
        builds = any(BUILDS.search(code_of(script)) for script in scripts - {pathlib.Path("Scripts/lib.sh")})
        own = [*lines["Inputs"], *map(str, sorted(scripts)), *["Package.swift"] * builds]
        return Check(path.name, head[1].removeprefix("# "), lines["Ring"][0], tuple(own))


def code_of(script):
    return "\n".join(line for line in script.read_text().splitlines() if not line.lstrip().startswith("#"))


def used_by(script):
    named = [pathlib.Path("Scripts", "".join(found)) for found in USED.findall(code_of(script))]
    return {path for path in [*named, *(path.with_suffix(".py") for path in named)] if path.is_file()}


def scripts_of(script):
    """A script and those that it uses, directly or through others."""
    found, last = set(), {script}
    while last:
        found |= last
        last = set().union(*map(used_by, last)) - found
    return found


@dataclasses.dataclass(frozen=True)
class Run:
    """A line of the record."""

    commit: str
    date: str
    wall: int
    cpu: int
    summary: str


def read_checks():
    return [Check.read(path) for path in sorted(CHECKS.iterdir())]


def read_record():
    lines = RECORD.read_text().splitlines() if RECORD.exists() else []
    runs = {}
    for line in lines:
        if line and not line.startswith("#"):
            name, commit, date, wall, cpu, *summary = line.split()
            runs[name] = Run(commit, date, int(wall), int(cpu), " ".join(summary))
    return runs


def write_record(runs):
    lines = ["# Written by `Scripts/check --full`: the last pass of each check at full strength."]
    lines += ["# check, commit, date, wall seconds, CPU seconds, summary"]
    for name, run in sorted(runs.items()):
        lines.append(f"{name:14} {run.commit} {run.date} {run.wall:5} {run.cpu:5} {run.summary}".rstrip())
    RECORD.write_text("\n".join(lines) + "\n")


# MARK: git


def git(*arguments):
    return subprocess.run(["git", *arguments], capture_output=True, text=True, check=False)


def head():
    return git("rev-parse", "HEAD").stdout.strip()


def age(commit):
    """The number of commits since then, or None if the commit is not an ancestor of HEAD, as in a shallow clone."""
    if git("merge-base", "--is-ancestor", commit, "HEAD").returncode:
        return None
    return int(git("rev-list", "--count", f"{commit}..HEAD").stdout)


def have_changed(commit, inputs):
    """Whether one of the files differs from that commit, or is new."""
    differing = git("diff", "--name-only", commit, "--", *inputs)
    new = git("ls-files", "--others", "--exclude-standard", "--", *inputs)
    return differing.returncode != 0 or bool(differing.stdout or new.stdout)


# MARK: Choosing


def stale(checks, runs):
    """The errors in the record, one in each line."""
    for name in sorted(runs.keys() - {check.name for check in checks}):
        yield f"{RECORD} has {name}, which is no check"
    for check in checks:
        for path in check.inputs:
            if not git("ls-files", "--", path).stdout:
                yield f"{check.name} depends on {path}, which matches no file"
        if check.name not in runs:
            yield f"{check.name} has no full run on record: Scripts/check --full {check.name}"
            continue
        commits = age(runs[check.name].commit)
        if commits is None:
            yield f"{check.name} passed at {runs[check.name].commit}, which is not behind HEAD. Is the clone shallow?"
        elif commits > MOST_COMMITS:
            late = f"{check.name} passed {commits} commits ago, {MOST_COMMITS} at most"
            yield f"{late}: Scripts/check --full {check.name}"


def affordable(checks, runs):
    """The checks of the full ring that the landing ring runs, too, and those that are too expensive."""
    full = [check for check in checks if check.ring == "full" and check.name in runs]
    changed = [check for check in full if have_changed(runs[check.name].commit, check.inputs)]
    chosen, left, sum_of_cpu = [], [], 0
    for check in sorted(changed, key=lambda check: runs[check.name].cpu):
        sum_of_cpu += runs[check.name].cpu
        (chosen if sum_of_cpu <= AFFORDABLE else left).append(check)
    return chosen, left


# MARK: Running


class Runner:
    def __init__(self, logs, full, runs):
        self.logs, self.full, self.runs = logs, full, runs
        self.failed = []
        self.passed = {}
        self.started = time.monotonic()
        self.printing = threading.Lock()
        self.processes = set()

    def run(self, check):
        log = self.logs / f"{check.name}.log"
        started = time.monotonic()
        environment = os.environ | {"NO_COLOR": "1", "KVO_RING": "full" if self.full else "landing"}
        if check.name in self.runs:
            environment["KVO_SINCE"] = self.runs[check.name].commit
        with log.open("wb") as output:
            process = subprocess.Popen(
                [CHECKS / check.name],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=environment,
                start_new_session=True,
            )
            self.processes.add(process.pid)
            hanging = threading.Timer(HANGING, end_group, [process.pid])
            hanging.start()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)  # otherwise Popen would wait for it again
            hanging.cancel()
            end_group(process.pid)  # processes that it has left running
            self.processes.discard(process.pid)
        wall, cpu = time.monotonic() - started, usage.ru_utime + usage.ru_stime
        self.report(check, log, process.returncode == 0, wall, cpu)

    def report(self, check, log, passed, wall, cpu):
        lines = log.read_text(errors="replace").splitlines()
        summary = lines[-1] if lines else ""
        with self.printing:
            verdict = "ok" if passed else "FAILED"
            print(f"{check.name:14} {verdict:6} {wall:5.0f} s, CPU {cpu:5.0f} s  {summary}")
            if wall >= HANGING:
                print(f"    wrong: it was stopped after {HANGING} s, since it seems to hang")
            if passed:
                self.passed[check.name] = Run(
                    head(), datetime.date.today().isoformat(), round(wall), round(cpu), summary[:120]
                )
            else:
                self.failed.append(check.name)
                print(failures(log, 40, 8))
                print("    … and at its end:", *(f"    {line}" for line in lines[-40:]), sep="\n")
            sys.stdout.flush()

    def run_all(self, checks):
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            try:
                list(pool.map(self.run, checks))
            except KeyboardInterrupt:
                pool.shutdown(wait=False, cancel_futures=True)
                for group in list(self.processes):
                    end_group(group)
                raise

    def conclude(self, checks):
        seconds = time.monotonic() - self.started
        names = f": {' '.join(self.failed)}" if self.failed else ""
        print(f"{len(checks)} checks, {len(self.failed)} failed{names} ({seconds:.0f} s)")
        return bool(self.failed)


def end_group(leader):
    try:
        os.killpg(leader, signal.SIGKILL)
    except ProcessLookupError:
        pass


def failures(log, most, frames):
    """The lines of a log that report failures."""
    command = ["awk", "-f", "Scripts/failures.awk", "-v", f"most={most}", "-v", f"frames={frames}", str(log)]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return "\n".join(f"    {line}" for line in found.splitlines())


# MARK: The rings


def by_cost(checks, runs):
    """The longest first, so that the last ones to start are short."""
    return sorted(checks, key=lambda check: -runs[check.name].wall if check.name in runs else 0)


def run_landing_ring(checks, runs, runner):
    problems = list(stale(checks, runs))
    for line in problems:
        print(f"wrong: {line}")
    chosen, left = affordable(checks, runs)
    for check in chosen:
        print(f"{check.name}: its inputs have changed since its last full run, so it runs too")
    for check in left:
        print(f"{check.name}: its inputs have changed; the next full run takes it")
    checks = by_cost([*(check for check in checks if check.ring == "landing"), *chosen], runs)
    runner.run_all(checks)
    has_failed = runner.conclude(checks)
    for line in problems:
        print(f"wrong: {line}")
    return has_failed or bool(problems)


def run_full_ring(checks, runs, runner):
    if git("status", "--porcelain").stdout:
        sys.exit("the full ring records a commit: commit or stash what has changed")
    at = head()
    checks = by_cost(checks, runs)
    runner.run_all(checks)
    if head() != at or git("status", "--porcelain").stdout:
        sys.exit("HEAD or files have changed during the run: nothing is recorded")
    kept = {path.name for path in CHECKS.iterdir()} - set(runner.failed)
    write_record({name: run for name, run in (runs | runner.passed).items() if name in kept})
    return runner.conclude(checks)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("logs", type=pathlib.Path)
    arguments.add_argument("--list", action="store_true")
    arguments.add_argument("--full", action="store_true")
    arguments.add_argument("names", nargs="*")
    given = arguments.parse_intermixed_args()
    checks = read_checks()
    if given.list:
        for check in checks:
            print(f"{check.name:14} {check.ring:8} {check.purpose}")
        return 0
    unknown = set(given.names) - {check.name for check in checks}
    if unknown:
        sys.exit(f"there is no check named {', '.join(sorted(unknown))}: see Scripts/check --list")
    runs = read_record()
    runner = Runner(given.logs, given.full, runs)
    named = [check for check in checks if check.name in given.names]
    if given.full:
        return run_full_ring(named or checks, runs, runner)
    if named:
        runner.run_all(named)
        return runner.conclude(named)
    return run_landing_ring(checks, runs, runner)


if __name__ == "__main__":
    sys.exit(main())
