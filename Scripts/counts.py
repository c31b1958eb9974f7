"""Instructions and bytes that the work of Tests/Counts takes, and whether that is more than it may be.

Usage: counts.py SCRATCH_FOLDER CEILINGS PROGRAM

The program is run twice: with `bytes` it tells those, so that they are counted in memory where nothing was before.

The program's figures are named "what, size/count". The table of ceilings has a line for each `what`: the
most that a piece of work may cost at the smallest size and at the largest, and how many times what it costs at
one size it may cost at any larger one. What is done at random may besides grow as the size's logarithm does. The program tells figures of
memory itself, in lines "bytes: what, size/count: total". A figure named "planted: what" costs more than
`what` on purpose, and one named "planted growth: what" grows more: if they are not refused, the check is blind.

This run's figures with a little room are left in SCRATCH_FOLDER as a new table, with the old one's
growths: where something has become cheaper, or is new, take its lines from there.
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
PLANTED, PLANTED_GROWTH = "planted: ", "planted growth: "
# Of a line without one. What differs in what does not grow is how often a hash table is probed, a list is
# compacted and the allocator tidies up; logarithmic growth would show as 1.7 from 1,000 to 100,000.
GROWTH = 1.4
# Instructions are those of x86-64, and bytes those of its C library's allocator.
HAS_CEILINGS = platform.machine() == "x86_64"


def count(scratch, *command):
    """By what is done, and what is counted: the size, and how many per piece of work."""
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
    """How many times more a piece costs at a larger size, a logarithm's growth aside."""
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
    """By what and unit: the most at the smallest and at the largest size, and the growth."""
    lines = [LINE.match(line) for line in text.splitlines() if line and line[0] != "#"]
    if not all(lines):
        sys.exit("a line of the ceilings can't be read")
    return {(line[5], line[4]): ((int(line[1]), int(line[2])), float(line[3])) for line in lines}


def judge(what, unit, by_size, ceilings):
    """What is wrong with a figure; empty if nothing is."""
    if (what, unit) not in ceilings:
        return "HAS NO CEILING"
    most, may_grow = ceilings[what, unit]
    return exceeds(by_size, most) or grows(what, by_size, may_grow)


def exceeds(by_size, most):
    more = [f"MORE THAN {limit}" for cost, limit in zip(ends(by_size), most) if cost > limit]
    return more[0] if HAS_CEILINGS and more else ""


def ends(by_size):
    """What it costs at the smallest size, and at the largest."""
    return by_size[min(by_size)], by_size[max(by_size)]


def grows(what, by_size, may_grow):
    ratio = growth(what, by_size)
    return f"GROWS {ratio:.2f} TIMES, ALLOWED {may_grow}" if ratio > may_grow else ""


def judge_planted(name, unit, by_size, ceilings):
    what = name.removeprefix(PLANTED).removeprefix(PLANTED_GROWTH)
    most, may_grow = ceilings.get((what, unit), (None, 0))
    if name.startswith(PLANTED_GROWTH):
        is_refused = most and grows(what, by_size, may_grow)
    else:
        is_refused = most and exceeds(by_size, most) or not HAS_CEILINGS
    return "" if is_refused else "NOT REFUSED: this check is blind"


def is_planted(name):
    return name.startswith((PLANTED, PLANTED_GROWTH))


def room(cost, unit):
    """Where much is done, allocators and hash tables have a part that differs with what else there is; in bytes, a
    small one of hash tables by addresses."""
    if unit == "bytes":
        return 1.01
    return 1.03 if cost < 500 else 1.12


def table(figures, ceilings):
    """The lines of a new table of ceilings: these figures with a little room."""
    for (what, unit), by_size in figures.items():
        least, most = (math.ceil(cost * room(cost, unit)) for cost in ends(by_size))
        may_grow = ceilings.get((what, unit), (0, GROWTH))[1]
        if not is_planted(what):
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
        judging = judge_planted if is_planted(what) else judge
        verdict = judging(what, unit, by_size, ceilings)
        shown = ", ".join(f"{cost:.0f} at {size:,}" for size, cost in sorted(by_size.items()))
        wrong += bool(verdict)
        print(f"wrong: {what}: {shown} {unit}, {verdict}" if verdict else f"{what}: {shown} {unit}")
    for what, unit in ceilings.keys() - figures.keys():
        wrong += 1
        print(f"wrong: {what} has a ceiling, but NO FIGURE of {unit}")
    comments = "".join(line for line in text.splitlines(True) if line[0] == "#")
    (scratch / "ceilings.txt").write_text(comments + "".join(table(figures, ceilings)))
    planted = sum(is_planted(what) for what, _ in figures)
    print(f"{len(figures) - planted} figures, {wrong} wrong; {planted} planted ones refused")
    sys.exit(wrong > 0 or not planted)


main()
