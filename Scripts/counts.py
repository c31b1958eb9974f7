"""Counts the instructions and bytes of the work in Tests/Counts, and compares them with ceilings.

Usage: counts.py SCRATCH_FOLDER CEILINGS PROGRAM

The program runs twice. With the argument `bytes` it prints figures of memory only, so that they are counted in fresh
memory, in lines "bytes: what, size/count: total".

The program's figures are named "what, size/count". The table of ceilings has a line for each `what`. It limits the cost
of a piece of work at the smallest size and at the largest, and the factor by which the cost may grow from any size to a
larger one. Work in random order may also grow with the logarithm of the size.

This run's figures, with a little room, are written to SCRATCH_FOLDER as a new table with the old growth factors. Take
lines from it for work that is new or has become cheaper.
"""

import math
import pathlib
import platform
import re
import shutil
import subprocess
import sys

FIGURE = re.compile(r"^desc: Trigger: Client Request: (.+), (\d+)/(\d+)$", re.M)
BYTES = re.compile(r"^bytes: (.+), (\d+)/(\d+): (\d+)$", re.M)
TOTAL = re.compile(r"^(?:totals|summary): (\d+)", re.M)
LINE = re.compile(r"^ *(\d+) +(\d+) +([\d.]+) (instructions|bytes) +(.+)$")
# For a line without a factor. Work that does not grow still varies with the probes of hash tables, the compaction of
# lists and the allocator's cleaning. Logarithmic growth would show as 1.7 from 1,000 to 100,000.
GROWTH = 1.4
# Instructions are those of x86-64, and bytes those of its C library's allocator.
HAS_CEILINGS = platform.machine() == "x86_64"


def count(scratch, *command):
    """Costs per piece of work, by kind of work and unit, then by size."""
    output = scratch / "callgrind"
    told = subprocess.run(
        ["valgrind", "--tool=callgrind", "--instr-atstart=no", "--quiet"]
        + [f"--callgrind-out-file={output}", *command],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout
    figures = {}
    for what, size, times, total in BYTES.findall(told):
        figures.setdefault((what, "bytes"), {})[int(size)] = int(total) / int(times)
    for path in sorted(scratch.glob("callgrind.*"), key=lambda path: int(path.suffix[1:])):
        text = path.read_text()
        figure = FIGURE.search(text)
        if figure:
            what, size, times = figure[1], int(figure[2]), int(figure[3])
            total = int(TOTAL.findall(text)[-1])
            figures.setdefault((what, "instructions"), {})[size] = total / times
    return figures


def growth(what, by_size):
    """The highest factor by which a piece costs more at a larger size, not counting permitted logarithmic growth."""
    sizes = sorted(by_size)
    ratios = [
        by_size[larger] / by_size[smaller] / allowed(what, smaller, larger)
        for i, smaller in enumerate(sizes)
        for larger in sizes[i + 1 :]
    ]
    return max(ratios, default=1)


def allowed(what, smaller, larger):
    return math.log(larger) / math.log(smaller) if what.endswith("at random") else 1


def read_ceilings(text):
    """By work and unit: the limits at the smallest and the largest size, and the permitted growth."""
    lines = [LINE.match(line) for line in text.splitlines() if line and line[0] != "#"]
    if not all(lines):
        sys.exit("a line of the ceilings can't be read")
    return {(line[5], line[4]): ((int(line[1]), int(line[2])), float(line[3])) for line in lines}


def judge(what, unit, by_size, ceilings):
    """The objection to a figure; empty if there is none."""
    if (what, unit) not in ceilings:
        return "HAS NO CEILING"
    most, may_grow = ceilings[what, unit]
    if all(most) and not all(by_size.values()):
        return "NOTHING IS COUNTED"
    more = [f"MORE THAN {limit}" for cost, limit in zip(ends(by_size), most) if cost > limit]
    if HAS_CEILINGS and more:
        return more[0]
    ratio = growth(what, by_size)
    return f"GROWS {ratio:.2f} TIMES, ALLOWED {may_grow}" if ratio > may_grow else ""


def ends(by_size):
    """The costs at the smallest and at the largest size."""
    return by_size[min(by_size)], by_size[max(by_size)]


def room(cost, unit):
    """The room above a figure. For large work, allocators and hash tables vary with other contents; for bytes, only
    hash tables keyed by address vary, slightly."""
    if unit == "bytes":
        return 1.01
    return 1.03 if cost < 500 else 1.12


def table(figures, ceilings):
    """The lines of a new table of ceilings: these figures with a little room."""
    for (what, unit), by_size in figures.items():
        least, most = (math.ceil(cost * room(cost, unit)) for cost in ends(by_size))
        may_grow = ceilings.get((what, unit), (0, GROWTH))[1]
        yield f"{least:6} {most:6} {may_grow:4} {unit:12} {what}\n"


def main():
    scratch, ceilings_path, program = pathlib.Path(sys.argv[1]), *sys.argv[2:]
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    text = pathlib.Path(ceilings_path).read_text()
    ceilings = read_ceilings(text)
    figures = count(scratch, program, "bytes") | count(scratch, program)
    wrong = 0
    for (what, unit), by_size in figures.items():
        verdict = judge(what, unit, by_size, ceilings)
        shown = ", ".join(f"{cost:.0f} at {size:,}" for size, cost in sorted(by_size.items()))
        wrong += bool(verdict)
        print(f"wrong: {what}: {shown} {unit}, {verdict}" if verdict else f"{what}: {shown} {unit}")
    for what, unit in ceilings.keys() - figures.keys():
        wrong += 1
        print(f"wrong: {what} has a ceiling, but NO FIGURE of {unit}")
    comments = "".join(line for line in text.splitlines(True) if line[0] == "#")
    (scratch / "ceilings.txt").write_text(comments + "".join(table(figures, ceilings)))
    print(f"{len(figures)} figures, {wrong} wrong")
    sys.exit(wrong > 0)


main()
