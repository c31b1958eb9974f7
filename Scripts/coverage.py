"""Finds the lines of the C runtime that no test runs.

Usage: coverage.py BUILD_FOLDER SCRATCH_FOLDER ALLOWED [OPTION...]

BUILD_FOLDER has the built tests; the options are for running them. ALLOWED lists lines that need not be run, below `#` and
the reason. Each entry has a source file, or `*`, and a regular expression.

The expression is matched with a gap: consecutive lines that are not run, and the line before them. An entry excuses the
lines of the gap that the match covers at least in part, and the brace that closes their block. An entry that excuses
nothing is an error, unless it begins with `?`: such lines run only if threads interleave in a certain way, which happens in
some runs.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

import link_variants

LEAST = 97  # per cent of the lines; excused lines do not count as run
# The counters are in a mapped file, so that processes that a test makes stop are counted, too.
INSTRUMENTED = ["-fprofile-instr-generate", "-fcoverage-mapping"]
INSTRUMENTED += ["-mllvm", "-runtime-counter-relocation"]
# The counters are set up before the tests' constructors, some of which replace main and exit.
BEGINNING = """
int __llvm_profile_runtime; // instead of the profiling library's own beginning
void __llvm_profile_initialize(void);
__attribute__((constructor(102))) static void begin(void) { __llvm_profile_initialize(); }
"""


def instrumented_tests(build, scratch):
    objects = {link_variants.LIBRARY: link_variants.compile_c(link_variants.LIBRARY, scratch / "objects", *INSTRUMENTED)}
    link_variants.require_in(objects, b"__llvm_covmap")
    beginning = scratch / "beginning.c"
    beginning.write_text(BEGINNING)
    options = ["-fprofile-instr-generate", link_variants.STRIPPED, str(link_variants.compile_source(beginning, scratch))]
    link_variants.Build(build, "ObservationBridge").link(objects, scratch, *options)  # which tests start
    return link_variants.Build(build).link(objects, scratch, *options)


def put_away(running, profiles):
    """Moves the files of processes that have ended: a later process with the same number would replace them."""
    for path in running.glob("*.profraw"):
        if not pathlib.Path("/proc", path.stem).exists():
            path.rename(profiles / f"{len(list(profiles.iterdir()))}.profraw")


def run_tests(program, scratch, options):
    running, profiles = scratch / "running", scratch / "profiles"
    for folder in (running, profiles):
        folder.mkdir()
    environment = os.environ | {"LLVM_PROFILE_FILE": str(running / "%p%c.profraw")}
    command = [str(program), "--testing-library", "swift-testing", *options]
    with (scratch / "tests.log").open("w+") as output:
        tests = subprocess.Popen(command, env=environment, text=True, stdout=output, stderr=subprocess.STDOUT)
        while tests.poll() is None:
            put_away(running, profiles)
            time.sleep(0.1)
        put_away(running, profiles)
        output.seek(0)
        said = output.read().splitlines()
    if tests.returncode:
        failures = [line for line in said if "\N{HEAVY BALLOT X}" in line] or said[-50:]
        sys.exit("\n".join(["the tests fail:", *failures]))


def line_counts(program, scratch):
    """For each source file, its lines of code with the number of times that each was run."""
    merged = scratch / "merged.profdata"
    profiles = sorted(map(str, (scratch / "profiles").glob("*.profraw")))
    (scratch / "list").write_text("\n".join(profiles))
    link_variants.run(["llvm-profdata", "merge", "-sparse", f"@{scratch}/list", "-o", str(merged)])
    files = [str(path.resolve()) for path in link_variants.sources()]
    files += [str(path.resolve()) for path in sorted(link_variants.LIBRARY.rglob("*.h"))]
    text = link_variants.run(
        ["llvm-cov", "export", "-format=lcov", "-instr-profile", str(merged), str(program), *files]
    )
    counts, lines, source = {}, None, None
    for record in text.splitlines():
        if record.startswith("SF:"):
            lines = counts.setdefault(pathlib.Path(record[3:]), {})
            source = pathlib.Path(record[3:]).read_text().splitlines()
        elif record.startswith("DA:"):
            line, count = map(int, record[3:].split(",")[:2])
            if not source[line - 1].startswith("#"):  # in a macro that defines a function
                lines[line] = count
    return counts


class Entry:
    def __init__(self, text):
        self.text, self.is_of_meetings = text, text.startswith("? ")
        self.name, _, pattern = text.removeprefix("? ").partition(" ")
        self.pattern, self.is_used = re.compile(pattern, re.M), False

    def excused(self, file, first, lines):
        """The numbers of the lines that the entry excuses; `first` is the number of the first line."""
        if self.name not in ("*", file.name):
            return set()
        text = "\n".join(lines)
        found = set()
        for match in self.pattern.finditer(text):
            begin = first + text.count("\n", 0, match.start())
            found |= set(range(begin, first + text.count("\n", 0, max(match.end() - 1, match.start())) + 1))
        return found


class Allowed:
    def __init__(self, path):
        lines = pathlib.Path(path).read_text().splitlines()
        self.entries = [Entry(line) for line in lines if line.strip() and not line.startswith("#")]

    def excused(self, file, gap, text):
        """The lines of a gap that need not be run."""
        first = gap[0] - 1
        lines, excused = text[first - 1 : gap[-1]], set()
        for entry in self.entries:
            own = entry.excused(file, first, lines) & set(gap)
            entry.is_used |= bool(own)
            excused |= own
        for number in gap:
            if text[number - 1].strip() == "}" and number - 1 in excused:
                excused.add(number)
        return excused

    def idle(self):
        return [entry.text for entry in self.entries if not entry.is_used and not entry.is_of_meetings]


def gaps(lines):
    """The runs of lines that are not run, each as a list of line numbers."""
    gap = []
    for number, count in sorted(lines.items()):
        if not count:
            gap.append(number)
        elif gap:
            yield gap
            gap = []
    if gap:
        yield gap


def judge(counts, allowed):
    """Prints the lines that should be run but are not. Returns the numbers of all lines, of those not run, and of those
    excused."""
    total = missing = excused = 0
    for file, lines in sorted(counts.items()):
        text = file.read_text().splitlines()
        total += len(lines)
        for gap in gaps(lines):
            missing += len(gap)
            may_miss = allowed.excused(file, gap, text)
            excused += len(may_miss)
            for number in sorted(set(gap) - may_miss):
                print(f"{file.relative_to(pathlib.Path.cwd())}:{number}: {text[number - 1]}")
    return total, missing, excused


def main():
    build, scratch, allowed_file, *options = sys.argv[1:]
    scratch = pathlib.Path(scratch).resolve()
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    program = instrumented_tests(build, scratch)
    run_tests(program, scratch, options)
    allowed = Allowed(allowed_file)
    total, missing, excused = judge(line_counts(program, scratch), allowed)
    idle = allowed.idle()
    for entry in idle:
        print(f"{allowed_file}: this excuses nothing: {entry}")
    share = 100 * (total - missing) / total
    print(f"{share:.2f} % of {total} lines are run; of the others, {excused} of {missing} may miss")
    sys.exit(share < LEAST or missing > excused or bool(idle))


if __name__ == "__main__":
    main()
