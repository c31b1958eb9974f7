"""Instructions that the work of Tests/Counts takes, and whether more of it costs more each time.

Usage: counts.py SCRATCH_FOLDER PROGRAM [ARGUMENT]

The program's figures are named "what, size/count". Those of one `what` must be alike, per piece of
work, at all sizes: then finding does not depend on how much there is, and removing all is linear.
What is done at random may grow as the size's logarithm does. The program tells figures of memory
itself, in lines "bytes: what, size/count: total".
"""

import math
import pathlib
import re
import shutil
import subprocess
import sys

# How much more one may cost than another. Nothing here grows with the size; what differs is how
# often a hash table is probed, a list is compacted and the allocator tidies up. Logarithmic growth
# would show as 1.7 and more from 1,000 to 100,000.
MOST = 1.4
FIGURE = re.compile(r"^desc: Trigger: Client Request: (.+), (\d+)/(\d+)$", re.M)
BYTES = re.compile(r"^bytes: (.+), (\d+)/(\d+): (\d+)$", re.M)
TOTAL = re.compile(r"^(?:totals|summary): (\d+)", re.M)


def count(command, scratch):
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
    """How many times more a piece costs at one size than at another, a logarithm's growth aside."""
    ratio = max(by_size.values()) / min(by_size.values())
    allowed = math.log(max(by_size)) / math.log(min(by_size)) if what.endswith("at random") else 1
    return max(1, ratio / allowed)


def main():
    scratch, command = pathlib.Path(sys.argv[1]), sys.argv[2:]
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    figures = count(command, scratch)
    worst = 1
    for (what, unit), by_size in figures.items():
        ratio = growth(what, by_size)
        worst = max(worst, ratio)
        shown = ", ".join(f"{cost:.0f} at {size:,}" for size, cost in by_size.items())
        verdict = "" if ratio <= MOST else f", {ratio:.2f} TIMES AS MANY"
        print(f"{what}: {shown} {unit}{verdict}")
    if not figures or any(len(by_size) < 2 for by_size in figures.values()):
        sys.exit("callgrind counted nothing")
    print(f"{len(figures)} figures; the most that one grows is {worst:.2f} times, allowed {MOST}")
    sys.exit(worst > MOST)


main()
