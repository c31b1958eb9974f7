"""Finds messages that a page quotes, but that no source has.

Usage: messages.py FILE.md...

A table after the comment `<!-- messages -->` has in its first column messages of the libraries, in quotation marks. A text
between two "…" must occur in a source, in which each interpolation and each `%s` is such a gap as well.
"""

import pathlib
import re
import sys

TABLE = re.compile(r"^<!-- messages -->\n((?:\|.*\n)+)", re.M)
ROW = re.compile(r'^\| "(.*?)" \| ', re.M)
SOURCES = [path for kind in ("swift", "c", "h") for path in pathlib.Path("Sources").rglob(f"*.{kind}")]
LITERALS = re.compile(r'(?<!\\)"\s*\+?\s*"')  # that follow one another, in C or joined with +
LINE_ENDS = re.compile(r"\\\n\s*")
GAPS = re.compile(r"\\\([^()]*(?:\([^()]*(?:\([^()]*\)[^()]*)*\)[^()]*)*\)|%\.?\d*l?z?[sugd]")


def text_of(path):
    text = LINE_ENDS.sub("", path.read_text(encoding="utf-8"))
    text = LITERALS.sub("", text)
    return GAPS.sub("…", text).replace('\\"', '"')


def fragments(message):
    return [part for part in re.split(r'\W*…\W*', message) if len(part) > 3]


def main(pages):
    sources = "\n".join(map(text_of, SOURCES))
    messages = [
        (page, row)
        for page in pages
        for table in TABLE.findall(pathlib.Path(page).read_text(encoding="utf-8"))
        for row in ROW.findall(table)
    ]
    lost = [(page, row, part) for page, row in messages for part in fragments(row) if part not in sources]
    for page, row, part in lost:
        print(f'{page}: no source says "{part}", as in "{row}"')
    print(f"{len(messages)} messages")
    return bool(lost) or not messages


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
