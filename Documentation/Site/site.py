"""Lays out what DocC makes the site of: a catalog for each module, from the pages of Documentation, the headers'
comments and what stands beside this file.

Usage: site.py graphs GRAPHS                  mends GRAPHS/<Module>: declarations of C, comments, and inherited members
       site.py catalogs FOLDER GRAPHS         writes FOLDER/<Module>.docc
       site.py topics FOLDER ARCHIVE GRAPHS   adds how large types' members are grouped, for which DocC must have run once
       site.py complete SITE                  completes the page that lists the libraries, and writes what search.js reads

A page of Documentation stands in the catalog of the module that it is about. Its links to other pages become links
of DocC; comments for the checks of its examples are left out.
"""

import collections
import json
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
DOCUMENTATION = HERE.parent
ROOT = DOCUMENTATION.parent
sys.path.append(str(ROOT / "Scripts"))

import declarations
from public_names import C_KINDS, place

SWIFT, C = "KVORuntime", "CKVORuntime"
# The products that have a landing page beside this file.
MODULES = sorted(page.stem for page in HERE.glob("*/*.md") if page.stem == page.parent.name)
# Articles that only the site has, and pages of Documentation may link to.
ARTICLES = {page.stem for page in (HERE / SWIFT / "Articles").glob("*.md")}
# The pages of Documentation by name, the catalog that each goes to, and its name there if that differs.
FILES = {page.stem: page for page in [*DOCUMENTATION.glob("*.md"), *DOCUMENTATION.glob("Internals/*.md")]}
# Pages that a script prints.
GENERATED = {"Rules": [sys.executable, "Scripts/rules.py", "--page"]}
PAGES = dict.fromkeys([*FILES, *GENERATED], SWIFT) | {
    "C": C,
    "Bindings": C,
    "ChangeLogs": "KVOChangeLogs",
    "Foundation": "KVOFoundation",
}
NAMES = {"C": "InCAndCPlusPlus", "Bindings": "LanguageBindings", "Foundation": "WithFoundation", "Overview": "HowItWorks"}
CARDS = {"GettingStarted": "card-started", "Tour": "card-tour", "MovingOver": "card-moving"}
# What a folder of the overlay's sources is called where it groups the members of a type.
ROOMS = {
    "Objects": "Objects and properties",
    "Coding": "Key-value coding",
    "ToMany": "To-many properties",
    "Observing": "Observing and notifying",
    "KeyPaths": "Keys and key paths",
    "Bindings": "Bindings",
    "Classes": "Classes and declarations",
    "Lifetimes": "Lifetimes",
    "Macros": "The macro",
    "Foreign": "Objects of C",
    "Diagnostics": "Errors and diagnostics",
    "Foundation": "Foundation's names",
    "Values": "Values",
    "Support": "Other",
}
MANY_MEMBERS = 24
# Protocols of the standard library whose requirements programs do not call by name.
UNCALLED = {
    "CustomDebugStringConvertible",
    "CustomReflectable",
    "CustomStringConvertible",
    "Decodable",
    "Encodable",
    "Equatable",
    "Hashable",
}
# Protocols to which types conform without saying so.
IMPLIED = {"Swift.Copyable", "Swift.Escapable", "Swift.SendableMetatype"}
# The colours of lines and words in drawings; what is filled stands on a ground of its own.
ON_DARK = {"#1f62ad": "#86b8f2", "#a85f12": "#eda652", "#5a6474": "#9aa6b8"}
DRAWN_ON_LIGHT = re.compile("|".join(ON_DARK))
# What a header's page is called, where its name is not enough.
TITLES = {
    "base": "Attributes",
    "binding": "For language bindings",
    "class": "Classes",
    "coding": "Key-value coding",
    "collection": "Collections",
    "cplusplus": "C++",
    "error": "Errors",
    "index set": "Index sets",
    "mutable": "Mutable proxies",
    "object": "Objects",
    "observing": "Key-value observing",
    "property": "Properties",
    "value": "Types and values",
}

LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s]*)\)")
PICTURE = re.compile(r'<picture>.*?<img alt="([^"]*)" src="(?:[\w./]*/)?([\w-]+)-light\.(?:svg|png)"[^>]*>.*?</picture>', re.S)
COMMENT = re.compile(r"<!--.*?-->\n?", re.S)
BACKTICKS = re.compile(r"(?<!`)``(?!`)(.+?)(?<!`)``(?!`)", re.S)
ITEM = re.compile(r"- (\w+): ")
NAMED = re.compile(r"`([^`]*)`|\b(KVO_[A-Z_]+)\b")
PARAMETERS = "- Parameters:"
# Parameters whose default is something of the caller.
CALLER = dict.fromkeys(("fileID", "filePath", "file", "line", "column"), "the caller's place")
CALLER["isolation"] = "the caller's isolation"
FENCE = re.compile(r"^```.*?^```$", re.S | re.M)


# Symbol graphs


def is_for_users(symbol):
    """Macros with an underscore at the end, or of the expansion of property lists, are the headers' own."""
    title = symbol["names"]["title"]
    return symbol["kind"]["identifier"] != "c.macro" or not (title.endswith("_") or title.startswith("KVO_P_"))


def comment_above(path, line):
    """The documentation comment that a declaration without one shares with those above it."""
    with open(path, encoding="utf-8") as file:
        above = [text.strip() for text in file.read().splitlines()[:line]]
    while above and above[-1] and not above[-1].startswith("///"):
        above.pop()
    comment = []
    while above and above[-1].startswith("///"):
        comment.append(above.pop()[3:].removeprefix(" "))
    return comment[::-1]


def with_parameters(lines, names):
    """A comment whose list explains each parameter, as the section that DocC has for that.

    Lists of some parameters stay lists, since DocC warns of parameters that such a section leaves out.
    """
    listed = {item[1] for item in map(ITEM.match, lines) if item}
    if not names or listed - {"Returns"} != set(names):
        return lines
    texts, is_inside = [], False
    for line in lines:
        item = ITEM.match(line)
        starts = bool(item) and item[1] != "Returns"
        if starts and not any(text == PARAMETERS for text in texts):
            texts.append(PARAMETERS)
        is_inside = starts or (is_inside and line.startswith("  "))
        texts.append(f"  {line}" if is_inside else line)
    return texts


def with_caller(lines, names):
    """A comment with the parameters that the compiler supplies, which sources leave out, behind those that it explains."""
    names = [name for name in names if name in CALLER]
    if PARAMETERS not in lines or not names:
        return lines
    end = lines.index(PARAMETERS) + 1
    while end < len(lines) and lines[end].startswith("  "):
        end += 1
    return [*lines[:end], *(f"  - {name}: {CALLER[name]}; leave it out." for name in names), *lines[end:]]


def parameters_of(symbol):
    return [parameter["name"] for parameter in symbol.get("functionSignature", {}).get("parameters", [])]


def links_of(graph):
    """What comments name, functions and cases of enumerations, as links to them."""
    links = {}
    for symbol in graph["symbols"]:
        if symbol["kind"]["identifier"] in ("c.func", "c.enum.case"):
            links[symbol["names"]["title"]] = f"``{'/'.join(symbol['pathComponents'])}``"
    return links


def with_links(line, links):
    """A line of a comment whose functions, in backticks, and constants, in capitals, lead to their pages."""
    return NAMED.sub(lambda name: links.get(name[1] or name[2], name[0]), line)


def lines_of(symbol):
    return [line["text"] for line in symbol.get("docComment", {}).get("lines", [])]


def mended_comment(symbol, links):
    """The comment of a symbol of C, its own or that of the declarations above it, as DocC is to have it."""
    kind = symbol["kind"]["identifier"]
    lines = lines_of(symbol)
    if not lines and (kind in C_KINDS or kind == "c.macro"):
        lines = comment_above(*place(symbol))
    if kind == "c.func":
        lines = with_parameters(lines, parameters_of(symbol))
    return [with_links(line, links) for line in lines]


def set_comment(symbol, lines):
    if lines != lines_of(symbol):
        symbol["docComment"] = {"lines": [{"text": text} for text in lines]}


def mend_c(graph):
    graph["symbols"] = [symbol for symbol in graph["symbols"] if is_for_users(symbol)]
    links = links_of(graph)
    for symbol in graph["symbols"]:
        set_comment(symbol, mended_comment(symbol, links))
        if "declarationFragments" in symbol:
            symbol["declarationFragments"] = declarations.mended(symbol)


