"""Writes C declarations as one writes them in C.

Clang's symbol graphs put the name of a pointer to a function behind its type and leave out some spaces, and write long
declarations in one line.

A declaration is a list of fragments, each a dictionary with its kind and spelling.
"""

WIDTH = 80
POINTER = "(*)("
NAMES = ("identifier", "internalParam")


def text(spelling):
    return {"kind": "text", "spelling": spelling}


def with_names_in_pointers(fragments):
    """`void (*)(int) name` becomes `void (*name)(int)`."""
    mended, rest = [], list(fragments)
    while rest:
        fragment = rest.pop(0)
        before, pointer, after = fragment["spelling"].partition(POINTER)
        if fragment["kind"] != "typeIdentifier" or not pointer:
            mended.append(fragment)
            continue
        if rest and rest[0] == text(" "):
            rest.pop(0)
        name = [rest.pop(0)] if rest and rest[0]["kind"] in NAMES else []
        mended += [fragment | {"spelling": before + "(*"}, *name, text(")(" + after)]
    return mended


def with_spaces(fragments):
    """A space before stars and none behind them, and one between a type and a name."""
    mended = []
    for fragment in fragments:
        last = mended[-1] if mended else text("")
        if fragment["kind"] == "text" and fragment["spelling"].strip(" *") == "":
            stars = fragment["spelling"].strip()
            if not stars and last["spelling"].endswith("*"):
                continue
            fragment = text(" " + stars)
        elif fragment["kind"] in NAMES and last["kind"] == "typeIdentifier" and not last["spelling"].endswith("*"):
            mended.append(text(" "))
        mended.append(fragment)
    return mended


def with_lines(fragments):
    """A function that is too long for a line has a line for each parameter."""
    if sum(len(fragment["spelling"]) for fragment in fragments) <= WIDTH:
        return fragments
    broken = {"(": "(\n  ", ", ": ",\n  ", ");": "\n);"}
    return [text(broken.get(part["spelling"], part["spelling"])) if part["kind"] == "text" else part for part in fragments]


def mended(symbol):
    fragments = with_spaces(with_names_in_pointers(symbol["declarationFragments"]))
    return with_lines(fragments) if symbol["kind"]["identifier"] == "c.func" else fragments
