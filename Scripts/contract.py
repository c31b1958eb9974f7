"""Reports promised names that are not public, or that the contract's tests don't use.

Usage: contract.py NAMES.txt FOLDER GRAPH.json...

NAMES.txt has a name in each line; a name that several declarations share is repeated as often. FOLDER has the tests' syntax
trees, written by the compiler (`-dump-ast-format json`), each beside its source. A member is used if its identifier is in a
syntax tree, a type if its name is in a source.
"""

import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

import symbols

TYPES = {"swift.class", "swift.struct", "swift.enum", "swift.protocol", "swift.typealias"}
# An expanded macro leaves no identifier behind.
WRITTEN = TYPES | {"swift.macro"}


def public_symbols(graphs):
    """The module's own symbols by name, without those that the compiler derives."""
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
    """Whether the public names that are not promised seem to be used, too, all of them."""
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
