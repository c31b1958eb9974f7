"""Extracts the examples of a Markdown file and their expected output into a folder.

Usage: examples.py FILE.md FOLDER

A comment before each block of Swift, C or C++ code says how to treat it. `<!-- fragment -->` and `<!-- from: FILE -->`
(see quotes.py) are skipped. This comment

    <!-- example: first.swift -->

writes FOLDER/first.swift. FOLDER/first.swift.txt gets the output, which is the next block without a language. If
readers need not see the output, the comment contains it:

    <!-- example: first.swift, prints:
    balance is 10
    -->
"""

import pathlib
import re
import sys

BLOCK = re.compile(r"(?:<!--((?:(?!-->).)*)-->\s*\n)?^```(swift|c|cpp)\n(.*?)^```$", re.M | re.S)
EXAMPLE = re.compile(r"example:\s*([\w-]+\.(?:swift|c|cpp))(?:,\s*prints:(.*))?", re.S)
QUOTE = re.compile(r"from: \S+")  # a file's code, which quotes.py checks
SHOWN = re.compile(r"\n\n```\n(.*?)^```$", re.M | re.S)


def main(markdown, folder):
    text = pathlib.Path(markdown).read_text(encoding="utf-8")
    for block in BLOCK.finditer(text):
        comment, language, code = block.groups()
        line = text.count("\n", 0, block.start(2)) + 1
        if comment and (comment.strip() == "fragment" or QUOTE.fullmatch(comment.strip())):
            continue
        example = EXAMPLE.fullmatch((comment or "").strip())
        if not example or not example[1].endswith("." + language):
            sys.exit(f"{markdown}:{line}: no comment says whether this {language} code is an example")
        shown = SHOWN.match(text, block.end())
        if (example[2] is None) != bool(shown):
            sys.exit(f"{markdown}:{line}: the output of {example[1]} is to stand in the comment, or in the next block")
        output = [printed.strip() for printed in (example[2] or shown[1]).strip().splitlines()]
        path = pathlib.Path(folder, example[1])
        if path.exists():
            sys.exit(f"{markdown}:{line}: a second example named {example[1]}")
        path.write_text(code, encoding="utf-8")
        path.with_name(path.name + ".txt").write_text("\n".join(output + [""]), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
