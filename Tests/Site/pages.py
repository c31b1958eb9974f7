"""Checks the data of a site's pages: each public name is documented, and each page referred to exists.

Usage: pages.py FOLDER

Members of C structs and cases of C enums are documented beside their type, and extensions of another module or its types
are documented there. No page may call C Objective-C, and C declarations must be written as in C.
"""

import functools
import json
import pathlib
import re
import sys

# Kinds with pages of their own that have no pages below them.
SINGLE = {"case", "func", "init", "macro", "method", "op", "property", "subscript", "typealias", "var"}
CHAPTERS = "/tutorials/tutorials/"  # these have no pages of their own
UNDOCUMENTED = {"extension", "module"}
LANGUAGE = 'name:"Objective-C",key:'  # in the renderer's script
# clang's symbol graphs write the name of a function pointer after its type.
MISPLACED = re.compile(r"\(\*\)\([^()]*\) ?\w+")


def data(folder):
    return pathlib.Path(folder, "data")


@functools.cache
def read(folder, path):
    file = data(folder) / (path.strip("/") + ".json")
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else None


def is_of_one_declaration(folder, path):
    page = read(str(folder), path)
    return bool(page) and page["metadata"].get("symbolKind") in SINGLE


def is_documented(page):
    kind = page["metadata"].get("symbolKind")
    if page["kind"] != "symbol" or kind in UNDOCUMENTED or page.get("abstract"):
        return True
    is_c = page["identifier"]["url"].startswith("doc://CKVORuntime/")
    return is_c and kind in ("case", "property")


def declarations(page):
    for section in page.get("primaryContentSections", []):
        for declaration in section.get("declarations", []):
            yield "".join(token["text"] for token in declaration["tokens"])


def links(page):
    """The pages that a page refers to."""
    for reference in page.get("references", {}).values():
        url = reference.get("url", "").partition("#")[0]
        if url.startswith(("/documentation", "/tutorials")) and not url.startswith(CHAPTERS):
            yield url.lower()


def findings(folder):
    there = {"/" + path.relative_to(data(folder)).as_posix().removesuffix(".json").lower() for path in data(folder).rglob("*.json")}
    for path in sorted(there):
        page = read(folder, path)
        if not is_documented(page):
            yield f"{path}: {page['metadata']['title']} is not documented"
        for declaration in declarations(page):
            if path.startswith("/documentation/ckvoruntime") and MISPLACED.search(declaration):
                yield f"{path}: no declaration of C: {declaration}"
        for url in set(links(page)) - there:
            yield f"{path}: a link to {url}, which is not there"
    for script in pathlib.Path(folder, "js").glob("*.js"):
        if LANGUAGE in script.read_text(encoding="utf-8"):
            yield f"{script.name}: C is called Objective-C"


def main(folder):
    found = list(findings(folder))
    for finding in found:
        print(f"wrong: {finding}")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
