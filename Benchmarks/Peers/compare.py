"""Measures this runtime and its peers in turns. Benchmarks/compare builds the programs and calls this."""

import argparse
import datetime
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

from catalogue import COLUMNS, PEERS, RUNNER
from table import table

COUNTED = [column for column in COLUMNS if column != "bytes"]
# Otherwise Swift seeds its hash tables anew in each process, and two processes are compared.
REPEATABLE = {**os.environ, "SWIFT_DETERMINISTIC_HASHING": "1"}


class Programs:
    """The built programs; some peers' programs may not have been built."""

    def __init__(self, folder, runner):
        self.folder, self.runner = folder, runner

    def path(self, peer):
        return self.runner if peer.program == RUNNER else self.folder / peer.program

    def command(self, peer, column, count=None):
        """None if the peer has no such case."""
        name = peer.cases.get(column) if peer.cases else column
        if name is None or not self.path(peer).exists():
            return None
        mode = ["--turn", name] if count is None else ["--repeat", name, str(count)]
        return [str(self.path(peer)), *mode]


def output(command):
    result = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if result.returncode:
        sys.exit(f"compare: {' '.join(command)} ends with {result.returncode}: {result.stderr.strip()}")
    return result.stdout.strip()


def turn(programs, peer, column):
    command = programs.command(peer, column)
    if command is None:
        return None
    text = output(command)
    return None if text == "none" else float(text)


def times(programs, rounds, tell):
    """All turns, by peer and column. In each round every case has one turn."""
    turns = {(peer.name, column): [] for peer in PEERS for column in COLUMNS}
    for number in range(rounds):
        tell(f"round {number + 1} of {rounds}")
        for column in COLUMNS:
            for peer in PEERS:
                # Byte counts do not vary, so one round suffices.
                if column == "bytes" and number:
                    continue
                value = turn(programs, peer, column)
                if value is not None:
                    turns[peer.name, column].append(value)
    return turns


def instructions(programs, peer, column):
    """Instructions of one operation: the difference between N and 2 N repetitions, divided by N."""
    if programs.command(peer, column) is None or output(programs.command(peer, column, peer.repeats)) == "none":
        return None
    totals = []
    for count in (peer.repeats, 2 * peer.repeats):
        with tempfile.NamedTemporaryFile() as file:
            command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={file.name}",
                       *programs.command(peer, column, count)]
            result = subprocess.run(command, capture_output=True, text=True, timeout=600, env=REPEATABLE)
            if result.returncode:
                sys.exit(f"compare: {' '.join(command)}: {result.stderr[-400:]}")
            totals.append(int(re.search(r"Collected : (\d+)", result.stderr)[1]))
    return round((totals[1] - totals[0]) / peer.repeats)


def version(peer):
    if not peer.version:
        return None
    return subprocess.run(peer.version, shell=True, capture_output=True, text=True).stdout.strip() or None


def machine():
    cpu = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    system = re.search(r'PRETTY_NAME="(.*)"', pathlib.Path("/etc/os-release").read_text())
    swift = subprocess.run(["swift", "--version"], capture_output=True, text=True).stdout.splitlines()
    return {"date": datetime.date.today().isoformat(), "cpu": cpu and cpu[1], "system": system and system[1],
            "swift": swift[0] if swift else None}


def figure(turns, count):
    if not turns:
        return None
    return {"median": statistics.median(turns), "min": min(turns), "max": max(turns), "turns": len(turns),
            "instructions": count}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", type=pathlib.Path, required=True)
    parser.add_argument("--runner", type=pathlib.Path, required=True)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--no-counts", action="store_true")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()

    def tell(text):
        if sys.stderr.isatty():
            print(f"\r{text:<60}", end="", file=sys.stderr, flush=True)

    programs = Programs(options.programs, options.runner)
    turns = times(programs, options.rounds, tell)
    document = {"machine": machine(), "peers": []}
    for peer in PEERS:
        tell(f"instructions of {peer.name}")
        missing = not programs.path(peer).exists()
        figures = {}
        for column in COLUMNS:
            counted = not options.no_counts and column in COUNTED
            count = instructions(programs, peer, column) if counted else None
            figures[column] = figure(turns[peer.name, column], count)
        document["peers"].append({
            "name": peer.name, "version": None if missing else version(peer), "ours": peer.is_ours,
            "missing": missing, "lacks": peer.lacks, "figures": figures})
    tell("")
    if options.json:
        options.json.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")
    print(table(document))


if __name__ == "__main__":
    main()
