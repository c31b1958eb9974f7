"""Compares the code of Markdown files with the files that it is quoted from.

Usage: quotes.py FILE.md...

A block of code that follows the comment `<!-- from: Examples/TinyBinding/tiny.c -->` is a piece of that
file. Whoever quotes a file quotes all of it, in its order: the pieces on one page, with an empty line
between each two, are the file. Prints what differs.
"""

import difflib
import pathlib
import re
import sys

QUOTE = re.compile(r"^<!-- from: (\S+) -->\n```\w+\n(.*?)^```$", re.M | re.S)


def quoted_files(markdown):
    """What a page quotes: the text of each file, put together from its pieces."""
    pieces = {}
    for path, code in QUOTE.findall(pathlib.Path(markdown).read_text(encoding="utf-8")):
        pieces.setdefault(path, []).append(code)
    return {path: "\n".join(parts) for path, parts in pieces.items()}


def differences(markdown):
    for path, quoted in quoted_files(markdown).items():
        text = pathlib.Path(path).read_text(encoding="utf-8")
        yield from difflib.unified_diff(
            text.splitlines(), quoted.splitlines(), path, markdown, lineterm=""
        )


def main(pages):
    found = [line for page in pages for line in differences(page)]
    print("\n".join(found) if found else f"{sum(len(quoted_files(page)) for page in pages)} files")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
