"""Maps each rule of Documentation/Behaviour.md to the sources that keep it, its tests and its mutants, and back.

Usage: rules.py [--page | --help]
       rules.py --tests-for <FILES
       rules.py --tests-of RULE...

Prints errors: a rule has no source, no test, or neither a mutant nor a reason in Exempt.md; a mutant no longer fits its
source; or Tests/Mutants/noticed.txt does not list exactly the existing mutants.
`--page` prints the map instead, as a page for the site.

`--tests-for` reads NUL-terminated paths and prints a `--filter` pattern of the tests that a change of these files can
break. These are the tests that name a rule of a source. For a source without rules, they are the tests of its folder of
the overlay, or of its library. A source of the C runtime adds the quick stress (STRESS), and a test file adds its own
tests. `--tests-of` prints such a pattern of the tests that name one of the rules, and fails with a message if no test
names one of them.

A source keeps a rule if a mutant of the rule breaks it, or if one of its comments names the rule (`C4`, or several:
`D3, I5`). A test file belongs to a rule if the name of a test contains it as a word.
"""

import collections
import pathlib
import re
import sys

from mutant import MUTANTS, Mutant, Wrong, all_paths, every_path, label, rule_of
from selection import read_records

RULES = pathlib.Path("Documentation/Behaviour.md")
LIBRARIES = "CKVORuntime CKVOObservation KVORuntime KVOChangeLogs KVOObservation KVOFoundation KVOTesting".split()
TESTS = {
    pathlib.Path("Tests/CKVORuntimeTests"): "C",
    pathlib.Path("Tests/KVORuntimeTests"): "Swift",
    pathlib.Path("Tests/KVOChangeLogsTests"): "Swift",
    pathlib.Path("Tests/KVOFoundationTests"): "Swift",
    pathlib.Path("Tests/KVOTestingTests"): "Swift",
}

WORD = re.compile(r"(?<![\w#])[A-S][0-9]{1,2}\b")
COMMENT = re.compile(r"//[^\n]*")
TEST_NAME = re.compile(r'@Test\(\s*"([^"]*)"')
CHAPTER = re.compile(r"^## ([A-S])\. (.*)$")
RULE = re.compile(r"^([0-9]+)\. ")

HEAD = """# Rules and files

Which sources keep each rule of [Behaviour.md](Behaviour.md), in which files its tests are, and how many mutants break
it (`Tests/Mutants`); below, the rules of each source. `python3 Scripts/rules.py --page` prints this page.
"""


def chapters():
    """The rules by chapter, in order: (letter, title, rules)."""
    result = []
    for line in RULES.read_text().splitlines():
        if chapter := CHAPTER.match(line):
            result.append((chapter[1], chapter[2], []))
        elif result and (rule := RULE.match(line)):
            result[-1][2].append(result[-1][0] + rule[1])
    return result


def sources():
    return [
        path
        for library in LIBRARIES
        for path in sorted(pathlib.Path("Sources", library).rglob("*"))
        if path.suffix in (".c", ".cpp", ".h", ".swift") and "include" not in path.parts
    ]


def mutants():
    """(rule, name of the source) of each mutant."""
    for path in sorted(MUTANTS.rglob("*.mutant")):
        for line in path.read_text().splitlines():
            if line.startswith("--- "):
                yield path.stem.partition("-")[0], line[4:].strip()


def collect():
    keepers, tests, broken = (collections.defaultdict(set) for _ in range(3))
    for path in sources():
        for comment in COMMENT.findall(path.read_text()):
            for rule in WORD.findall(comment):
                keepers[rule].add(path.name)
    for number, (rule, name) in enumerate(mutants()):
        keepers[rule].add(name)
        broken[rule].add(number)
    for folder, language in TESTS.items():
        for path in sorted(folder.rglob("*.swift")):
            for name in TEST_NAME.findall(path.read_text()):
                for rule in WORD.findall(name):
                    tests[rule].add(f"{language} {path.stem}")
    return keepers, tests, broken


def listed(names):
    return ", ".join(f"`{name}`" for name in sorted(names, key=str.lower))


def tests_listed(names):
    """The tests in C and in Swift, each language named once."""
    parts = []
    for language in ("C", "Swift"):
        own = [name.partition(" ")[2] for name in names if name.startswith(language + " ")]
        if own:
            parts.append(f"{language}: {listed(own)}")
    return "; ".join(parts)


