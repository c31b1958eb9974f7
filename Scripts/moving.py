"""Moves Tests/Migration's originals and corpus by kvo-move, mends them by hand, builds and runs them.

Usage: moving.py KVO_MOVE PACKAGE FOLDER OPTION...

Each file has a function, `func name(_ journal: Journal)`, which writes down what observers are notified of. It is moved by itself.
What a human would edit afterwards stands in Tests/Migration/Patches, a patch for each file that needs one, each hunk of
which counts as an edit for each line that it adds, or removes where it adds none. Patches for what `--without-macro`
makes stand in Patches/WithoutMacro. What is shown as a diff must be what is written, and a file that is moved again must
stay as it is. The files of a style and of a mode of the language are one program, built in FOLDER with these options of
`swift build`, without a warning, against the package. Each function must write what Tests/Migration/Expected has, which is
what Apple's documentation says. Without the macro it may write something else where the tool has listed a place that behaves differently. Refused is more than an edit in 200 lines, of all files of a style together.
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys

LINES_PER_EDIT = 200
# The options that choose a style, the prefix of its programs, and the folder of its patches.
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
    """How many lines a human edits."""
    lines = [line for line in patch.read_text().splitlines() if not line.startswith(("---", "+++"))]
    added, removed = (sum(line.startswith(mark) for line in lines) for mark in "+-")
    return max(added, removed)


def move(tool, original, patch, target):
    """The moved file, mended by hand. The tool is a command, with the options that choose a style."""
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
    """The corpus is in the language's mode that most of such code is in."""
    return "v5" if original.parent.name == "Corpus" else "v6"


def is_excused(tool, style, original):
    """Whether the tool says that the file behaves differently."""
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
