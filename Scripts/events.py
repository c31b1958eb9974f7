"""Runs selected tests of a program and reports the outcome, from the events that Swift Testing writes.

Tests run one after another. So if the program crashes or hangs, exactly one test was running, and its name is known.
"""

import contextlib
import dataclasses
import json
import os
import re
import signal
import subprocess
import time

# The seconds that a test may wait for another thread or task. Then the fixtures' watchdog names the wait and aborts the
# program. That counts as a crash of the test, if the test ends much sooner without the mutant (mutants.py).
PATIENCE = 30
LONG_PATIENCE = 300
# The time limit in seconds for a run that hangs without waiting: in a loop, or in a process that a test has started.
TIMEOUT = 150
# The same for a run without a mutant, of hundreds of tests, beside other work.
LONG_TIMEOUT = 1800
ENVIRONMENT = {
    # A crash's backtrace takes seconds, and nothing reads it.
    "SWIFT_BACKTRACE": "enable=no",
    # Dictionaries and sets have the same order in each run: a mutant must not pass by luck.
    "SWIFT_DETERMINISTIC_HASHING": "1",
    "KVO_CHAOS": "8",  # where there are delays, one at every eighth point on average
}
LOADER_FAILED = 127
EXPIRED = re.compile(r"^(?:watchdog: |a case waits for ever)", re.M)


@dataclasses.dataclass
class Outcome:
    begun: list[str]  # the tests' identifiers, in the order in which they began
    failed: list[str]  # tests with a failure, in the order in which they failed
    running: str | None  # the test that was running when the program ended
    code: int
    is_hanging: bool
    output: str

    @property
    def crashed(self):
        """The test that was running when the program crashed."""
        is_crash = self.code not in (0, LOADER_FAILED, -signal.SIGKILL) and not self.is_hanging and not self.failed
        return self.running if is_crash else None

    @property
    def has_expired(self):
        """Whether the test notices by a wait that the watchdog has ended, of itself or of a child."""
        return bool(self.noticed_by and EXPIRED.search(self.output))

    @property
    def noticed_by(self):
        return self.failed[0] if self.failed else self.crashed

    @property
    def fault(self):
        """The reason why this run proves nothing: neither that the tests pass nor that one fails."""
        if self.noticed_by or self.is_hanging or (self.begun and not self.code):
            return None
        last = self.output.strip().splitlines()[-1:] or ["it says nothing"]
        when = "outside of a test" if self.begun else "before a test has begun"
        return f"the program ends with {self.code} {when}: {last[0]}"


def command(program, pattern, events):
    arguments = [str(program), "--testing-library", "swift-testing", "--filter", pattern, "--no-parallel"]
    return [*arguments, "--event-stream-output-path", str(events), "--event-stream-version", "0"]


def run_tests(program, tests, until_failure=True, patience=LONG_PATIENCE, folder=None):
    """Runs the tests with these identifiers, up to the first failure unless told to run all. Files are put into `folder`, by
    default the program's."""
    folder = folder or program.parent
    events, output = folder / "events", folder / "output"
    events.unlink(missing_ok=True)
    with output.open("wb") as file:
        process = subprocess.Popen(
            command(program, pattern_of(tests), events),
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            env=os.environ | ENVIRONMENT | {"KVO_PATIENCE": str(patience)},
            start_new_session=True,
        )
    limit = max(TIMEOUT, 5 * patience) if until_failure else LONG_TIMEOUT
    is_over = wait_for(process, limit, lambda: until_failure and has_failure(events))
    with contextlib.suppress(ProcessLookupError):  # tests start processes, which may wait for ever
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    said = output.read_text(errors="replace")
    begun, failed, running = tests_in(events)
    is_hanging = not failed and not is_over
    return Outcome(begun, failed, running, process.returncode, is_hanging, said)


def wait_for(process, limit, is_enough):
    """Waits for the process, up to a number of seconds. Returns whether it has ended by itself."""
    last = time.monotonic() + limit
    while time.monotonic() < last:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=0.1)
            return True
        if is_enough():
            return False
    return False


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


def tests_in(events):
    """The functions that have begun, those with a failure, and the one that has not ended."""
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
    return begun, failed, running[-1] if running else None


def has_failure(events):
    return b'"issueRecorded"' in events.read_bytes() and bool(tests_in(events)[1]) if events.exists() else False


def names_of_tests(program, modules, folder):
    """The names of some modules' tests by identifier. They are written before the first test runs."""
    events = folder / "events"
    events.unlink(missing_ok=True)
    process = subprocess.Popen(
        command(program, f"^({'|'.join(modules)})\\.", events),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while process.poll() is None and not (events.exists() and b'"runStarted"' in events.read_bytes()):
        time.sleep(0.02)
    process.kill()
    process.wait()
    tests = [test for kind, test in read_events(events) if kind == "test"]
    return {t["id"]: t.get("displayName", t["name"]) for t in tests if t["kind"] == "function"}
