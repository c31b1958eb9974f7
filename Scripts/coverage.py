"""Which lines of the C runtime no test runs.

Usage: coverage.py BUILD_FOLDER SCRATCH_FOLDER ALLOWED [OPTION...]

BUILD_FOLDER has the tests, built; the options are for running them. ALLOWED lists what need not be
run, below `#` and the reason: in each line a source file, or `*`, and a regular expression. It speaks
of gaps: lines that follow each other and are not run, with the line before them, on which it mostly
depends whether they are.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import relink

# Lines that only a chance meeting of threads runs, and counts that got lost between the processes
# that write the one file: not the same every time. They are shown, but a few are no failure.
BY_CHANCE = 8
LEAST = 97  # per cent of the lines, counted with the ones that may be missing
# Counters lie in a mapped file, so that a process that a test makes stop has counted as well.
INSTRUMENTED = ["-fprofile-instr-generate", "-fcoverage-mapping"]
INSTRUMENTED += ["-mllvm", "-runtime-counter-relocation"]
# And begins before the constructors of the tests, some of which stand in for main and exit.
BEGINNING = """
int __llvm_profile_runtime; // instead of the profiling library's own beginning
void __llvm_profile_initialize(void);
__attribute__((constructor(102))) static void begin(void) { __llvm_profile_initialize(); }
"""


def instrumented_tests(build, scratch):
    objects = {relink.LIBRARY: relink.compile_c(relink.LIBRARY, scratch / "objects", *INSTRUMENTED)}
    relink.require_in(objects, b"__llvm_covmap")
    beginning = scratch / "beginning.c"
    beginning.write_text(BEGINNING)
    options = ["-fprofile-instr-generate", relink.STRIPPED, str(relink.compile_source(beginning, scratch))]
    relink.Build(build, "ObservationBridge").link(objects, scratch, *options)  # which tests start
    return relink.Build(build).link(objects, scratch, *options)


def run_tests(program, scratch, options):
    environment = os.environ | {"LLVM_PROFILE_FILE": str(scratch / "profiles/%p%c.profraw")}
    command = [str(program), "--testing-library", "swift-testing", *options]
    result = subprocess.run(command, env=environment, text=True, capture_output=True)
    if result.returncode:
        said = (result.stdout + result.stderr).splitlines()
        failures = [line for line in said if "\N{HEAVY BALLOT X}" in line] or said[-50:]
        sys.exit("\n".join(["the tests fail:", *failures]))


def line_counts(program, scratch):
    """For each source file its lines of code, and how often each was run."""
    merged = scratch / "merged.profdata"
    profiles = sorted(map(str, (scratch / "profiles").glob("*.profraw")))
    (scratch / "list").write_text("\n".join(profiles))
    relink.run(["llvm-profdata", "merge", "-sparse", f"@{scratch}/list", "-o", str(merged)])
    files = [str(path.resolve()) for path in relink.sources()]
    files += [str(path.resolve()) for path in sorted(relink.LIBRARY.rglob("*.h"))]
    text = relink.run(
        ["llvm-cov", "export", "-format=lcov", "-instr-profile", str(merged), str(program), *files]
    )
    counts, lines, source = {}, None, None
    for record in text.splitlines():
        if record.startswith("SF:"):
            lines = counts.setdefault(pathlib.Path(record[3:]), {})
            source = pathlib.Path(record[3:]).read_text().splitlines()
        elif record.startswith("DA:"):
            line, count = map(int, record[3:].split(",")[:2])
            if not source[line - 1].startswith("#"):  # of macros that a function defines
                lines[line] = count
    return counts


class Allowed:
    def __init__(self, path):
        lines = pathlib.Path(path).read_text().splitlines()
        self.entries = [line for line in lines if line.strip() and not line.startswith("#")]
        self.used = set()

    def covers(self, file, gap):
        for entry in self.entries:
            name, _, pattern = entry.partition(" ")
            if name in ("*", file.name) and re.search(pattern, gap):
                self.used.add(entry)
                return True
        return False

    def idle(self):
        return [entry for entry in self.entries if entry not in self.used]


def gaps(lines):
    """The runs of lines that are not run: the numbers of each one's lines of code."""
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
    """Prints what must be run and is not; how many lines there are, not run, and excused."""
    total = missing = excused = 0
    for file, lines in sorted(counts.items()):
        text = file.read_text().splitlines()
        total += len(lines)
        for gap in gaps(lines):
            missing += len(gap)
            if allowed.covers(file, "\n".join(text[gap[0] - 2 : gap[-1]])):
                excused += len(gap)
                continue
            for number in gap:
                print(f"{file.relative_to(pathlib.Path.cwd())}:{number}: {text[number - 1]}")
    return total, missing, excused


def main():
    build, scratch, allowed_file, *options = sys.argv[1:]
    scratch = pathlib.Path(scratch).resolve()
    shutil.rmtree(scratch, ignore_errors=True)
    (scratch / "profiles").mkdir(parents=True)
    program = instrumented_tests(build, scratch)
    run_tests(program, scratch, options)
    allowed = Allowed(allowed_file)
    total, missing, excused = judge(line_counts(program, scratch), allowed)
    for entry in allowed.idle():
        print(f"{allowed_file}: this time nothing is excused by: {entry}")
    share = 100 * (total - missing) / total
    print(f"{share:.2f} % of {total} lines are run; of the others, {excused} of {missing} may miss")
    # What is excused by chance, as it is with threads, may be run by chance: no failure.
    sys.exit(share < LEAST or missing > excused + BY_CHANCE)


main()
