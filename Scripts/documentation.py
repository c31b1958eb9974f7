"""Lists the public declarations in symbol graphs that have no documentation comment.

Usage: documentation.py [--sample FILE]... GRAPH.json...

C declarations may share a comment: it applies to all declarations that follow it up to the next empty line. Members of C
structs and cases of C enums are documented beside their type, and symbols that the compiler derives (without a location)
need no comment. For samples see symbols.py.
"""

import argparse
import sys

import symbols

C_KINDS = {"c.func", "c.var", "c.struct", "c.enum", "c.typealias"}


def shares_comment(path, line):
    """Whether a comment precedes a line (counted from 0) without an empty line in between."""
    with open(path, encoding="utf-8") as file:
        above = [text.strip() for text in file.read().splitlines()[:line]]
    while above and above[-1] and not above[-1].startswith("//"):
        above.pop()
    return bool(above and above[-1])


def is_documented(symbol, path, line):
    if "docComment" in symbol:
        return True
    return symbol["kind"]["identifier"].startswith("c.") and shares_comment(path, line)


def is_checked(symbol):
    kind = symbol["kind"]["identifier"]
    is_declaration = kind in C_KINDS or kind.startswith("swift.")
    return is_declaration and symbols.is_public(symbol) and "location" in symbol


def undocumented(declarations):
    for symbol in declarations:
        path, line = symbols.place(symbol)
        if not is_documented(symbol, path, line):
            title = symbol["names"]["title"]
            yield symbols.Finding(path, line + 1, title, f"{title} has no documentation comment")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sample", action="append", default=[])
    parser.add_argument("graphs", nargs="+")
    arguments = parser.parse_args()
    graphs = symbols.read(arguments.graphs)
    checked = [symbol for graph in graphs for symbol in graph["symbols"] if is_checked(symbol)]
    findings = list(undocumented(checked))
    if arguments.sample:
        return symbols.differs_from_sample(findings, arguments.sample)
    failed = symbols.tell(findings)
    print(f"{len(checked)} public declarations")
    return failed or not checked


if __name__ == "__main__":
    sys.exit(main())