def index():
    keepers, tests, broken = collect()
    lines = [HEAD]
    for letter, title, rules in chapters():
        lines += [f"## {letter}. {title}\n", "| rule | kept by | tested in | mutants |", "|---|---|---|---|"]
        lines += [
            f"| {rule} | {listed(keepers[rule])} | {tests_listed(tests[rule])} | {len(broken[rule])} |"
            for rule in rules
        ]
        lines.append("")
    known = {rule for _, _, rules in chapters() for rule in rules}
    by_source = collections.defaultdict(set)
    for rule, names in keepers.items():
        for name in names if rule in known else ():
            by_source[name].add(rule)
    lines += ["## By source\n", "| source | rules |", "|---|---|"]
    for path in sources():
        if path.name in by_source:
            rules = sorted(by_source[path.name], key=lambda rule: (rule[0], int(rule[1:])))
            folder = "/".join(path.parts[1:-1])
            lines.append(f"| `{folder}/{path.name}` | {', '.join(rules)} |")
    return "\n".join(lines) + "\n", keepers, known


# MARK: Tests of changed files


# For sources without rules: the modules of their tests.
MODULES = {
    "CKVORuntime": ["CKVORuntimeTests"],
    "KVORuntime": ["KVORuntimeTests"],
    "KVOChangeLogs": ["KVOChangeLogsTests"],
    "CKVOObservation": ["KVORuntimeTests"],
    "KVOObservation": ["KVORuntimeTests"],
    "KVOFoundation": ["KVOFoundationTests"],
    "KVOTesting": ["KVOTestingTests"],
    "SwiftSource": ["SwiftSourceTests", "KVOExpansionTests", "KVOMoveTests"],
    "KVOExpansion": ["KVOExpansionTests"],
    "KVOMacros": ["KVOExpansionTests"],
    "KVOMove": ["KVOMoveTests"],
    "KVOMoveTool": ["KVOMoveTests"],
}
# Random programs and threads find faults of rules that a source does not name. They take 5 CPU seconds together.
STRESS = {("CKVORuntimeTests", "StressTests"), ("KVORuntimeTests", "StressTests"), ("KVORuntimeTests", "ModelTests")}
STRESS |= {("CKVORuntimeTests", "ModelTests")}
MODIFIERS = r"(?:@\w+(?:\(.*\))? |public |private |fileprivate |final )*"
TYPE = re.compile(rf"^{MODIFIERS}(?:struct|class|enum|actor|extension) (\w+)")
TEST = re.compile(r"^\s*@Test\b", re.M)
# A test's function, not one in the text of an argument.
FUNCTION = re.compile(r"^ +(?:@\w+(?:\(.*?\))? |static |private |fileprivate |nonisolated )*func (\w+)", re.M)


def functions_of(path):
    """The tests of a file: the module, the suite, the function, and the rules in the test's name."""
    text = path.read_text()
    for test in TEST.finditer(text):
        suites = [found[1] for line in text[: test.start()].splitlines() if (found := TYPE.match(line))]
        function = FUNCTION.search(text, test.start())
        name = TEST_NAME.search(text[test.start() : function.start()])
        yield path.parts[1], suites[-1], function[1], WORD.findall(name[1] if name else "")


def tests_for(files):
    """The tests that a change of the files can break: (module, suite, function). The last two are None for a whole
    module."""
    keepers, _, _ = collect()
    of_files, modules, rules, is_in_c = set(), set(), set(), False
    for file in map(pathlib.Path, files):
        own = {rule for rule, names in keepers.items() if file.name in names and file in sources()}
        rules |= own
        is_in_c = is_in_c or pathlib.Path("Sources/CKVORuntime") in file.parents
        if file.parts[0] == "Sources" and not own:
            beside = pathlib.Path("Tests", f"{file.parts[1]}Tests", file.parts[2])
            if file.parts[1] == "KVORuntime" and beside.is_dir():
                of_files |= {test[:3] for path in beside.rglob("*.swift") for test in functions_of(path)}
            else:
                modules |= set(MODULES.get(file.parts[1], []))
        elif file.parts[0] == "Tests" and file.suffix == ".swift" and file.exists():
            of_files |= {test[:3] for test in functions_of(file)}
    for folder in TESTS:
        for path in sorted(folder.rglob("*.swift")):
            tests = list(functions_of(path))
            of_files |= {test[:3] for test in tests if rules.intersection(test[3]) or is_in_c and test[:2] in STRESS}
    return {test for test in of_files if test[0] not in modules} | {(module, None, None) for module in modules}


