"""Moves Tests/Migration's originals and corpus with kvo-move, applies edits by hand, and builds and runs the result.

Usage: check_kvo_move.py KVO_MOVE PACKAGE FOLDER OPTION...

Each file has a function, `func name(_ journal: Journal)`, which writes down the notifications that observers get. Each file
is moved separately. The edits that a person would make afterwards are in Tests/Migration/Patches, a patch for each file
that needs one; those for `--without-macro` are in Patches/WithoutMacro. Each hunk counts as one edit for each line that it
adds, or removes if it adds none.

The diff shown must be exactly what is written, and moving a moved file again must not change it. The files of a style and a
language mode are one program. It is built against the package in FOLDER, with these options of `swift build` and without
warnings.

Each function must write the text in Tests/Migration/Expected, which follows Apple's documentation. Without the macro it may
write something else if the tool has reported a place that behaves differently. More than one edit in 200 lines, of all
files of a style together, is refused.
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys

LINES_PER_EDIT = 200
# For each style: the options that select it, the prefix of its programs, and the folder of its patches.
STYLES = [([], "Macro", "."), (["--without-macro"], "Observed", "WithoutMacro")]

MANIFEST = """// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Moved",
  dependencies: [.package(name: "KVORuntime", path: "%s")],
  targets: [
%s
  ],
  swiftLanguageModes: [.v6]
)
"""
TARGET = """    .executableTarget(name: "%s", dependencies: [
      .product(name: "KVORuntime", package: "KVORuntime"),
      .product(name: "KVOFoundation", package: "KVORuntime"),
    ], swiftSettings: [
      .swiftLanguageMode(.%s), .treatAllWarnings(as: .error), .enableUpcomingFeature("MemberImportVisibility"),
    ]),"""
MAIN = """let programs: [String: (Journal) -> Void] = [
%s
]
let journal = Journal()
programs[CommandLine.arguments[1]]!(journal)
print(journal.lines.joined(separator: "\\n"))
"""


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def edits(patch):
    """The number of lines that a person edits."""
    lines = [line for line in patch.read_text().splitlines() if not line.startswith(("---", "+++"))]
    added, removed = (sum(line.startswith(mark) for line in lines) for mark in "+-")
    return max(added, removed)


def move(tool, original, patch, target):
    """Moves a file and applies its patch. The tool is a command with the options that select a style."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(original, target)
    shown = run(*tool, str(target))
    run(*tool, "--write", str(target))
    moved = target.read_bytes()
    shutil.copy(original, target)
    end = re.search(r"^(?:Compiles, but|Has no|Is reported|Targets that import)", shown, re.M)
    diff = shown[shown.index("--- ") : end.start() if end else len(shown)]
    subprocess.run(["patch", "--silent", str(target)], input=diff, text=True, check=True)
    if target.read_bytes() != moved:
        sys.exit(f"{original}: what is written is not what is shown")
    run(*tool, "--write", str(target))
    if target.read_bytes() != moved:
        sys.exit(f"{original}: moved again, it is otherwise")
    if not patch.exists():
        return 0
    run("patch", "--silent", "--no-backup-if-mismatch", str(target), str(patch))
    return edits(patch)


def mode(original):
    """The language mode. The corpus uses the mode that most such code is written in."""
    return "v5" if original.parent.name == "Corpus" else "v6"


def is_excused(tool, style, original):
    """Whether the tool reports that the file behaves differently."""
    if style == "Macro":
        return False
    return json.loads(run(tool, "--without-macro", "--json", str(original)))["summary"]["differs"] > 0


def function(original):
    return original.stem[0].lower() + original.stem[1:]


def main(tool, package, folder, options_of_build):
    tests = package / "Tests/Migration"
    originals = sorted([*tests.glob("Originals/*.swift"), *tests.glob("Corpus/*.swift")])
    lines = sum(len(original.read_text().splitlines()) for original in originals)
    shutil.rmtree(folder / "Sources", ignore_errors=True)
    targets, by_hand, failed = [], {}, 0
    for options, style, patches in STYLES:
        by_hand[style] = 0
        for version in "v5", "v6":
            sources = folder / "Sources" / (style + version)
            chosen = [original for original in originals if mode(original) == version]
            for original in chosen:
                patch = tests / "Patches" / patches / f"{original.stem}.patch"
                by_hand[style] += move([tool, *options], original, patch, sources / original.name)
            shutil.copy(tests / "Journal.swift", sources)
            calls = [f'  "{original.stem}": {function(original)},' for original in chosen]
            (sources / "main.swift").write_text(MAIN % "\n".join(calls))
            targets.append(TARGET % (style + version, version))
    (folder / "Package.swift").write_text(MANIFEST % (package, "\n".join(targets)))
    build = ["swift", "build", "--package-path", str(folder), *options_of_build]
    subprocess.run(build, check=True)
    bin_path = pathlib.Path(run(*build, "--show-bin-path").strip())
    for _, style, _ in STYLES:
        for original in originals:
            program = [bin_path / (style + mode(original)), original.stem]
            expected = (tests / f"Expected/{original.stem}.txt").read_text()
            done = subprocess.run(program, capture_output=True, text=True, timeout=60, check=False)
            if (done.returncode or done.stdout != expected) and not is_excused(tool, style, original):
                failed += 1
                print(f"{style} {original.stem}: {done.stderr}wrote\n{done.stdout}instead of\n{expected}")
    for style, edited in by_hand.items():
        print(f"{style}: {len(originals)} files, {lines} lines, {edited} edits by hand")
    sys.exit(failed > 0 or max(by_hand.values()) * LINES_PER_EDIT > lines)


if __name__ == "__main__":
    main(sys.argv[1], *(pathlib.Path(path).resolve() for path in sys.argv[2:4]), sys.argv[4:])
