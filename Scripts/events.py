"""Runs tests of a program and reports the outcome, from the events that Swift Testing writes.

Usage: events.py REASONS PROGRAM OPTION...

The command runs a test program and judges the run. A test must have run, none may fail or hang, and each skipped test
must have a reason that begins with the regular expression REASONS.

`run_tests` runs selected tests one after another. So if the program crashes or hangs, exactly one test was running, and
its name is known.
"""

import contextlib
import dataclasses
import itertools
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

# Tests hang if none begins or ends for so many seconds of CPU time, or if all threads sleep, without CPU time, in so
# many samples taken a second apart: then no thread is left to wake another one. Unlike the time of a clock, neither
# depends on the load.
MOST_CPU = 50
MOST_CPU_AT_ONCE = 600  # of tests that run concurrently, with a sanitizer perhaps
MOST_ASLEEP = 3
ENVIRONMENT = {
    # A crash's backtrace takes seconds, and nothing reads it.
    "SWIFT_BACKTRACE": "enable=no",
    # Dictionaries and sets have the same order in each run: a mutant must not pass by luck.
    "SWIFT_DETERMINISTIC_HASHING": "1",
    "KVO_CHAOS": "8",  # where there are delays, one at every eighth point on average
    "KVO_PATIENCE": "0",  # the watchdog measures the time of a clock
}
LOADER_FAILED = 127
# A check that is killed leaves no test program behind, which is in a session of its own. It counts as killed when the
# thread that started the program ends, so that thread must wait for the program.
END_WITH_PARENT = ["setpriv", "--pdeathsig", "KILL"]
MOST_NAMED = 5


@dataclasses.dataclass
class Outcome:
    begun: list[str]  # the tests' identifiers, in the order in which they began
    failed: list[str]  # tests with a failure, in the order in which they failed
    running: str | None  # the test that was running when the program ended
    code: int
    is_hanging: bool
    output: str

    @property
    def end(self):
        return "hangs" if self.is_hanging else f"ends with {self.code}"

    @property
    def stopped(self):
        """The test that was running when the program crashed or was found to hang."""
        return self.running if self.is_hanging or self.code not in (0, LOADER_FAILED, -signal.SIGKILL) else None

    @property
    def noticed_by(self):
        return self.failed[0] if self.failed else self.stopped

    @property
    def fault(self):
        """The reason why this run proves nothing: neither that the tests pass nor that one fails."""
        if self.noticed_by or (self.begun and not self.code):
            return None
        last = self.output.strip().splitlines()[-1:] or ["it says nothing"]
        when = "outside of a test" if self.begun else "before a test has begun"
        return f"the program {self.end} {when}: {last[0]}"


def command(program, events, *options):
    arguments = [*END_WITH_PARENT, str(program), "--testing-library", "swift-testing", *options]
    return [*arguments, "--event-stream-output-path", str(events), "--event-stream-version", "0"]


def one_by_one(pattern):
    return ["--filter", pattern, "--no-parallel"]


def run(arguments, events, most_cpu, is_enough=lambda: False, **options):
    """Runs a program until it ends, hangs, or has done enough. Returns its status, and whether it hangs."""
    process = subprocess.Popen(
        arguments, stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT, start_new_session=True, **options
    )
    try:
        is_hanging = wait_for(process, events, most_cpu, is_enough)
    finally:
        for folder, _ in members(process.pid):  # tests start processes, which may wait for ever
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(folder.name), signal.SIGKILL)
    return process.wait(), is_hanging


def run_tests(program, tests, until_failure=True, most_cpu=MOST_CPU):
    """Runs the tests with these identifiers, up to the first failure unless told to run all. Puts files beside the
    program."""
    events, output = program.parent / "events", program.parent / "output"
    events.unlink(missing_ok=True)
    with output.open("wb") as file:
        code, is_hanging = run(
            command(program, events, *one_by_one(pattern_of(tests))),
            events,
            most_cpu,
            lambda: until_failure and has_failure(events),
            stdout=file,
            env=os.environ | ENVIRONMENT,
        )
    begun, failed, running = tests_in(events)
    last = running[-1] if running else None
    return Outcome(begun, failed, last, code, is_hanging, output.read_text(errors="replace"))


def run_and_judge(reasons, program, *options):
    """Runs tests as they come, shows their output, and returns the errors of the run."""
    with tempfile.TemporaryDirectory() as folder:
        events = pathlib.Path(folder, "events")
        code, is_hanging = run(command(program, events, *options), events, MOST_CPU_AT_ONCE)
        errors = list(judge(events, reasons))
        if is_hanging:
            errors += list(still_running(events))
        elif code:
            errors.append(f"the test program ends with {code}")
    return errors


