"""Checks a site's files, without a browser.

Usage: pages.py FOLDER

The site has each library of the package. The page that lists the libraries has a sentence about each, and a library's own
page groups all its names. Each name has an abstract, which says more than a word, and no type lists members that it only has
by the standard library's protocols. Each page has the header, and search.js can find it. Each page referred to exists. No
page may call C Objective-C, and C declarations must be written as in C.
"""

import functools
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Kinds with pages of their own that have no pages below them.
SINGLE = {"case", "func", "init", "macro", "method", "op", "property", "subscript", "typealias", "var"}
CHAPTERS = "/tutorials/tutorials/"  # these have no pages of their own
LIBRARY = re.compile(r'\.library\(name: "(\w+)"')  # in Package.swift
# The titles of the groups that DocC makes of names that a library's page does not group.
LEFT_OVER = {"Classes", "Enumerations", "Extended Modules", "Functions", "Macros", "Protocols", "Structures", "Type Aliases"}
# Members that only the standard library calls, by protocols such as Encodable, and DocC's group of members by protocol.
UNCALLED = {"debugDescription", "description", "encode(to:)", "init(from:)"}
BY_PROTOCOL = "Default Implementations"
NOTHING_SAID = "No overview available."
HEADER = 'id="site-header"'
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
    abstract = page.get("abstract", [])
    text = "".join(part.get("text", "") for part in abstract)
    has_words = len(text.split()) > 1 or any(part["type"] != "text" for part in abstract)
    return page["kind"] not in ("symbol", "article") or has_words and text != NOTHING_SAID


def groups(page):
    return {section["title"] for section in page.get("topicSections", [])}


def is_inherited(folder, path, page):
    """Whether a page is of a member that its type has by a protocol only. An extension of such a protocol lists it."""
    owner = read(folder, path.rpartition("/")[0])
    return page["metadata"]["title"] in UNCALLED and owner["metadata"].get("symbolKind") != "extension"


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


def library_findings(folder):
    listed = read(folder, "/documentation")["references"]
    for library in LIBRARY.findall((ROOT / "Package.swift").read_text(encoding="utf-8")):
        path = f"/documentation/{library.lower()}"
        page = read(folder, path)
        if not page:
            yield f"{library} is not on the site"
        elif not any(entry.get("url") == path and entry.get("abstract") for entry in listed.values()):
            yield f"/documentation says nothing about {library}"
        elif groups(page) & LEFT_OVER:
            yield f"{path} does not group all its names: {', '.join(sorted(groups(page) & LEFT_OVER))}"


def file_findings(folder, there):
    """What is wrong with what each page has besides its data."""
    entries = json.loads(pathlib.Path(folder, "search.json").read_text(encoding="utf-8"))
    for path in sorted(there - {entry["path"].lower() for entry in entries}):
        yield f"{path} can't be found by searching"
    for path in sorted(there):
        file = pathlib.Path(folder, path.strip("/"), "index.html")
        if file.exists() and HEADER not in file.read_text(encoding="utf-8"):
            yield f"{path} has no header"


def findings(folder):
    there = {"/" + path.relative_to(data(folder)).as_posix().removesuffix(".json").lower() for path in data(folder).rglob("*.json")}
    for path in sorted(there):
        page = read(folder, path)
        if not is_documented(page):
            yield f"{path}: {page['metadata']['title']} is not documented"
        if BY_PROTOCOL in groups(page) or is_inherited(folder, path, page):
            yield f"{path} lists what it only inherits"
        for declaration in declarations(page):
            if path.startswith("/documentation/ckvoruntime") and MISPLACED.search(declaration):
                yield f"{path}: no declaration of C: {declaration}"
        for url in set(links(page)) - there:
            yield f"{path}: a link to {url}, which is not there"
    yield from library_findings(folder)
    yield from file_findings(folder, there)
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
