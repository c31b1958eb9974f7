"""Counts the instructions of cases of the benchmarks, and compares them with ceilings.

Usage: swift_counts.py PROGRAM CEILINGS [--write]

PROGRAM is the program `Benchmarks` or `BridgeReads`, without debug information. It repeats a case COUNT times and twice
as often, each under callgrind. The difference, divided by COUNT, is what one operation costs, without the start of the
program.

CEILINGS has lines "ceiling COUNT case". With `--write` each ceiling becomes the figure with ROOM above it.
"""

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


def instructions(program, case, count):
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, "--repeat", case, str(count)]
    result = subprocess.run(command, text=True, capture_output=True, env=ENVIRONMENT)
    total = TOTAL.search(result.stderr)
    if result.returncode or not total:
        sys.exit(f"{case} fails:\n{result.stderr}")
    return int(total[1])


def cost_of(program, case, count):
    once, twice = (instructions(program, case, count * factor) for factor in (1, 2))
    return (twice - once) / count


def verdict(cost, ceiling):
    if cost <= 0:
        return "NOTHING IS COUNTED"
    return f"MORE THAN {ceiling}" if HAS_CEILINGS and cost > ceiling else ""


def main(program, ceilings, *options):
    path = pathlib.Path(ceilings)
    written, counted, wrong = [], 0, 0
    for line in path.read_text().splitlines():
        if line.startswith("#"):
            written.append(line)
            continue
        ceiling, count, case = line.split()
        cost = cost_of(program, case, int(count))
        objection = verdict(cost, math.inf if options else int(ceiling))
        counted += 1
        wrong += bool(objection)
        written.append(f"{math.ceil(cost * ROOM):8} {count:>6} {case}")
        figure = f"{case}: {cost:,.0f} instructions"
        print(f"wrong: {figure}, {objection}" if objection else figure)
    if options == ("--write",):
        path.write_text("\n".join(written) + "\n")
    print(f"{counted} cases, {wrong} wrong")
    return wrong > 0 or counted < 3  # an empty list would pass


sys.exit(main(*sys.argv[1:]))
