"""The form of a mutant: a file Tests/Mutants/RULE-NAME.mutant, or in a folder there for a Swift library.

    A line or more that say which behaviour is broken.
    --- change.c
    @@ static void deliver_to_list(
    - for (uint32_t i = 0; i < count; i++) {
    + for (uint32_t i = count; i-- > 0;) {

`---` names a source or header of the library. The lines after `-`, which are consecutive there, are replaced by those
after `+`. Indentation does not matter. They must be in the file exactly once: in all of it, or after a line `@@` between
the one line that begins with its text and the next that begins with a closing brace.

`** delays` has the file compiled with delays at its atomic operations and locks (Tests/Chaos): for a fault that shows
only if another thread comes between two instructions. `** by TEXT` leaves only tests whose name contains TEXT. A
library without rules (`Move`, `Source`) has mutants called NAME.mutant, which say by `** by` which test must fail.
"""

import dataclasses
import functools
import pathlib
import re

import relink

MUTANTS = pathlib.Path("Tests/Mutants")
PROGRAMS = pathlib.Path("Tests/Schedules/Programs")
RULE = re.compile(r"\b[A-S][0-9]{1,2}\b")


class Wrong(Exception):
    """A mutant that shows nothing: it does not apply, or no test can notice it."""


@dataclasses.dataclass(frozen=True)
class Folder:
    """The mutants of a library: the module whose tests notice them, and the program, unless the tests are linked with the
    library, that these tests start."""

    library: pathlib.Path
    module: str
    product: str | None = None
    besides: tuple[pathlib.Path, ...] = ()  # other libraries of the program that its mutants may break


FOLDERS = {
    ".": Folder(relink.LIBRARY, "CKVORuntimeTests"),
    "Swift": Folder(relink.OVERLAY, "KVORuntimeTests"),
    "Foundation": Folder(relink.FOUNDATION, "KVOFoundationTests"),
    "Testing": Folder(relink.TESTING, "KVOTestingTests"),
    "Macro": Folder(relink.EXPANSION, "KVOExpansionTests"),
    "Source": Folder(relink.SOURCE, "SwiftSourceTests"),
    "Move": Folder(relink.MOVE, "KVOMoveTests"),
    "Observation": Folder(
        relink.OBSERVATION,
        "KVORuntimeTests",
        "ObservationBridge",
        (relink.C_OBSERVATION, relink.LIBRARY),
    ),
}


def folder_of(path):
    return FOLDERS[str(path.parent.relative_to(MUTANTS))]


def label(path):
    return str(path.relative_to(MUTANTS).with_suffix(""))


def rule_of(path):
    """The rule in the mutant's name; empty for one of a library without rules."""
    first = path.stem.partition("-")[0]
    return first if RULE.fullmatch(first) else ""


def all_paths():
    """Of the mutants that tests have to notice. Those with a program of their name are left to the controlled scheduler
    (Scripts/checks/schedules)."""
    paths = [path for name in FOLDERS for path in sorted((MUTANTS / name).glob("*.mutant"))]
    return [path for path in paths if not (PROGRAMS / f"{path.stem}.txt").exists()]


@functools.cache
def named(folder, name):
    """The source or header that is called so, and its library."""
    libraries = [folder.library, *folder.besides]
    found = [(path, library) for library in libraries for path in library.rglob(name)]
    if len(found) != 1:
        raise Wrong(f"there is no source {name!r}, or several")
    return found[0]


@dataclasses.dataclass
class Mutant:
    label: str
    rule: str
    file: pathlib.Path
    library: pathlib.Path
    anchor: str | None = None
    old: list[str] = dataclasses.field(default_factory=list)
    new: list[str] = dataclasses.field(default_factory=list)
    delays: bool = False
    by: str = ""  # part of a test's name

    @staticmethod
    def read(path):
        made = None
        for line in path.read_text().splitlines():
            mark, _, text = line.partition(" ")
            text = text.strip()
            if mark == "---":
                made = Mutant(label(path), rule_of(path), *named(folder_of(path), text))
            elif made and line.strip() == "** delays":
                made.delays = True
            elif made and line.startswith("** by "):
                made.by = text.removeprefix("by ")
            elif made and mark == "@@":
                made.anchor = text
            elif made and mark in ("-", "+"):
                (made.old if mark == "-" else made.new).append(text)
            elif made and line.strip():
                raise Wrong(f"can't read {line!r}")
        if not made or not made.old:
            raise Wrong("names no file, or no line that goes")
        if not made.rule and not made.by:
            raise Wrong("names neither a rule nor, after `** by`, a test")
        return made

    def place(self, lines):
        """The lines that give way, as a range of indices."""
        first, end = self.bounds(lines)
        stripped = [line.strip() for line in lines]
        size = len(self.old)
        places = [i for i in range(first, end) if stripped[i : i + size] == self.old]
        if len(places) != 1:
            raise Wrong(f"{self.file} has {self.old[0]!r} {len(places)} times there, not once")
        return range(places[0], places[0] + size)

    def bounds(self, lines):
        if not self.anchor:
            return 0, len(lines)
        places = [i for i, line in enumerate(lines) if line.startswith(self.anchor)]
        if len(places) != 1:
            raise Wrong(f"{self.file} has {len(places)} lines that begin {self.anchor!r}")
        end = next((i for i in range(places[0], len(lines)) if lines[i].startswith("}")), None)
        return places[0], len(lines) if end is None else end

    def apply(self, text):
        lines = text.splitlines()
        place = self.place(lines)
        first = lines[place.start]
        indentation = first[: len(first) - len(first.lstrip())]
        new = [indentation + line for line in self.new]
        return "\n".join([*lines[: place.start], *new, *lines[place.stop :]]) + "\n"
