"""Explores all states of the models of protocols, and checks the expected results.

Usage: models.py SCRATCH_FOLDER FOLDER

The head of a model states the expected results, one configuration in each line. The configuration's options, if any,
end with two spaces; the rest of the line explains them, or names what they take out:

    // holds: -DFENCES=1  each fences itself
    // violated: -DFENCES=0  the fences

A model that holds has been explored completely. The result of one that needs more steps or memory than there is, or
that can't be compiled, is `unknown`. Time has no influence. If a model violates its properties unexpectedly, the steps
that lead there are printed. Each model has configurations of both kinds.
"""

import concurrent.futures
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

STEPS = 1_000_000
MEMORY = 4000  # MB
TRAIL = 40  # steps that are printed
WAY = re.compile(r"// (holds|violated):(.*)")
VIOLATION = re.compile(r"^pan:\d+: (.*) \(at depth", re.M)
LIMIT = re.compile(r"max search depth too small|reached -DMEMLIM bound|out of memory|not completed")
STATES = re.compile(r"([\d.e+]+) states, stored")


@dataclasses.dataclass
class Way:
    model: pathlib.Path
    expected: str
    options: list[str]
    folder: pathlib.Path

    def spin(self, *arguments):
        command = ["spin", *arguments, *self.options, str(self.model.resolve())]
        return run(command, self.folder)


def run(command, folder):
    """Runs the command. Returns whether it succeeded, and its output."""
    result = subprocess.run(command, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return result.returncode == 0, result.stdout


def ways_of(model, scratch):
    ways = []
    for line in model.read_text().splitlines():
        match = WAY.match(line)
        if not match:
            continue
        options = match[2].partition("  ")[0].split()
        ways.append(Way(model, match[1], options, scratch / f"{model.stem}-{len(ways)}"))
    return ways


def explore(way):
    """The result and the reason for it."""
    way.folder.mkdir(parents=True)
    made, said = way.spin("-a")
    if made:
        level = "-O2" if way.expected == "holds" else "-O0" # a violation is found soon
        flags = [level, "-w", "-DSAFETY", f"-DMEMLIM={MEMORY}"]
        made, said = run(["gcc", *flags, "pan.c", "-o", "pan"], way.folder)
    if not made:
        return "unknown", "it can't be compiled: " + said.strip()
    ended_well, said = run(["./pan", f"-m{STEPS}"], way.folder)
    violation, limit = VIOLATION.search(said), LIMIT.search(said)
    if violation:
        return "violated", violation[1]
    if not ended_well or limit or "errors: 0" not in said:
        return "unknown", limit[0] if limit else said.strip()[-200:]
    return "holds", STATES.search(said)[1] + " states"


def judge(way):
    """Whether the result is as expected, and the line to print."""
    started = time.monotonic()
    found, why = explore(way)
    seconds = time.monotonic() - started
    if found == way.expected:
        told = f"{seconds:5.1f} s  {found}: {why}"
    else:
        told = f"{seconds:5.1f} s  WRONG: {found}, not {way.expected}: {why}"
        told += trail_of(way) if found == "violated" else ""
    shutil.rmtree(way.folder)
    return found == way.expected, f"{' '.join([way.model.name, *way.options]):44} {told}"


def trail_of(way):
    _, said = way.spin("-t", "-p", "-l", "-g", "-k", f"{way.model.name}.trail")
    steps = [line for line in said.splitlines() if line.strip()]
    return "".join(f"\n    {line}" for line in ["…", *steps[-TRAIL:]])


def main():
    scratch, models = pathlib.Path(sys.argv[1]), sorted(pathlib.Path(sys.argv[2]).glob("*.pml"))
    shutil.rmtree(scratch, ignore_errors=True)
    ways = [way for model in models for way in ways_of(model, scratch)]
    wrong = 0
    for model in models:
        for sort in ("holds", "violated"):
            if not any(way.model == model and way.expected == sort for way in ways):
                print(f"wrong: {model} has no way that is '{sort}'")
                wrong += 1
    # The models that hold take longest, so they run first: none of them is left at the end.
    ways.sort(key=lambda way: way.expected != "holds")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for is_right, line in pool.map(judge, ways):
            print(line, flush=True)
            wrong += not is_right
    held = sum(way.expected == "holds" for way in ways)
    print(f"{len(models)} models hold in {held} ways, and in {len(ways) - held} are found broken")
    sys.exit(bool(wrong) or not models)


if __name__ == "__main__":
    main()
