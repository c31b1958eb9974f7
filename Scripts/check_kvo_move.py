"""Moves Tests/Migration's originals and corpus with kvo-move, and builds and runs the result.

Usage: check_kvo_move.py KVO_MOVE PACKAGE FOLDER OPTION...

Each file has a function, `func name(_ journal: Journal)`, which writes down the notifications that observers get. Each
file is moved separately, with and without the macro. The diff shown must be exactly what is written, and moving a moved
file again must not change it. The files of a style and a language mode are one program. It is built against the package
in FOLDER, with these options of `swift build`, without warnings and without edits by hand.

Each function must write the text in Tests/Migration/Expected, which follows Apple's documentation. Without the macro it
may write something else if the tool has reported a place that behaves differently.
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys

# For each style: the options that select it, and the prefix of its programs.
STYLES = [([], "Macro"), (["--without-macro"], "Observed")]

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


def move(tool, original, target):
    """Moves a file. The tool is a command with the options that select a style."""
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


def moved_programs(tool, originals, folder):
    """Moves all files. Returns the manifest's targets."""
    shutil.rmtree(folder / "Sources", ignore_errors=True)
    for options, style in STYLES:
        for version in "v5", "v6":
            sources = folder / "Sources" / (style + version)
            chosen = [original for original in originals if mode(original) == version]
            for original in chosen:
                move([tool, *options], original, sources / original.name)
            shutil.copy("Tests/Migration/Journal.swift", sources)
            calls = [f'  "{original.stem}": {function(original)},' for original in chosen]
            (sources / "main.swift").write_text(MAIN % "\n".join(calls))
            yield TARGET % (style + version, version)


def main(tool, package, folder, options_of_build):
    tests = pathlib.Path("Tests/Migration")
    originals = sorted([*tests.glob("Originals/*.swift"), *tests.glob("Corpus/*.swift")])
    (folder / "Package.swift").write_text(MANIFEST % (package, "\n".join(moved_programs(tool, originals, folder))))
    build = ["swift", "build", "--package-path", str(folder), *options_of_build]
    subprocess.run(build, check=True)
    bin_path = pathlib.Path(run(*build, "--show-bin-path").strip())
    failed = 0
    for _, style in STYLES:
        for original in originals:
            program = [bin_path / (style + mode(original)), original.stem]
            expected = (tests / f"Expected/{original.stem}.txt").read_text()
            done = subprocess.run(program, capture_output=True, text=True, check=False)
            if (done.returncode or done.stdout != expected) and not is_excused(tool, style, original):
                failed += 1
                print(f"wrong: {style} {original.stem}: {done.stderr}wrote\n{done.stdout}instead of\n{expected}")
    print(f"{len(originals)} files in {len(STYLES)} styles")
    sys.exit(failed > 0 or not originals)


if __name__ == "__main__":
    main(sys.argv[1], *(pathlib.Path(path).resolve() for path in sys.argv[2:4]), sys.argv[4:])
