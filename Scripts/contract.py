"""Tells which promised names are not public, or not used by the tests of the contract.

Usage: contract.py NAMES.txt FOLDER GRAPH.json...

NAMES.txt has a name a line, one that several declarations share as often. FOLDER has what the
compiler made of the tests, as `-dump-ast-format json`, each file beside its source: a member is used
where its identifier stands there, a type where its name stands in the source.
"""

import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

import symbols

TYPES = {"swift.class", "swift.struct", "swift.enum", "swift.protocol", "swift.typealias"}
# A macro that has been expanded leaves no identifier behind.
WRITTEN = TYPES | {"swift.macro"}


def public_symbols(graphs):
    """By name, those of the module itself, without what the compiler derives."""
    named = defaultdict(list)
    for graph in symbols.read(graphs):
        for symbol in graph["symbols"]:
            if symbols.is_public(symbol) and "location" in symbol:
                named[symbols.name(symbol)].append(symbol)
    return named


class Tests:
    def __init__(self, folder):
        trees = [path.read_text(encoding="utf-8") for path in Path(folder).glob("*.json")]
        sources = [path.read_text(encoding="utf-8") for path in Path(folder).glob("*.swift")]
        self.identifiers = {usr for tree in trees for usr in re.findall(r'"(s:[^"]+)"', tree)}
        self.words = {
            word for source in sources for word in re.findall(r"\w+", re.sub("//.*", "", source))}

    def use(self, symbol):
        if symbol["kind"]["identifier"] in WRITTEN:
            return symbol["pathComponents"][-1].removesuffix("()") in self.words
        return symbol["identifier"]["precise"] in self.identifiers


def objections(names, public, tests):
    for name, times in sorted(names.items()):
        used = sum(map(tests.use, public[name]))
        if len(public[name]) < times:
            yield f"{name} is promised {times} times, and public {len(public[name])} times"
        elif used < times:
            yield f"{name} is promised {times} times, and used {used} times"


def sees_too_much(names, public, tests):
    """Whether even what is public beyond what is promised seems to be used, all of it."""
    beyond = [symbol for name in public.keys() - names.keys() for symbol in public[name]]
    return all(map(tests.use, beyond))


def main(names_file, folder, *graphs):
    names = Counter(Path(names_file).read_text(encoding="utf-8").splitlines())
    public, tests = public_symbols(graphs), Tests(folder)
    findings = list(objections(names, public, tests))
    if sees_too_much(names, public, tests):
        findings.append("this check is blind: all that is public seems to be used")
    for finding in findings:
        print(f"wrong: {finding}")
    print(f"{names.total()} names")
    return bool(findings) or not names


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