def tests_of(rules):
    """The tests whose names contain one of the rules, in the form of `tests_for`."""
    paths = [path for folder in pathlib.Path("Tests").glob("*Tests") for path in sorted(folder.rglob("*.swift"))]
    return {test[:3] for path in paths for test in functions_of(path) if set(rules).intersection(test[3])}


def pattern_for(tests):
    """A pattern that matches the tests' identifiers; empty if there are none."""
    suites = collections.defaultdict(set)
    for module, suite, function in tests:
        suites[module, suite].add(function)
    parts = [
        rf"{module}\.{suite}/({'|'.join(sorted(functions))})\(" if suite else rf"{module}\."
        for (module, suite), functions in sorted(suites.items(), key=str)
    ]
    return f"^({'|'.join(parts)})" if parts else ""


# MARK: Errors

# Chapters that one library keeps alone, whose mutants are in folders of their own.
OF_LIBRARIES = "OQRS"
EXEMPT = re.compile(r"^\| ([A-S]\d+) \|", re.M)


def rules_in(paths):
    return {rule for path in paths for rule in WORD.findall(path.read_text())}


def broken_in(*folders):
    """The rules of the mutants in folders of Tests/Mutants."""
    return {rule_of(path) for folder in folders for path in (MUTANTS / folder).glob("*.mutant")}


def untested(known):
    """The rules that no test names, and those that have no mutant for no reason."""
    named = rules_in(path for suffix in ("swift", "c", "h") for path in pathlib.Path("Tests").rglob(f"*.{suffix}"))
    in_swift = rules_in(pathlib.Path("Tests/KVORuntimeTests").rglob("*.swift"))
    of_libraries = broken_in("Observation", "Macro", "Foundation", "Testing")
    for rule in sorted((known | of_libraries | broken_in(".", "Swift")) - named):
        yield f"{rule}: no test names it"
    broken = broken_in(".") | {rule for rule in of_libraries if rule[0] in OF_LIBRARIES}
    yield from unbroken(named & known, broken, MUTANTS)
    in_swift = {rule for rule in in_swift & known if rule[0] not in OF_LIBRARIES}
    yield from unbroken(in_swift, broken_in("Swift"), MUTANTS / "Swift")


def unbroken(rules, broken, folder):
    exempt = EXEMPT.findall((folder / "Exempt.md").read_text())
    for rule in sorted(rules):
        if rule in broken and rule in exempt:
            yield f"{rule}: it has a mutant, so {folder}/Exempt.md must not list it"
        elif rule not in broken and rule not in exempt:
            yield f"{rule}: no mutant in {folder}, nor a reason in {folder}/Exempt.md"


def unrecorded():
    """Differences between the existing mutants and the records of the tests that notice them."""
    mutants, records = set(map(label, all_paths())), set(read_records(MUTANTS / "noticed.txt"))
    for name in sorted(mutants - records):
        yield f"{name}: no record of the test that notices it: Scripts/check --mutants --write {name}"
    for name in sorted(records - mutants):
        yield f"{MUTANTS}/noticed.txt has {name}, which is not a mutant that tests notice"


def misfits():
    """The mutants that no longer fit their sources."""
    for path in every_path():
        try:
            mutant = Mutant.read(path)
            mutant.apply(mutant.file.read_text())
        except Wrong as wrong:
            yield f"{path}: {wrong}"


def main(arguments):
    if arguments == ["--help"]:
        print(__doc__.strip())
        return 0
    if arguments[:1] == ["--tests-for"]:
        print(pattern_for(tests_for(filter(None, sys.stdin.read().split("\0")))))
        return 0
    if arguments[:1] == ["--tests-of"]:
        unnamed = [rule for rule in arguments[1:] if not tests_of([rule])]
        print(f"no test names {' or '.join(unnamed)}" if unnamed else pattern_for(tests_of(arguments[1:])))
        return bool(unnamed)
    if arguments not in ([], ["--page"]):
        print(f"rules.py: {' '.join(arguments)} is not understood: see --help", file=sys.stderr)
        return 2
    text, keepers, known = index()
    if arguments == ["--page"]:
        print(text, end="")
        return 0
    wrong = [f"{rule}: no source keeps it, by its comments or mutants" for rule in sorted(known) if not keepers[rule]]
    wrong += [*untested(known), *misfits(), *unrecorded()]
    for line in wrong:
        print(f"wrong: {line}")
    print(f"{len(known)} rules, {len(set(map(rule_of, every_path())) & known)} with mutants")
    return bool(wrong) or not known


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
