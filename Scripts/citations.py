"""Checks that the functions and files that models and pages cite are there.

Usage: citations.py FILE...

In a page all lines are searched, in other files the comments. A word with an underscore, such as kvo_entry_insert, is
an identifier. It must occur outside of comments in a source of a library or example, for a model (.pml) in one of the C
runtime or in the model itself, or as the name of a source. So must the name of a C source or header. Words that begin like those
of EXAMPLES belong to programs that pages show.
"""

import pathlib
import re
import sys

SOURCES = [
    path
    for path in [*pathlib.Path("Sources").rglob("*"), *pathlib.Path("Examples").glob("*/*")]
    if path.suffix in (".c", ".cpp", ".h", ".swift")
]
RUNTIME = pathlib.Path("Sources/CKVORuntime")
COMMENT = re.compile(r"//.*")
WORD = re.compile(r"[A-Za-z_]\w*")
CITED = re.compile(r"(?<![\w.-])[a-z]\w*_\w+(?!\w*\.pml)\b")
FILE = re.compile(r"(?<![\w/<])\w+\.(?:c|cpp|h)\b")
EXAMPLES = ("account_", "balance_", "interpose_", "pthread_")


def identifiers(text):
    return set(WORD.findall(COMMENT.sub("", text)))


def cited(path, text):
    """The number of each line with a citation, and the name."""
    for number, line in enumerate(text.splitlines(), 1):
        prose = line if path.suffix == ".md" else "".join(COMMENT.findall(line))
        for name in CITED.findall(prose):
            if not name.startswith(EXAMPLES):
                yield number, name
        for name in FILE.findall(prose):
            yield number, name


def main(paths):
    names = {path: identifiers(path.read_text()) | {path.name, path.stem} for path in SOURCES}
    known = set().union(*names.values())
    known_to_models = set().union(*(names[path] for path in SOURCES if RUNTIME in path.parents))
    found = []
    for path in map(pathlib.Path, paths):
        text = path.read_text()
        may = known_to_models | identifiers(text) if path.suffix == ".pml" else known
        lost = [(number, name) for number, name in cited(path, text) if name not in may]
        found += [f"{path}:{number}: no source has {name}" for number, name in lost]
    print(*found, sep="\n", end="\n" if found else "")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
