"""Finds the lines of the C runtime that no test runs.

Usage: coverage.py RECORDS ALLOWED

RECORDS is what `llvm-cov export -format=lcov` prints. ALLOWED lists lines that need not be run, below `#` and the
reason. Each entry has a source file, or `*`, and a regular expression.

The expression is matched with a gap: consecutive lines that are not run, and the line before them. An entry excuses the
lines of the gap that the match covers at least in part, and the brace that closes their block. An entry that excuses
nothing is an error, unless it begins with `?`: such lines run only if threads interleave in a certain way, which
happens in some runs.
"""

import pathlib
import re
import sys

LEAST = 97  # per cent of the lines; excused lines do not count as run


def line_counts(records):
    """For each source file, its lines of code with the number of times that each was run."""
    counts, lines, source = {}, None, None
    for record in records:
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


def main(records, allowed_file):
    allowed = Allowed(allowed_file)
    total, missing, excused = judge(line_counts(pathlib.Path(records).read_text().splitlines()), allowed)
    idle = allowed.idle()
    for entry in idle:
        print(f"wrong: {allowed_file}: this excuses nothing: {entry}")
    share = 100 * (total - missing) / total
    print(f"{share:.2f} % of {total} lines are run; of the others, {excused} of {missing} may miss")
    sys.exit(share < LEAST or missing > excused or bool(idle))


if __name__ == "__main__":
    main(*sys.argv[1:])