def hide_inherited(graph):
    """Leaves out what types have only because of the standard library's protocols.

    Other requirements of foreign protocols, such as Collection, are listed among a type's own members: DocC does not learn
    where they come from.
    """
    origins = {relation["source"]: relation.pop("sourceOrigin")["displayName"].split(".")[0]
               for relation in graph["relationships"] if "sourceOrigin" in relation}
    hidden = {symbol["identifier"]["precise"] for symbol in graph["symbols"]
              if symbol["accessLevel"] != "open" and origins.get(symbol["identifier"]["precise"]) in UNCALLED}
    graph["symbols"] = [symbol for symbol in graph["symbols"] if symbol["identifier"]["precise"] not in hidden]
    graph["relationships"] = [relation for relation in graph["relationships"]
                              if relation["source"] not in hidden and relation.get("targetFallback") not in IMPLIED
                              and not (relation["kind"] == "defaultImplementationOf" and "targetFallback" in relation)]


def is_without_members(graph):
    """Whether a module's extensions of another module are conformances alone, of which DocC would make an empty page."""
    return all(symbol["kind"]["identifier"] == "swift.extension" for symbol in graph["symbols"])


def mend_swift(graph):
    hide_inherited(graph)
    for symbol in graph["symbols"]:
        set_comment(symbol, with_caller(lines_of(symbol), parameters_of(symbol)))


def mend_graphs(graphs):
    for path in graphs.glob("*/*.json"):
        graph = json.loads(path.read_text(encoding="utf-8"))
        if "@" in path.name and is_without_members(graph):
            path.unlink()
            continue
        (mend_c if path.parent.name == C else mend_swift)(graph)
        path.write_text(json.dumps(graph), encoding="utf-8")


# Pages


def outside_code(text, change):
    """A text with what is no code block in it changed."""
    parts, end = [], 0
    for block in FENCE.finditer(text):
        parts += [change(text[end : block.start()]), block[0]]
        end = block.end()
    return "".join([*parts, change(text[end:])])


def link_from(module):
    def to(target, text, name):
        # DocC would take a library's name for that of the types that this library adds to (write_extended_modules).
        path = f"doc:{name}" if target == module else f"/documentation/{target}/{name}".lower()
        return f"[{text.removesuffix('.md')}]({path})"

    def rewritten(link):
        text, target = link.groups()
        page, _, _ = target.partition("#")
        name = pathlib.PurePath(page).stem
        if name in ARTICLES and page.endswith(".md"):
            return to(SWIFT, text, name)
        if re.match(r"\w+:", target):
            return link[0]
        if not page.endswith(".md") or name not in PAGES:
            return text
        return to(PAGES[name], text, NAMES.get(name, name))

    return rewritten


def with_short_abstract(text):
    """DocC shows a page's first paragraph wherever it links to it: the first sentence is enough there."""
    head, _, after = text.partition("\n\n")
    first, _, rest = after.partition("\n\n")
    if not first or first.startswith(("|", "```", "#", "-")):
        return text
    sentence = re.match(r"(.+?[^A-Z]\.)\s+(?=[A-Z`\[])", first, re.S)
    if not sentence:
        return text
    return "\n\n".join([head, sentence[1], "## Overview", first[sentence.end() :], rest])


def page_for_docc(text, module):
    # The list beside a page shows a title as it is written.
    text = re.sub(r"\A#.*", lambda title: title[0].replace("`", ""), text)
    text = PICTURE.sub(lambda picture: f"![{picture[1]}]({picture[2]})", COMMENT.sub("", text))

    def rewritten(prose):
        # Code between two backticks is a link to a symbol, for DocC: a backtick in code becomes one that looks like it.
        prose = BACKTICKS.sub(lambda code: f"`{code[1].strip().replace('`', 'ˋ')}`", prose)
        return LINK.sub(link_from(module), prose)

    return with_short_abstract(outside_code(text, rewritten))


def source_of(page):
    if page in FILES:
        return FILES[page].read_text(encoding="utf-8")
    return subprocess.run(GENERATED[page], cwd=ROOT, text=True, check=True, stdout=subprocess.PIPE).stdout


