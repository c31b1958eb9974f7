"""Lists the public Swift declarations in symbol graphs that expose more than Swift.

Usage: interface.py [--sample FILE]... [--may-show MODULE]... GRAPH.json...

A public declaration may name types and protocols of its own module and of the standard library. It may not name those of C
or of other modules, pointers, or numbers of C's widths; nor may it extend or conform to such types. Exceptions are the
modules and types given by `--may-show`, and the list below. For samples see symbols.py.
"""

import argparse
import re
import sys

import symbols

# Types of the standard library that exist for C only.
C_SPELLINGS = re.compile(
    r"OpaquePointer|Unsafe\w+|AutoreleasingUnsafe\w+|Unmanaged|C[A-Z]\w*|U?Int(8|16|32|64)")

# The intended pointers: contexts, as on Apple's platforms; a C object's address; storage.
ALLOWED = {
    "OpaquePointer": {"ForeignObject.init(_:)"},
    "UnsafeRawPointer": {"ObservationInfo.Registration.context"},
    "UnsafeMutableRawPointer": {
        "KVOContext.pointer",
        "KVOContext.==(_:_:)",
        "KVOContext.!=(_:_:)",
        "KVOContext.~=(_:_:)",
        "KVOObject.addObserver(_:forKeyPath:options:context:)",
        "KVOObject.removeObserver(_:forKeyPath:context:)",
        "KVOObject.observeValue(forKeyPath:of:change:context:)",
    },
    "UnsafeBufferPointer": {"ObservedArray.withContiguousStorageIfAvailable(_:)"},
    "UnsafeMutableBufferPointer": {"ObservedArray.withContiguousMutableStorageIfAvailable(_:)"},
}


def identifiers(usr):
    """The identifiers in a mangled name, each with the character that follows it."""
    for match in re.finditer(r"(?<!\d)([1-9]\d*)(?=[A-Za-z_])", usr):
        end = match.end() + int(match.group(1))
        yield usr[match.end():end], usr[end:end + 1]


def modules(usr):
    """The modules that a declaration belongs to: that of its type, and that of the extension around it."""
    if not usr.startswith("s:") or re.match(r"s:S[oC]", usr):
        return {"C"}
    extending = {word for word, after in identifiers(usr) if after == "E"}
    if re.match(r"s:(s|S[A-Za-z])", usr):
        return {"Swift"} | extending
    return {next(identifiers(usr))[0]} | extending


def named(symbol):
    """The spelling and identifier of each name in a declaration, including those in its constraints."""
    for fragment in symbol["declarationFragments"]:
        if "preciseIdentifier" in fragment:
            yield fragment["spelling"], fragment["preciseIdentifier"]
    for part in ("swiftGenerics", "swiftExtension"):
        for constraint in symbol.get(part, {}).get("constraints", []):
            if "rhsPrecise" in constraint:
                yield constraint["rhs"], constraint["rhsPrecise"]


class Judge:
    def __init__(self, graphs, may_show):
        self.own = graphs[0]["module"]["name"]
        self.known = {self.own, "Swift", *may_show}
        everything = [symbol for graph in graphs for symbol in graph["symbols"]]
        self.symbols = {symbol["identifier"]["precise"]: symbol for symbol in everything}
        self.public = [symbol for symbol in everything if symbols.is_public(symbol)]
        self.relations = [relation for graph in graphs for relation in graph["relationships"]]
        self.allowed = set()  # entries of the list that were used

    def objection(self, spelling, usr, where):
        foreign = modules(usr) - self.known
        if foreign:
            return f"{spelling} of {', '.join(sorted(foreign))}"
        is_known = spelling in self.known or self.own in modules(usr)
        if not C_SPELLINGS.fullmatch(spelling) or is_known:
            return None
        if where in ALLOWED.get(spelling, ()):
            self.allowed.add((spelling, where))
            return None
        return f"{spelling}, which is C's"

    def finding(self, symbol, subject, text):
        path, line = symbols.place(symbol)
        return symbols.Finding(
            path, line + 1 if path else 0, subject, f"{symbols.name(symbol)} {text}")

    def of_declarations(self):
        for symbol in self.public:
            for spelling, usr in named(symbol):
                objection = self.objection(spelling, usr, symbols.name(symbol))
                if objection:
                    yield self.finding(symbol, spelling, f"shows {objection}")
            extended = symbol.get("swiftExtension", {}).get("extendedModule", self.own)
            if extended not in self.known:
                subject = symbol["pathComponents"][0]
                yield self.finding(symbol, subject, f"extends {subject} of {extended}")

    def of_conformances(self):
        for relation in self.relations:
            if relation["kind"] not in ("conformsTo", "inheritsFrom"):
                continue
            source = self.symbols.get(relation["source"])
            if source and not symbols.is_public(source):
                continue
            foreign = modules(relation["target"]) - self.known
            if not foreign:
                continue
            subject = relation.get("targetFallback", relation["target"]).split(".")[-1]
            text = f"conforms to or inherits from {subject} of {', '.join(foreign)}"
            if source:
                yield self.finding(source, subject, text)
            else:
                yield symbols.Finding("extension", 0, subject, f"{relation['source']} {text}")

    def unused_permissions(self):
        permitted = {(spelling, where) for spelling in ALLOWED for where in ALLOWED[spelling]}
        for spelling, where in sorted(permitted - self.allowed):
            yield symbols.Finding(__file__, 0, where, f"{where} shows no {spelling}: allow it not")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sample", action="append", default=[])
    parser.add_argument("--may-show", action="append", default=[])
    parser.add_argument("graphs", nargs="+")
    arguments = parser.parse_args()
    judge = Judge(symbols.read(arguments.graphs), arguments.may_show)
    findings = list(judge.of_declarations()) + list(judge.of_conformances())
    if arguments.sample:
        return symbols.differs_from_sample(findings, arguments.sample)
    if not arguments.may_show:
        findings += judge.unused_permissions()
    failed = symbols.tell(findings)
    print(f"{len(judge.public)} public declarations")
    return failed or not judge.public


if __name__ == "__main__":
    sys.exit(main())