def wait_for(process, events, most_cpu, is_enough):
    """Waits until the process ends, or until that is enough. Returns whether it hangs instead."""
    size = cpu = began = asleep = 0
    for poll in itertools.count(1):
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=0.1)
            return False
        if is_enough():
            return False
        if poll % 10 == 0:
            before = size, cpu
            size = events.stat().st_size if events.exists() else 0
            is_awake, cpu = activity(process.pid)
            began = cpu if size != before[0] else began
            asleep = 0 if is_awake or (size, cpu) != before else asleep + 1
            if asleep == MOST_ASLEEP or cpu - began > most_cpu:
                return True


def members(session):
    """The processes of a session: the folder in /proc and the fields of its `stat` that follow the name."""
    # Not by a pattern for `stat`: testing whether that is there raises an error if the process ends meanwhile.
    for folder in pathlib.Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        with contextlib.suppress(OSError):  # it has ended
            fields = (folder / "stat").read_bytes().rpartition(b") ")[2].split()
            if int(fields[3]) == session:
                yield folder, fields


def activity(session):
    """Whether a thread of a session's processes runs or waits for a disk, and the seconds of CPU time of all."""
    is_awake, ticks = False, 0
    for folder, fields in members(session):
        ticks += sum(map(int, fields[11:15]))  # with its children that have ended
        with contextlib.suppress(OSError):  # the process has ended
            for thread in (folder / "task").iterdir():
                with contextlib.suppress(OSError):  # the thread has ended
                    is_awake |= (thread / "stat").read_bytes().rpartition(b") ")[2][:1] not in b"SZ"
    return is_awake, ticks / os.sysconf("SC_CLK_TCK")


def pattern_of(tests):
    return "^(" + "|".join(re.escape(test) for test in sorted(tests)) + ")$"


# MARK: The event stream


def read_events(path):
    """The kind and content of each complete line: the program may have ended within the last one. Only a newline ends a
    line: names and arguments of tests may contain other Unicode line separators."""
    lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
    for line in lines:
        event = json.loads(line)
        yield event["kind"], event["payload"]


def is_function(test):
    return "/" in test


def judge(events, reasons):
    """The errors of a run."""
    seen = [event for kind, event in read_events(events) if kind == "event"]
    if not any(event["kind"] == "testStarted" and is_function(event["testID"]) for event in seen):
        yield "no test was run"
    for event in seen:
        said = " ".join(message["text"] for message in event["messages"])
        if event["kind"] == "testSkipped" and not re.search(f'"(?:{reasons})', said):
            yield f"a test was skipped: {said}"


def still_running(events):
    """A line for each test that has begun and not ended, at most MOST_NAMED."""
    names, running = names_in(events), tests_in(events)[2]
    for test in running[:MOST_NAMED]:
        yield f"a test hangs: {names.get(test, test)}"
    if len(running) > MOST_NAMED:
        yield f"{len(running) - MOST_NAMED} more tests hang"
    if not running:
        yield "the test program hangs outside of a test"


def names_in(events):
    """The names of the tests by identifier."""
    tests = [test for kind, test in read_events(events) if kind == "test"]
    return {test["id"]: test.get("displayName", test["name"]) for test in tests if test["kind"] == "function"}


def tests_in(events):
    """The functions that have begun, those with a failure, and those that have not ended."""
    begun, failed, running = [], [], []
    for kind, event in read_events(events):
        test = event.get("testID", "")
        if kind != "event":
            continue
        if event["kind"] == "testStarted" and is_function(test):
            begun.append(test)
            running.append(test)
        elif event["kind"] == "testEnded" and test in running:
            running.remove(test)
        elif event["kind"] == "issueRecorded" and not event.get("issue", {}).get("isKnown"):
            # If an issue is recorded on a thread that a test has created, the event names no test.
            failed += [test] if is_function(test) else running[-1:] or begun[-1:]
    return begun, failed, running


def has_failure(events):
    return b'"issueRecorded"' in events.read_bytes() and bool(tests_in(events)[1]) if events.exists() else False


def names_of_tests(program, modules, folder):
    """The names of some modules' tests by identifier. They are written before the first test runs."""
    events = folder / "events"
    events.unlink(missing_ok=True)
    process = subprocess.Popen(
        command(program, events, *one_by_one(f"^({'|'.join(modules)})\\.")),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while process.poll() is None and not (events.exists() and b'"runStarted"' in events.read_bytes()):
        time.sleep(0.02)
    process.kill()
    process.wait()
    return names_in(events)


if __name__ == "__main__":
    try:
        errors = run_and_judge(*sys.argv[1:])
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)
    for error in errors:
        print(f"wrong: {error}")
    sys.exit(bool(errors))
