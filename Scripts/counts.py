"""Instructions that the work of Tests/Counts takes, and whether more of it costs more each time.

Usage: counts.py SCRATCH_FOLDER PROGRAM [ARGUMENT]

The program's figures are named "what, size/count". Those of one `what` must be alike, per piece of
work, at all sizes: then finding does not depend on how much there is, and removing all is linear.
"""

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
TOTAL = re.compile(r"^(?:totals|summary): (\d+)", re.M)


def count(command, scratch):
    """By what is done: the size, and instructions per piece of work."""
    output = scratch / "callgrind"
    subprocess.run(
        ["valgrind", "--tool=callgrind", "--instr-atstart=no", "--quiet"]
        + [f"--callgrind-out-file={output}", *command],
        check=True,
    )
    figures = {}
    for path in sorted(scratch.glob("callgrind.*"), key=lambda path: int(path.suffix[1:])):
        text = path.read_text()
        figure = FIGURE.search(text)
        if figure:
            what, size, times = figure[1], int(figure[2]), int(figure[3])
            total = int(TOTAL.findall(text)[-1])
            figures.setdefault(what, {})[size] = total / times
    return figures


def main():
    scratch, command = pathlib.Path(sys.argv[1]), sys.argv[2:]
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    figures = count(command, scratch)
    worst = 1
    for what, by_size in figures.items():
        ratio = max(by_size.values()) / min(by_size.values())
        worst = max(worst, ratio)
        shown = ", ".join(f"{cost:.0f} at {size:,}" for size, cost in by_size.items())
        verdict = "" if ratio <= MOST else f", {ratio:.2f} TIMES AS MANY"
        print(f"{what}: {shown} instructions{verdict}")
    if not figures or any(len(by_size) < 2 for by_size in figures.values()):
        sys.exit("callgrind counted nothing")
    print(f"{len(figures)} figures; the most that one grows is {worst:.2f} times, allowed {MOST}")
    sys.exit(worst > MOST)


main()