def import_pages(folder):
    for name, module in PAGES.items():
        text = page_for_docc(source_of(name), module)
        if name in CARDS:
            card = f'@Metadata {{\n  @PageImage(purpose: card, source: "{CARDS[name]}", alt: "")\n}}'
            text = text.replace("\n\n", f"\n\n{card}\n\n", 1)
        (folder / f"{module}.docc" / f"{NAMES.get(name, name)}.md").write_text(text, encoding="utf-8")
    for picture in (DOCUMENTATION / "Pictures").glob("*-light.svg"):
        name = picture.name.removesuffix("-light.svg")
        resources = folder / f"{SWIFT}.docc" / "Resources"
        shutil.copy(picture, resources / f"{name}.svg")
        shutil.copy(picture.with_name(f"{name}-dark.svg"), resources / f"{name}~dark.svg")
    # Windows, which have two pixels for each of a page.
    for picture in (DOCUMENTATION / "Pictures").glob("*-light.png"):
        name = picture.name.removesuffix("-light.png")
        resources = folder / f"{SWIFT}.docc" / "Resources"
        shutil.copy(picture, resources / f"{name}@2x.png")
        shutil.copy(picture.with_name(f"{name}-dark.png"), resources / f"{name}~dark@2x.png")


# Extensions


def write_extended_modules(folder, graphs):
    """A page for each module whose types a module of ours extends."""
    for graph in graphs.glob("*/*@*.symbols.json"):
        module, extended = graph.name.removesuffix(".symbols.json").split("@")
        text = f"# ``{module}/{extended}``\n\nWhat {module} adds to the types of {extended}.\n"
        (folder / f"{module}.docc" / f"{extended}Types.md").write_text(text, encoding="utf-8")


# Headers of C


def title_of_header(header):
    words = header.stem.removeprefix("kvo_").replace("_", " ")
    return TITLES.get(words, words.capitalize())


def head_comment(header):
    lines = []
    for line in header.read_text(encoding="utf-8").splitlines():
        if not line.startswith("///"):
            break
        lines.append(line[3:].removeprefix(" "))
    return "\n".join(lines)


def declared_in(graph):
    """The declarations of each header, in their order, without members of others."""
    declared = collections.defaultdict(dict)
    for symbol in graph["symbols"]:
        path, line = place(symbol)
        if len(symbol["pathComponents"]) == 1:
            declared[pathlib.Path(path).name].setdefault(line, []).append(symbol["pathComponents"][0])
    return {name: [title for line in sorted(lines) for title in lines[line]] for name, lines in declared.items()}


def write_headers(folder, graph):
    """A page for each header: its comment, and what it declares."""
    links = []
    declared, names = declared_in(graph), links_of(graph)
    for header in sorted((ROOT / "Sources" / C / "include").glob("kvo_*.h")):
        if header.name not in declared:
            continue
        page = "".join(map(str.capitalize, header.stem.split("_")[1:])) + "Header"
        comment = with_links(head_comment(header), names)
        text = f"# {title_of_header(header)}\n\n{comment}\n"
        text = with_short_abstract(text + "\n") if "\n\n" in comment else text
        topics = "\n".join(f"- ``{title}``" for title in declared[header.name])
        (folder / f"{page}.md").write_text(
            f"{text}\nDeclared in `{header.name}`, which `CKVORuntime.h` includes.\n\n## Topics\n\n### Declarations\n\n{topics}\n",
            encoding="utf-8")
        links.append(f"- <doc:{page}>")
    root = folder / f"{C}.md"
    root.write_text(root.read_text(encoding="utf-8").replace("<!-- headers -->", "\n".join(links)), encoding="utf-8")


def write_catalogs(folder, graphs):
    for module in MODULES:
        catalog = folder / f"{module}.docc"
        shutil.copytree(HERE / module, catalog)
        shutil.copy(HERE / "Theme/theme-settings.json", catalog)
        resources = catalog / "Resources"
        resources.mkdir(exist_ok=True)
        shutil.copy(HERE / "Theme/icon.svg", resources / f"{module}-icon.svg")
        for drawing in resources.glob("drawing-*.svg"):
            text = drawing.read_text(encoding="utf-8")
            text = DRAWN_ON_LIGHT.sub(lambda colour: ON_DARK[colour[0]], text)
            drawing.with_stem(f"{drawing.stem}~dark").write_text(text, encoding="utf-8")
    import_pages(folder)
    write_extended_modules(folder, graphs)
    write_headers(folder / f"{C}.docc", json.loads((graphs / C / f"{C}.symbols.json").read_text(encoding="utf-8")))


