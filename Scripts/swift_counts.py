"""Counts the instructions of cases of the benchmarks, and compares them with ceilings.

Usage: swift_counts.py PROGRAM CEILINGS [--write]

PROGRAM is the program `Benchmarks`, without debug information. It repeats a case COUNT times and twice as often, each under
callgrind. The difference, divided by COUNT, is what one operation costs, without the start of the program.

CEILINGS has lines "ceiling COUNT case". A line may end in `planted`: its ceiling is too low on purpose, and if it is not
exceeded, this check is blind. With `--write` each ceiling becomes the figure with ROOM above it.
"""

import dataclasses
import math
import os
import pathlib
import platform
import re
import subprocess
import sys

TOTAL = re.compile(r"Collected : (\d+)")
# Allocators vary with addresses.
ROOM = 1.03
# Otherwise Swift seeds its hash tables anew in each process.
ENVIRONMENT = {**os.environ, "SWIFT_DETERMINISTIC_HASHING": "1"}
# The instructions are those of x86-64.
HAS_CEILINGS = platform.machine() == "x86_64"


@dataclasses.dataclass
class Line:
    ceiling: int
    count: int
    case: str
    is_planted: bool

    @staticmethod
    def read(text):
        ceiling, count, case, *rest = text.split()
        if rest not in ([], ["planted"]):
            raise ValueError(text)
        return Line(int(ceiling), int(count), case, bool(rest))

    def text(self, cost):
        ceiling = self.ceiling if self.is_planted else math.ceil(cost * ROOM)
        return f"{ceiling:8} {self.count:6} {self.case}{' planted' * self.is_planted}"

    def verdict(self, cost):
        is_exceeded = HAS_CEILINGS and cost > self.ceiling
        if self.is_planted:
            return "" if is_exceeded or not HAS_CEILINGS else "NOT REFUSED: this check is blind"
        return f"MORE THAN {self.ceiling}" if is_exceeded else ""


def instructions(program, case, count):
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, "--repeat", case, str(count)]
    result = subprocess.run(command, text=True, capture_output=True, env=ENVIRONMENT)
    total = TOTAL.search(result.stderr)
    if result.returncode or not total:
        sys.exit(f"{case} fails:\n{result.stderr}")
    return int(total[1])


def cost_of(program, line):
    once, twice = (instructions(program, line.case, line.count * factor) for factor in (1, 2))
    return (twice - once) / line.count


def main(program, ceilings, *options):
    path = pathlib.Path(ceilings)
    comments = [text for text in path.read_text().splitlines() if text.startswith("#")]
    lines = [Line.read(text) for text in path.read_text().splitlines() if not text.startswith("#")]
    wrong, written = 0, []
    for line in lines:
        cost = cost_of(program, line)
        verdict = "" if options else line.verdict(cost)
        wrong += bool(verdict)
        written.append(line.text(cost))
        print(f"{'wrong: ' * bool(verdict)}{line.case}: {cost:,.0f} instructions{', ' * bool(verdict)}{verdict}")
    if options == ("--write",):
        path.write_text("\n".join([*comments, *written]) + "\n")
    planted = sum(line.is_planted for line in lines)
    print(f"{len(lines) - planted} figures, {wrong} wrong; {planted} planted ones refused")
    return wrong > 0 or not planted


sys.exit(main(*sys.argv[1:]))
