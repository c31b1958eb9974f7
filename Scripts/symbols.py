"""Names the public declarations in symbol graphs that have no documentation comment.

Usage: symbols.py GRAPH.json...

C declarations may share a comment: it speaks for all that follow it up to the next empty line. Members of C structs and cases of C enums document themselves beside their type, and
what the compiler derives (a symbol without a location) needs no comment.
"""

import json
import sys
from urllib.parse import unquote, urlparse

C_KINDS = {"c.func", "c.var", "c.struct", "c.enum", "c.typealias"}


def shares_comment(path, line):
    """Whether a comment stands above a line (counted from 0), with no empty line between."""
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
    return "location" in symbol and (kind in C_KINDS or kind.startswith("swift."))


def main(graphs):
    checked = 0
    undocumented = set()
    for graph in graphs:
        with open(graph, encoding="utf-8") as file:
            symbols = filter(is_checked, json.load(file)["symbols"])
        for symbol in symbols:
            checked += 1
            path = unquote(urlparse(symbol["location"]["uri"]).path)
            line = symbol["location"]["position"]["line"]
            if not is_documented(symbol, path, line):
                undocumented.add((path, line + 1, symbol["names"]["title"]))
    for path, line, name in sorted(undocumented):
        print(f"{path}:{line}: {name} has no documentation comment")
    print(f"{checked} public declarations")
    return 1 if undocumented or not checked else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