# Topics


def pages_of(archive):
    for path in (archive / "data" / "documentation").rglob("*.json"):
        page = json.loads(path.read_text(encoding="utf-8"))
        if page.get("kind") == "symbol":
            yield page


def write_topics(folder, archive, graphs):
    """Groups the members of types that have very many by the folder of sources that declares them."""
    paths = {page["metadata"]["externalID"]: page["identifier"]["url"] for page in pages_of(archive)}
    members = collections.defaultdict(lambda: collections.defaultdict(list))
    for path in sorted((graphs / SWIFT).glob("*.json")):
        for symbol in json.loads(path.read_text(encoding="utf-8"))["symbols"]:
            url = paths.get(symbol["identifier"]["precise"])
            if url is None or "location" not in symbol or len(symbol["pathComponents"]) != 2:
                continue
            file, line = place(symbol)
            room = pathlib.Path(file).parent.name
            members[symbol["pathComponents"][0]][room].append((pathlib.Path(file).name, line, url))
    for owner, rooms in members.items():
        if sum(map(len, rooms.values())) < MANY_MEMBERS:
            continue
        text = [f"# ``{SWIFT}/{owner}``", "", "## Topics"]
        for room in sorted(rooms, key=list(ROOMS).index):
            text += ["", f"### {ROOMS[room]}", ""]
            text += [f"- ``{url.split('/documentation/')[1]}``" for _, _, url in sorted(rooms[room])]
        page = folder / f"{SWIFT}.docc" / "Members"
        page.mkdir(exist_ok=True)
        (page / f"{owner}.md").write_text("\n".join([*text, ""]), encoding="utf-8")


# The whole site


def complete_landing_page(data):
    """Orders the libraries, the one to begin with first, and says what the page is."""
    path = data / "documentation.json"
    page = json.loads(path.read_text(encoding="utf-8"))
    page["abstract"] = [{"type": "text", "text": "The libraries of the package, and their tutorials."}]
    page["topicSections"][0]["identifiers"].sort(key=lambda url: (url.endswith(C), not url.endswith(SWIFT), url))
    path.write_text(json.dumps(page), encoding="utf-8")


def text_of(content, references):
    """The text of a piece of a page, with the titles of what it refers to."""
    def text(part):
        if part["type"] == "reference":
            return references[part["identifier"]]["title"]
        return part.get("text") or part.get("code") or text_of(part.get("inlineContent", []), references)

    return "".join(map(text, content))


def entry_of(page, path, pages):
    """What search.js finds a page by, and shows of it."""
    title, owner = page["metadata"]["title"], pages.get(path.rpartition("/")[0])
    is_member = owner and owner["kind"] == "symbol" and owner["metadata"].get("symbolKind") != "module"
    prefix = f"{owner['metadata']['title']}." if is_member else ""
    return {
        "title": title,
        "name": prefix + title.removeprefix(prefix),
        "library": page["identifier"]["url"].removeprefix("doc://").partition("/")[0],
        "abstract": text_of(page.get("abstract", []), page.get("references", {})),
        "path": path,
    }


def write_search(site):
    data = site / "data"
    pages = {f"/{path.relative_to(data).with_suffix('').as_posix()}": json.loads(path.read_text(encoding="utf-8"))
             for path in sorted(data.rglob("*.json"))}
    index = [entry_of(page, path, pages) for path, page in pages.items() if "title" in page["metadata"]]
    (site / "search.json").write_text(json.dumps(index, ensure_ascii=False), encoding="utf-8")


def complete(site):
    complete_landing_page(site / "data")
    write_search(site)


def main(command, *paths):
    paths = [pathlib.Path(path) for path in paths]
    {"graphs": mend_graphs, "catalogs": write_catalogs, "topics": write_topics, "complete": complete}[command](*paths)


if __name__ == "__main__":
    main(*sys.argv[1:])
