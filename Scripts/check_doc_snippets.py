"""Compares code in Markdown files with the files that it is quoted from.

Usage: check_doc_snippets.py FILE.md...

A block of code after the comment `<!-- from: Examples/TinyBinding/tiny.c -->` is a part of that file. A page that quotes a
file must quote all of it, in order: the parts on the page, separated by empty lines, must equal the file. Prints the
differences.
"""

import difflib
import pathlib
import re
import sys

QUOTE = re.compile(r"^<!-- from: (\S+) -->\n```\w+\n(.*?)^```$", re.M | re.S)


def quoted_files(markdown):
    """The text of each file that a page quotes, put together from its parts."""
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
