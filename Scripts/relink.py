"""Test programs of which the libraries are compiled otherwise than the package manager does.

What is to be linked is read from the package manager's build of the tests. So one build of the
Swift code serves all of them, and neither that build nor the tree is touched.
"""

import concurrent.futures
import pathlib
import subprocess

LIBRARY = pathlib.Path("Sources/CKVORuntime")
OVERLAY = pathlib.Path("Sources/KVORuntime")
# By the folders of their mutants.
LIBRARIES = {
    ".": LIBRARY,
    "Swift": OVERLAY,
    "Foundation": pathlib.Path("Sources/KVOFoundation"),
    "Testing": pathlib.Path("Sources/KVOTesting"),
    "Macro": pathlib.Path("Sources/KVOExpansion"),
}
FLAGS = ["-D_GNU_SOURCE", "-DKVO_EXCEPTIONS", "-DKVO_FAILING_MEMORY", "-DKVO_POISON"]
FLAGS += ["-fPIC", "-w", "-c"]
CHAOS = pathlib.Path("Tests/Chaos")
# With delays at atomic operations and locks; what a delay is comes from `compile_delays`.
DELAYED = ["-O1", "-include", str((CHAOS / "chaos.h").resolve())]
SWIFT_FLAGS = ["-parse-as-library", "-swift-version", "6", "-Onone", "-enable-testing"]


class CommandFailed(Exception):
    pass


def run(command, **options):
    result = subprocess.run(command, text=True, capture_output=True, **options)
    if result.returncode:
        raise CommandFailed(f"{command[0]} fails:\n{(result.stderr or result.stdout)[-2000:]}")
    return result.stdout


def sources(library=LIBRARY):
    return [*sorted(library.rglob("*.c")), *sorted(library.rglob("*.cpp"))]


def find(name):
    """The source or header of any library that is called so, if there is just one."""
    found = [path for library in LIBRARIES.values() for path in library.rglob(name)]
    return found[0] if len(found) == 1 else None


def compile_source(source, into, *options, library=LIBRARY):
    """The object of one source file, made with the headers of that library."""
    target = into / (source.name + ".o")
    language = ["clang++", "-std=c++17"] if source.suffix == ".cpp" else ["clang", "-std=c11"]
    includes = [f"-I{library}/include", f"-I{library}"]
    run([*language, *FLAGS, *includes, *options, str(source), "-o", str(target)])
    return target


def compile_delays(into):
    return compile_source(CHAOS / "chaos.c", into, "-O1")


def compile_overlay(into, build):
    """The objects of all source files of the overlay, by their names. Each has all that is its own: where the
    package manager compiles the module as a whole, its objects share that out among them, and none of
    them can be changed for another."""
    into.mkdir(parents=True, exist_ok=True)
    paths = sorted(OVERLAY.rglob("*.swift"))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        halves = [paths[::2], paths[1::2]]
        made = list(
            pool.map(lambda half: compile_swift_sources(half, into, build, OVERLAY, OVERLAY), halves)
        )
    return made[0] | made[1]


def compile_swift_source(source, into, build, library, tree):
    """The object of one source file of the overlay, or those of all files of a smaller library, by the
    sources' names. The others lie beside it in a tree of their own: they may rely on no more than what they
    relied on when the package manager compiled them."""
    chosen = [source] if library == OVERLAY else sorted(tree.rglob("*.swift"))
    return compile_swift_sources(chosen, into, build, library, tree)


def compile_swift_sources(chosen, into, build, library, tree):
    objects = {path.name: into / (path.name + ".o") for path in chosen}
    sources = []
    for path in sorted(tree.rglob("*.swift")):
        sources += ["-primary-file", str(path)] if path in chosen else [str(path)]
    maps = [build.folder / "CKVORuntime.build/module.modulemap"]
    maps += [pathlib.Path("Sources/CFFI/module.modulemap")]
    maps += [OVERLAY / "SwiftRuntime/module.modulemap"]
    modules = [] if library == OVERLAY else ["-I", str(build.folder / "Modules")]
    run(
        ["swift-frontend", "-c", *sources, *SWIFT_FLAGS, "-module-name", library.name]
        + ["-module-cache-path", str(build.folder / "RelinkModuleCache")]
        + ["-package-name", pathlib.Path.cwd().name.lower(), *modules]
        + [word for path in maps for word in ("-Xcc", f"-fmodule-map-file={path}")]
        + ["-Xcc", f"-I{LIBRARY}/include"]
        + [word for target in objects.values() for word in ("-o", str(target))]
    )
    return objects


class Build:
    """The package manager's build of the tests."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        (self.program,) = self.folder.glob("*PackageTests.xctest")
        links = self.folder / (self.program.stem + ".product") / "Objects.LinkFileList"
        self.objects = [line.strip().strip("'") for line in links.read_text().splitlines()]

    def link(self, objects, folder, *options):
        """Links the tests with these objects, by the names of their sources, in place of the
        build's."""
        listed = folder / "objects"
        listed.write_text("".join(f"{self.chosen(path, objects)}\n" for path in self.objects))
        program = folder / self.program.name
        command = ["swiftc", "-emit-executable", "-module-name", self.program.stem, "-use-ld=lld"]
        command += ["-Xlinker", "--strip-debug", "-L", str(self.folder), "-lffi", "-lstdc++", *options]
        command += [f"@{listed}", "-o", str(program)]
        try:
            run(command)
        except CommandFailed:
            # Seen once in some hundred links, two at a time: the libraries that the objects name
            # were lost on the way, and found again. What is really missing is so a second time.
            run(command)
        return program

    @staticmethod
    def chosen(path, objects):
        path = pathlib.Path(path)
        folders = {library.name + ".build" for library in LIBRARIES.values()}
        is_library = not folders.isdisjoint(path.parts)
        return objects.get(path.name.removesuffix(".o"), path) if is_library else path
