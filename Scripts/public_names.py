"""Judges public declarations: which types they show, whether they are documented, and whether promised names exist.

Usage: public_names.py GRAPHS C_GRAPH NAMES.txt TESTS

GRAPHS has a folder for each Swift module with its symbol graphs, C_GRAPH is that of the C headers.

A Swift declaration may name types and protocols of its own module and of the standard library. It may not name those of
C or of other modules, pointers, or numbers of C's widths; nor may it extend or conform to such types. MAY_SHOW and
POINTERS have the exceptions; one that is not used is an error, which also shows that this check sees what it refuses.

C declarations may share a comment: it applies to all declarations that follow it up to the next empty line. Members of
C structs and cases of C enums are documented beside their type.

NAMES.txt has a promised name in each line; a name that several declarations share is repeated as often. TESTS has the
contract tests' syntax trees, written by the compiler (`-dump-ast-format json`), each beside its source. A member is
used if its identifier is in a syntax tree, a type if its name is in a source.
"""

import collections
import json
import pathlib
import re
import subprocess
import sys
import urllib.parse

# What the modules may show besides their own types and Swift's: modules, and a number of C's widths.
MAY_SHOW = {
    "KVORuntime": set(),
    "KVOChangeLogs": {"KVORuntime"},
    "KVOFoundation": {"KVORuntime", "Foundation", "FoundationEssentials", "Int64"},
    "KVOObservation": {"Observation"},
    "KVOTesting": {"KVORuntime", "Testing", "XCTest"},
}
# Types of the standard library that exist for C only.
C_SPELLINGS = re.compile(r"OpaquePointer|Unsafe\w+|AutoreleasingUnsafe\w+|Unmanaged|C[A-Z]\w*|U?Int(8|16|32|64)")
# The intended pointers: contexts, as on Apple's platforms; a C object's address; storage.
POINTERS = {
    ("OpaquePointer", "ForeignObject.init(_:)"),
    ("UnsafeRawPointer", "ObservationInfo.Registration.context"),
    ("UnsafeMutableRawPointer", "KVOContext.pointer"),
    ("UnsafeMutableRawPointer", "KVOContext.==(_:_:)"),
    ("UnsafeMutableRawPointer", "KVOContext.!=(_:_:)"),
    ("UnsafeMutableRawPointer", "KVOContext.~=(_:_:)"),
    ("UnsafeMutableRawPointer", "KVOObject.addObserver(_:forKeyPath:options:context:)"),
    ("UnsafeMutableRawPointer", "KVOObject.removeObserver(_:forKeyPath:context:)"),
    ("UnsafeMutableRawPointer", "KVOObject.observeValue(forKeyPath:of:change:context:)"),
    ("UnsafeBufferPointer", "ObservedArray.withContiguousStorageIfAvailable(_:)"),
    ("UnsafeMutableBufferPointer", "ObservedArray.withContiguousMutableStorageIfAvailable(_:)"),
}
C_KINDS = {"c.func", "c.var", "c.struct", "c.enum", "c.typealias"}
TYPES = {"swift.class", "swift.struct", "swift.enum", "swift.protocol", "swift.typealias"}
# An expanded macro leaves no identifier behind.
WRITTEN = TYPES | {"swift.macro"}


class Graph:
    """The declarations of a module, from its symbol graphs."""

    def __init__(self, *paths):
        graphs = [json.loads(path.read_text()) for path in paths]
        self.module = graphs[0]["module"]["name"]
        self.symbols = [symbol for graph in graphs for symbol in graph["symbols"]]
        self.relations = [relation for graph in graphs for relation in graph["relationships"]]

    def public(self):
        return filter(is_public, self.symbols)


def is_public(symbol):
    return symbol["accessLevel"] in ("public", "open")


def name(symbol):
    return ".".join(symbol["pathComponents"])


def place(symbol):
    """The file, and the number of the line from 0."""
    location = symbol["location"]
    return pathlib.Path(urllib.parse.unquote(urllib.parse.urlparse(location["uri"]).path)), location["position"]["line"]


# MARK: Interface


def named(symbol):
    """The spelling and identifier of each name in a declaration, including those in its constraints."""
    for fragment in symbol["declarationFragments"]:
        if "preciseIdentifier" in fragment:
            yield fragment["spelling"], fragment["preciseIdentifier"]
    for part in ("swiftGenerics", "swiftExtension"):
        for constraint in symbol.get(part, {}).get("constraints", []):
            if "rhsPrecise" in constraint:
                yield constraint["rhs"], constraint["rhsPrecise"]


