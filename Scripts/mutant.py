"""The format of a mutant: a file Tests/Mutants/RULE-NAME.mutant, or in a subfolder for a Swift library.

    One or more lines that say which behaviour is broken.
    --- change.c
    @@ static void deliver_to_list(
    - for (uint32_t i = 0; i < count; i++) {
    + for (uint32_t i = count; i-- > 0;) {

`---` names a source or header of the library. The lines after `-`, which are consecutive in the file, are replaced by
those after `+`. Indentation is ignored. The old lines must be in the file exactly once. With a line `@@`, they must be
between the only line that begins with its text and the next line that begins with a closing brace.

With `** delays` the file is compiled with delays at its atomic operations and locks (Tests/Chaos): for a fault that
shows only if another thread runs between two instructions. `** by TEXT` selects only tests whose names contain TEXT.
Libraries without rules (`Move`, `Source`) have mutants called NAME.mutant, which name the test that must fail with
`** by`.
"""

import dataclasses
import functools
import pathlib
import re

import link_variants

MUTANTS = pathlib.Path("Tests/Mutants")
PROGRAMS = pathlib.Path("Tests/Schedules/Programs")
RULE = re.compile(r"\b[A-S][0-9]{1,2}\b")


class Wrong(Exception):
    """A mutant that proves nothing: it can't be applied, or no test can notice it."""


@dataclasses.dataclass(frozen=True)
class Folder:
    """The mutants of a library: the module whose tests notice them, and the program that these tests start, if the
    library is not linked with the tests."""

    library: pathlib.Path
    module: str
    product: str | None = None
    besides: tuple[pathlib.Path, ...] = ()  # other libraries of the program that its mutants may break


FOLDERS = {
    ".": Folder(link_variants.LIBRARY, "CKVORuntimeTests"),
    "Swift": Folder(link_variants.OVERLAY, "KVORuntimeTests"),
    "ChangeLogs": Folder(link_variants.CHANGE_LOGS, "KVOChangeLogsTests"),
    "Foundation": Folder(link_variants.FOUNDATION, "KVOFoundationTests"),
    "Testing": Folder(link_variants.TESTING, "KVOTestingTests"),
    "Macro": Folder(link_variants.EXPANSION, "KVOExpansionTests"),
    "Source": Folder(link_variants.SOURCE, "SwiftSourceTests"),
    "Move": Folder(link_variants.MOVE, "KVOMoveTests"),
    "Observation": Folder(
        link_variants.OBSERVATION,
        "KVORuntimeTests",
        "ObservationBridge",
        (link_variants.C_OBSERVATION, link_variants.LIBRARY),
    ),
}


def folder_of(path):
    return FOLDERS[str(path.parent.relative_to(MUTANTS))]


def label(path):
    return str(path.relative_to(MUTANTS).with_suffix(""))


def rule_of(path):
    """The rule in the mutant's name; empty for a mutant of a library without rules."""
    first = path.stem.partition("-")[0]
    return first if RULE.fullmatch(first) else ""


def every_path():
    return [path for name in FOLDERS for path in sorted((MUTANTS / name).glob("*.mutant"))]


def all_paths():
    """The mutants that tests have to notice. Mutants with a program of the same name are left to the controlled
    scheduler (Scripts/checks/schedules)."""
    return [path for path in every_path() if not (PROGRAMS / f"{path.stem}.txt").exists()]


@functools.cache
def named(folder, name):
    """The source or header with this name, and its library."""
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
        """The lines to be replaced, as a range of indices."""
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
