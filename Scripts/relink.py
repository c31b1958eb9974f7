"""Test programs of which the libraries are compiled otherwise than the package manager does.

What is to be linked is read from the package manager's build of the tests. So one build of the
Swift code serves all of them, and neither that build nor the tree is touched.
"""

import concurrent.futures
import functools
import json
import pathlib
import re
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
# What the tests' own C sources are compiled to, which use what the C runtime exports to nobody else.
FIXTURES = pathlib.Path("Tests/Support/Fixtures")
SIGNATURES = pathlib.Path("Tests/Support/Signatures")
TARGETS = {FIXTURES: "CFixtures", SIGNATURES: "SignatureFixtures"}  # others are called as their folders are
FLAGS = ["-D_GNU_SOURCE", "-DKVO_EXCEPTIONS", "-DKVO_FAILING_MEMORY", "-DKVO_POISON"]
FLAGS += ["-fPIC", "-w", "-c"]
CHAOS = pathlib.Path("Tests/Chaos")
# With delays at atomic operations and locks; what a delay is comes from `compile_delays`.
DELAYED = ["-O1", "-include", str((CHAOS / "chaos.h").resolve())]
INCLUDE = re.compile(r'^#include "(?:.*/)?(.+)"$', re.M)
STRIPPED = ["-Xlinker", "--strip-debug"]
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


def using(header, tree):
    """The sources in a copy of a library that include a header of it, perhaps by another one: they have names of
    their own, wherever they lie."""
    included = {
        path: set(INCLUDE.findall(path.read_text()))
        for path in [*tree.rglob("*.h"), *sources(tree)]
    }
    reached, last = set(), {header.name}
    while last:
        reached |= last
        last = {path.name for path, names in included.items() if names & reached} - reached
    return [path for path in sources(tree) if path.name in reached]


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


def compile_apart(library, into, build):
    """The objects of all source files of a library in Swift, by their names. Each has all that is its own: where the
    package manager compiles the module as a whole, its objects share that out among them, and none of
    them can be changed for another."""
    into.mkdir(parents=True, exist_ok=True)
    paths = sorted(library.rglob("*.swift"))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        halves = [paths[::2], paths[1::2]]
        made = list(
            pool.map(lambda half: compile_swift_sources(half, into, build, library, library), halves)
        )
    return made[0] | made[1]


def compile_swift_sources(chosen, into, build, library, tree):
    """The objects of some source files, by the sources' names, each compiled by itself. The others lie beside them in a
    tree of their own: they may rely on no more than what they relied on when the package manager compiled them."""
    sources = []
    for path in sorted(tree.rglob("*.swift")):
        sources += ["-primary-file", str(path)] if path in chosen else [str(path)]
    return compile_swift(library, sources, chosen, into, build)


def compile_module(library, into, build, *options):
    """The objects of all source files of a module, by the sources' names, compiled as a whole."""
    paths = sorted(library.rglob("*.swift"))
    return compile_swift(library, map(str, paths), paths, into, build, "-num-threads", "2", *options)


def compile_swift(library, sources, chosen, into, build, *options):
    objects = {path.name: into / (path.name + ".o") for path in chosen}
    maps = [build.folder / f"{name}.build/module.modulemap" for name in ("CKVORuntime", "CFixtures")]
    maps += [pathlib.Path("Sources/CFFI/module.modulemap")]
    maps += [OVERLAY / "SwiftRuntime/module.modulemap"]
    modules = [] if library == OVERLAY else ["-I", str(build.folder / "Modules")]
    run(
        ["swift-frontend", "-c", *sources, *SWIFT_FLAGS, "-module-name", library.name]
        + ["-module-cache-path", str(build.folder / "RelinkModuleCache")]
        + ["-package-name", pathlib.Path.cwd().name.lower(), *modules]
        + [word for path in maps for word in ("-Xcc", f"-fmodule-map-file={path}")]
        + [word for folder in (LIBRARY, FIXTURES) for word in ("-Xcc", f"-I{folder}/include")]
        + [*macros(build), *options]
        + [word for target in objects.values() for word in ("-o", str(target))]
    )
    return objects


@functools.cache
def swift_resources():
    """The folder of Swift's runtime, and the processor that it is for here."""
    told = json.loads(run(["swiftc", "-print-target-info"]))
    return pathlib.Path(told["paths"]["runtimeResourcePath"]), told["target"]["triple"].split("-")[0]


def swift_beginning():
    """What tells Swift's runtime of the types in a program or library that it is the beginning of."""
    folder, processor = swift_resources()
    return folder / "linux" / processor / "swiftrt.o"


def macros(build):
    """Where the compiler finds those of Swift, of its tests, and of the package."""
    plugins = ["-plugin-path", str(swift_resources()[0] / "host/plugins")]
    return [*plugins, "-load-plugin-executable", f"{build.folder}/KVOMacros-tool#KVOMacros"]


class Build:
    """The package manager's build of the tests."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder).resolve()  # the compiler takes a cache by one name alone
        (self.program,) = self.folder.glob("*PackageTests.xctest")
        links = self.folder / (self.program.stem + ".product") / "Objects.LinkFileList"
        self.objects = [line.strip().strip("'") for line in links.read_text().splitlines()]

    def link(self, objects, folder, *options):
        """Links the tests with these objects, by libraries and the names of their sources, in place of the
        build's."""
        return self.link_program([self.chosen(path, objects) for path in self.objects], folder, *options)

    def link_without(self, library, objects, folder):
        """Links the tests without one of the libraries, which lies beside them as a shared one, linked of these
        objects: a hard link to the program takes the one that lies beside it."""
        shared = self.link_shared(library, objects, folder)
        libraries = folder / "libraries"  # that the library's objects ask for, besides the others'
        run(["swift-autolink-extract", *self.objects_of(library), "-o", str(libraries)])
        options = [str(shared), f"@{libraries}", "-Xlinker", "-rpath", "-Xlinker", "$ORIGIN"]
        own = set(self.objects_of(library))
        return self.link_program([path for path in self.objects if path not in own], folder, *STRIPPED, *options)

    def link_shared(self, library, objects, folder, *others):
        """Links one of the libraries as a shared one, with these objects in place of the build's, and others. What it
        uses besides, the program has that loads it."""
        shared = folder / f"lib{library.name}.so"
        own = [str(self.chosen(path, {library: objects})) for path in self.objects_of(library)]
        beginning = [] if library == LIBRARY else [str(swift_beginning())]
        command = ["clang++", "-shared", "-fuse-ld=lld", "-Wl,--threads=1,--strip-debug", f"-Wl,-soname,{shared.name}"]
        run([*command, *beginning, *own, *others, "-o", str(shared)])
        return shared

    def objects_of(self, library):
        """Those of the build; and with the C runtime's those of the tests' C sources, which use what it exports to
        nobody else."""
        libraries = {library, FIXTURES} if library == LIBRARY else {library}
        return [path for path in self.objects if any(is_of(path, one) for one in libraries)]

    def link_program(self, objects, folder, *options):
        listed = folder / "objects"
        listed.write_text("".join(f"{path}\n" for path in objects))
        program = folder / self.program.name
        command = ["swiftc", "-emit-executable", "-module-name", self.program.stem, "-use-ld=lld"]
        command += ["-L", str(self.folder), "-lffi", "-lstdc++", *options]
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
        name = pathlib.Path(path).name.removesuffix(".o")
        return next((own[name] for library, own in objects.items() if is_of(path, library) and name in own), path)


def is_of(path, library):
    """Whether an object of the build is one of the library."""
    return f"{TARGETS.get(library, library.name)}.build" in pathlib.Path(path).parts
