"""Selects the mutants to run after a change.

`--changed-since COMMIT` selects those whose own file, record, source or noticing test has changed since that commit, in
later commits or in the working tree. For a source with many mutants, it selects those of the changed functions.

`--tenth COUNT` selects all mutants of a changed source, and a tenth of the unaffected mutants. A mutant is always in
the same tenth, and COUNT determines which of the ten runs: with the number of commits, ten commits in a row run all.
With it, a change of what all mutants depend on selects all of them: Package.swift, what all tests share
(Tests/Support), and the scripts that the check `mutants` uses.
"""

import collections
import hashlib
import pathlib
import re
import subprocess

import rings
from mutant import MUTANTS, Mutant, Wrong, folder_of, label

MANY_IN_A_FILE = 12
HUNK = re.compile(r"^@@ -\S+ \+(\d+)(?:,(\d+))? @@", re.M)


def add_arguments(arguments):
    arguments.add_argument("--changed-since", metavar="COMMIT")
    arguments.add_argument("--tenth", type=int, metavar="COUNT")


def git(*arguments):
    return subprocess.run(["git", *arguments], text=True, capture_output=True, check=True).stdout


def changed_since(commit):
    """The files that a mutant can depend on and that differ from a commit in the working tree."""
    paths = ["--", "Sources", "Tests", "Scripts", "Package.swift"]
    tracked = git("diff", "--name-only", "-z", commit, *paths)
    return set((tracked + git("ls-files", "-z", "--others", "--exclude-standard", *paths)).split("\0")) - {""}


# MARK: Records


def key_of(test):
    """A test's identifier without its position in the file: `Module.Suite/function()/File.swift`."""
    return re.sub(r":\d+:\d+$", "", test)


def read_records(path):
    return parsed(path.read_text() if path.exists() else "")


def parsed(text):
    return dict(line.split(maxsplit=1) for line in text.splitlines() if line.strip())


def records_at(commit, path):
    """The records in a commit."""
    try:
        return parsed(git("show", f"{commit}:{path}"))
    except subprocess.CalledProcessError:
        return {}  # it has none


# MARK: Selection


def select(paths, records, commit, tenth):
    """The mutants to run."""
    changed = changed_since(commit)
    shared = {"Package.swift", *map(str, rings.scripts_of(rings.CHECKS / "mutants"))}
    if tenth is not None and any(file in shared or file.startswith("Tests/Support/") for file in changed):
        return paths
    earlier = records_at(commit, MUTANTS / "noticed.txt")
    chosen, by_source = set(), collections.defaultdict(dict)
    for path in paths:
        mutant = readable(path)
        if not mutant or str(path) in changed:
            chosen.add(path)
        elif str(mutant.file) in changed:
            by_source[mutant.file][path] = mutant
        elif (
            has_other_test(path, changed, records, earlier)
            or tenth is not None
            and tenth_of(mutant.label) == tenth % 10
        ):
            chosen.add(path)
    for file, mutants in by_source.items():
        chosen |= near_changes(file, mutants, commit) if tenth is None else mutants.keys()
    return [path for path in paths if path in chosen]


def readable(path):
    try:
        return Mutant.read(path)
    except Wrong:
        return None


def has_other_test(path, changed, records, earlier):
    """Whether the test that notices a mutant has changed, or its record."""
    record = records.get(label(path))
    return earlier and record != earlier.get(label(path)) or any(notices_in(file, path, record) for file in changed)


def notices_in(file, path, record):
    """Whether a file has the test that notices a mutant; without a record, whether it may have it."""
    folder = f"Tests/{folder_of(path).module}/"
    if not file.startswith(folder):
        return False
    return record.endswith(f"/{pathlib.Path(file).name}") if record else file.endswith(".swift")


def tenth_of(name):
    return int(hashlib.sha256(name.encode()).hexdigest()[:8], 16) % 10


# MARK: Functions


def near_changes(file, mutants, commit):
    """The mutants of a changed source; of many, those that break a changed function, if there are any."""
    lines = file.read_text().splitlines()
    functions = [function_of(lines, number) for number in changed_lines(file, commit)]
    near = {path for path, mutant in mutants.items() if is_in(functions, mutant, lines)}
    return near if near and len(mutants) > MANY_IN_A_FILE else mutants.keys()


def is_in(functions, mutant, lines):
    try:
        place = mutant.place(lines)
    except Wrong:
        return True
    return any(place.start < function.stop and function.start < place.stop for function in functions)


def changed_lines(file, commit):
    """The indices of lines that are new or changed, or that follow deleted lines."""
    for first, count in HUNK.findall(git("diff", "--unified=0", commit, "--", str(file))):
        yield from range(int(first) - 1, int(first) - 1 + max(1, int(count or 1)))


def function_of(lines, index):
    """The lines of the function that contains a line. A Swift function is indented once, in a type."""
    depth = 2 if any(line.startswith("  func ") for line in lines) else 0
    first = next((i for i in range(index, -1, -1) if begins_function(lines[i], depth)), 0)
    ends = " " * (len(lines[first]) - len(lines[first].lstrip())) + "}"
    last = next((i for i in range(first, len(lines)) if lines[i].startswith(ends)), len(lines))
    return range(first, max(last, index) + 1)


def begins_function(line, depth):
    indentation = len(line) - len(line.lstrip())
    return bool(line.strip()) and indentation <= depth and not line.lstrip().startswith(("}", "//", "#"))
