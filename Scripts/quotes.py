"""Compares what pages quote with its origin: files, and messages of the libraries.

Usage: quotes.py FILE.md...

A block of code after the comment `<!-- from: Examples/TinyBinding/tiny.c -->` is a part of that file. A page that
quotes a file must quote all of it, in order: the parts on the page, separated by empty lines, must equal the file.

A table after the comment `<!-- messages -->` has in its first column messages of the libraries, in quotation marks. A
text between two "…" must occur in a source, in which each interpolation and each `%s` is such a gap as well.
"""

import difflib
import pathlib
import re
import sys

QUOTE = re.compile(r"^<!-- from: (\S+) -->\n```\w+\n(.*?)^```$", re.M | re.S)
TABLE = re.compile(r"^<!-- messages -->\n((?:\|.*\n)+)", re.M)
ROW = re.compile(r'^\| "(.*?)" \| ', re.M)
SOURCES = [path for kind in ("swift", "c", "h") for path in pathlib.Path("Sources").rglob(f"*.{kind}")]
LITERALS = re.compile(r'(?<!\\)"\s*\+?\s*"')  # that follow one another, in C or joined with +
LINE_ENDS = re.compile(r"\\\n\s*")
GAPS = re.compile(r"\\\([^()]*(?:\([^()]*(?:\([^()]*\)[^()]*)*\)[^()]*)*\)|%\.?\d*l?z?[sugd]")


def quoted_files(text):
    """The text of each file that a page quotes, put together from its parts."""
    pieces = {}
    for path, code in QUOTE.findall(text):
        pieces.setdefault(path, []).append(code)
    return {path: "\n".join(parts) for path, parts in pieces.items()}


def differences(page, text):
    for path, quoted in quoted_files(text).items():
        original = pathlib.Path(path).read_text()
        yield from difflib.unified_diff(original.splitlines(), quoted.splitlines(), path, page, lineterm="")


def messages_of(path):
    text = LINE_ENDS.sub("", path.read_text())
    text = LITERALS.sub("", text)
    return GAPS.sub("…", text).replace('\\"', '"')


def lost_messages(page, text, sources):
    for message in (row for table in TABLE.findall(text) for row in ROW.findall(table)):
        for part in re.split(r"\W*…\W*", message):
            if len(part) > 3 and part not in sources:
                yield f'{page}: no source says "{part}", as in "{message}"'


def main(pages):
    texts = {page: pathlib.Path(page).read_text() for page in pages}
    sources = "\n".join(map(messages_of, SOURCES))
    found = []
    for page, text in texts.items():
        found += [*differences(page, text), *lost_messages(page, text, sources)]
    print(*found, sep="\n")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