def shown(graph):
    """What the declarations of a module show: the spelling, its identifier, and where."""
    symbols = {symbol["identifier"]["precise"]: symbol for symbol in graph.symbols}
    for symbol in graph.public():
        for spelling, identifier in named(symbol):
            yield spelling, identifier, name(symbol)
        extended = symbol.get("swiftExtension", {}).get("extendedModule", graph.module)
        yield symbol["pathComponents"][0], f"{extended}.", f"the extension of {name(symbol)}"
    for relation in graph.relations:
        source = symbols.get(relation["source"])
        if relation["kind"] in ("conformsTo", "inheritsFrom") and (not source or is_public(source)):
            target = relation.get("targetFallback", relation["target"]).split(".")[-1]
            yield target, relation["target"], name(source) if source else f"the extension of {relation['source']}"


def modules_of(identifiers):
    """The modules of declarations by identifier: that of the type, and that of the extension around it. `c` is C."""
    lines = "\n".join(re.sub("^s:", "$s", identifier) for identifier in identifiers)
    readable = subprocess.run(["swift-demangle"], input=lines, text=True, capture_output=True, check=True).stdout
    found = [set(re.findall(r"(?:^|extension in |\):)(\w+)", line)) for line in readable.splitlines()]
    return dict(zip(identifiers, found, strict=True))


def foreign(graph, used):
    """The foreign names that a module shows. The exceptions that it uses are added to `used`."""
    everything = list(shown(graph))
    modules = modules_of(sorted({identifier for _, identifier, _ in everything}))
    allowed = MAY_SHOW[graph.module]
    for spelling, identifier, where in everything:
        others = modules[identifier] - {graph.module, "Swift"}
        used |= others & allowed
        if others - allowed:
            yield f"{where} shows {spelling} of {', '.join(sorted(others - allowed))}"
        elif C_SPELLINGS.fullmatch(spelling) and graph.module not in modules[identifier]:
            exceptions = {spelling} & allowed or {(spelling, where)} & POINTERS
            used |= exceptions
            if not exceptions:
                yield f"{where} shows {spelling}, which is C's"


# MARK: Documentation


def shares_comment(path, line):
    """Whether a comment precedes a line without an empty line in between."""
    above = [text.strip() for text in path.read_text().splitlines()[:line]]
    while above and above[-1] and not above[-1].startswith("//"):
        above.pop()
    return bool(above and above[-1])


def is_documented(symbol):
    return "docComment" in symbol or symbol["kind"]["identifier"] in C_KINDS and shares_comment(*place(symbol))


def undocumented(symbols):
    """The declarations without a comment. The compiler derives those without a location."""
    for symbol in symbols:
        kind = symbol["kind"]["identifier"]
        if "location" in symbol and (kind in C_KINDS or kind.startswith("swift.")) and not is_documented(symbol):
            path, line = place(symbol)
            yield f"{path}:{line + 1}: {name(symbol)} has no documentation comment"


# MARK: Promised names


class Tests:
    def __init__(self, folder):
        trees = [path.read_text() for path in folder.glob("*.json")]
        sources = [re.sub("//.*", "", path.read_text()) for path in folder.glob("*.swift")]
        self.identifiers = {identifier for tree in trees for identifier in re.findall(r'"(s:[^"]+)"', tree)}
        self.words = {word for source in sources for word in re.findall(r"\w+", source)}

    def use(self, symbol):
        if symbol["kind"]["identifier"] in WRITTEN:
            return symbol["pathComponents"][-1].removesuffix("()") in self.words
        return symbol["identifier"]["precise"] in self.identifiers


def broken_promises(promised, symbols, tests):
    public = collections.defaultdict(list)
    for symbol in symbols:
        if "location" in symbol:
            public[name(symbol)].append(symbol)
    for promise, times in sorted(promised.items()):
        used = sum(map(tests.use, public[promise]))
        if len(public[promise]) < times:
            yield f"{promise} is promised {times} times, and public {len(public[promise])} times"
        elif used < times:
            yield f"{promise} is promised {times} times, and used {used} times"
    if all(tests.use(symbol) for other in public.keys() - promised.keys() for symbol in public[other]):
        yield "this check is blind: all that is public seems to be used"


def main(graphs, c_graph, names, tests):
    modules = [Graph(*sorted(pathlib.Path(graphs, module).iterdir())) for module in MAY_SHOW]
    public = [symbol for module in modules for symbol in module.public()]
    promised = collections.Counter(pathlib.Path(names).read_text().splitlines())
    wrong, used = [], set()
    for module in modules:
        wrong += foreign(module, used)
    unused = POINTERS.union(*MAY_SHOW.values()) - used
    wrong += [f"{exception}: nothing shows it, so don't allow it" for exception in unused]
    wrong += undocumented([*public, *Graph(pathlib.Path(c_graph)).public()])
    if not any(undocumented(modules[0].symbols)):
        wrong.append("this check is blind: even all that is internal seems to be documented")
    wrong += broken_promises(promised, public, Tests(pathlib.Path(tests)))
    for line in sorted(set(wrong)):
        print(f"wrong: {line}")
    print(f"{len(public)} public declarations, {promised.total()} promised names")
    return bool(wrong) or not promised


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
