"""Links the package's test programs with libraries that are compiled differently: sabotaged, instrumented, optimised.

SwiftPM compiles the tests once; compiling them again takes several times as long as everything else. So a check compiles
only the library that differs and links the rest as SwiftPM left it. Neither the tree nor SwiftPM's build changes.

Three things of SwiftPM's build are read, all in its folder (`.build/debug`):

* `PRODUCT.product/Objects.LinkFileList`, the objects that SwiftPM links a program of, a path in each line. The folder
  `TARGET.build` in a path says whose object it is, and its name (`change.c.o`) which source it comes from.
* `Modules` and the module maps in `TARGET.build`, with which a Swift library is compiled.
* `KVOMacros-tool`, the macros' program, which the compiler starts.

A program is linked in two ways. `Build.link` replaces whole libraries: every object of each must be among the new ones.
`Build.link_without` leaves a library out, and `Build.link_shared` makes it a shared one that the loader finds beside the
program. So 500 mutants need one link of the program and 500 of a small library.
"""

import concurrent.futures
import functools
import json
import os
import pathlib
import re
import subprocess
import tempfile

LIBRARY = pathlib.Path("Sources/CKVORuntime")
OVERLAY = pathlib.Path("Sources/KVORuntime")
FOUNDATION = pathlib.Path("Sources/KVOFoundation")
# Compiled only with a copy of OpenCombine, as Package.swift says.
EXCLUDED = "OpenCombine"
TESTING = pathlib.Path("Sources/KVOTesting")
EXPANSION = pathlib.Path("Sources/KVOExpansion")
SOURCE = pathlib.Path("Sources/SwiftSource")
MOVE = pathlib.Path("Sources/KVOMove")
OBSERVATION = pathlib.Path("Sources/KVOObservation")
C_OBSERVATION = pathlib.Path("Sources/CKVOObservation")
# The tests' own C sources. They use functions that the C runtime hides from other libraries.
FIXTURES = pathlib.Path("Tests/Support/Fixtures")
SIGNATURES = pathlib.Path("Tests/Support/Signatures")
# Targets that are not named after their folder.
TARGETS = {FIXTURES: "CFixtures", SIGNATURES: "SignatureFixtures"}
FLAGS = ["-D_GNU_SOURCE", "-DKVO_EXCEPTIONS", "-DKVO_FAILING_MEMORY", "-DKVO_POISON", "-DKVO_CHECK_LOCKS"]
FLAGS += ["-fPIC", "-w", "-c", f"-I{LIBRARY}/include", f"-I{LIBRARY}"]
CHAOS = pathlib.Path("Tests/Chaos")
# With delays at atomic operations and locks, which `compile_delays` defines.
DELAYED = ["-O1", "-include", str((CHAOS / "chaos.h").resolve())]
INCLUDE = re.compile(r'^#include "(?:.*/)?(.+)"$', re.M)
# DEBUG: locks of a debug build are gates of the tests that try all orders of two threads.
SWIFT_FLAGS = ["-parse-as-library", "-swift-version", "6", "-enable-testing", "-D", "DEBUG"]
LINK = ["clang++", "-fuse-ld=lld"]
STRIPPED = "-Wl,--strip-debug"


class CommandFailed(Exception):
    pass


def run(command, **options):
    result = subprocess.run(command, text=True, capture_output=True, **options)
    if result.returncode:
        raise CommandFailed(f"{command[0]} fails:\n{(result.stderr or result.stdout)[-2000:]}")
    return result.stdout


# MARK: Compiling


def sources(library=LIBRARY):
    found = [path for suffix in ("c", "cpp", "swift") for path in sorted(library.rglob(f"*.{suffix}"))]
    return [path for path in found if path.parent.name != EXCLUDED]


def using(header, tree):
    """The sources in a copy of a library that include a header of it, directly or through another header. Names are
    unique within a library."""
    included = {
        path: set(INCLUDE.findall(path.read_text()))
        for path in [*tree.rglob("*.h"), *sources(tree)]
    }
    reached, last = set(), {header.name}
    while last:
        reached |= last
        last = {path.name for path, names in included.items() if names & reached} - reached
    return [path for path in sources(tree) if path.name in reached]


def compile_source(source, into, *options, library=LIBRARY):
    """The object of one source of C or C++, made with the headers of its library."""
    target = into / (source.name + ".o")
    language = ["clang++", "-std=c++17"] if source.suffix == ".cpp" else ["clang", "-std=c11"]
    includes = [f"-I{library}/include", f"-I{library}"]
    run([*language, *includes, *FLAGS, *options, str(source), "-o", str(target)])
    return target


def compile_delays(into):
    return compile_source(CHAOS / "chaos.c", into, "-O1")


def compile_c(library, into, *options):
    """The objects of all sources of a library in C, by the names of the sources."""
    into.mkdir(parents=True, exist_ok=True)

    def compile_one(path):
        return path.name, compile_source(path, into, *options, library=library)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(pool.map(compile_one, sources(library)))


def compile_module(library, into, build, *options):
    """The objects of all sources of a Swift library, compiled as a whole."""
    paths = sources(library)
    return compile_swift(library, map(str, paths), paths, into, build, "-num-threads", "2", *options)


def compile_apart(library, into, build):
    """The objects of all sources of a Swift library, each complete in itself: where SwiftPM compiles a module as a whole,
    its objects share code, and none of them can be replaced alone."""
    paths = sources(library)
    if not build.is_compiled_as_a_whole(library):
        return {}

    def compile_half(half):
        return compile_primary(half, into, build, library, library) if half else {}

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        first, second = pool.map(compile_half, [paths[::2], paths[1::2]])
    return first | second


def compile_primary(chosen, into, build, library, tree):
    """The objects of some sources in a copy of a Swift library, each compiled by itself. The others are in the same copy:
    they may rely only on declarations that SwiftPM compiled them with."""
    arguments = []
    for path in sources(tree):
        arguments += ["-primary-file", str(path)] if path in chosen else [str(path)]
    return compile_swift(library, arguments, chosen, into, build)


def compile_swift(library, arguments, chosen, into, build, *options):
    into.mkdir(parents=True, exist_ok=True)
    objects = {path.name: into / (path.name + ".o") for path in chosen}
    maps = [build.folder / f"{name}.build/module.modulemap" for name in ("CKVORuntime", "CFixtures")]
    maps += [pathlib.Path("Sources/CFFI/module.modulemap"), OVERLAY / "SwiftRuntime/module.modulemap"]
    maps += [build.folder / "CKVOObservation.build/module.modulemap"] if library == OBSERVATION else []
    # A module does not import itself: the older one must not be found.
    modules = [] if library in (OVERLAY, SOURCE) else ["-I", str(build.folder / "Modules")]
    levels = [] if "-O" in options else ["-Onone"]
    run(
        ["swift-frontend", "-c", *arguments, *SWIFT_FLAGS, *levels, "-module-name", library.name]
        + ["-module-cache-path", str(build.folder / "RelinkModuleCache")]
        + ["-package-name", pathlib.Path.cwd().name.lower(), *modules]
        + [word for path in maps for word in ("-Xcc", f"-fmodule-map-file={path}")]
        + [word for folder in (LIBRARY, FIXTURES) for word in ("-Xcc", f"-I{folder}/include")]
        + [*macros(build), *options]
        + [word for target in objects.values() for word in ("-o", str(target))]
    )
    return objects


def require_in(objects, mark):
    """Fails if an object of some libraries lacks a name: whatever instruments code leaves calls in each."""
    for library, made in objects.items():
        for name, path in made.items():
            if mark not in path.read_bytes():
                raise CommandFailed(f"{library}: {name} is compiled without {mark.decode()}")


# MARK: Swift's own parts


@functools.cache
def swift_resources():
    """The folder of Swift's runtime, and the name of this machine's processor in it."""
    info = json.loads(run(["swiftc", "-print-target-info"]))
    return pathlib.Path(info["paths"]["runtimeResourcePath"]), info["target"]["triple"].split("-")[0]


def swift_libraries():
    return swift_resources()[0] / "linux"


def swift_beginning():
    """The object that registers the types of a program or library with Swift's runtime."""
    return swift_libraries() / swift_resources()[1] / "swiftrt.o"


def macros(build):
    """Options that name the programs of the macros: Swift's, the test framework's, the package's."""
    plugins = ["-plugin-path", str(swift_resources()[0] / "host/plugins")]
    return [*plugins, "-load-plugin-executable", f"{build.folder}/KVOMacros-tool#KVOMacros"]


# MARK: Linking


class Build:
    """A program as SwiftPM has built it: the tests, or another product."""

    def __init__(self, folder, product=None):
        self.folder = pathlib.Path(folder).resolve()  # the compiler takes a cache by one name alone
        found = self.folder / product if product else next(self.folder.glob("*PackageTests.xctest"))
        self.program = found
        links = self.folder / f"{found.stem}.product" / "Objects.LinkFileList"
        self.objects = [pathlib.Path(line.strip().strip("'")) for line in links.read_text().splitlines()]

    def objects_of(self, library):
        """A library's objects by the names of their sources; but not the one that has its module for debuggers."""
        target = f"{TARGETS.get(library, library.name)}.build"
        own = [path for path in self.objects if target in path.parts and ".swiftmodule" not in path.suffixes]
        return {path.name.removesuffix(".o"): path for path in own}

    def is_compiled_as_a_whole(self, library):
        """Whether the compiler has last noted dependencies for the module, rather than for each source."""
        notes = (self.folder / f"{library.name}.build").glob("*.d")
        return max(notes, key=lambda path: path.stat().st_mtime).stem == library.name

    def replacements(self, objects, by_part=False):
        """The program's objects that others replace, which are given by library and source, and these. All of a library
        must be given, or by part some; none may be given that replaces nothing."""
        others = {}
        for library, made in objects.items():
            own = self.objects_of(library)
            odd = made.keys() - own.keys() if by_part else made.keys() ^ own.keys()
            if odd or not own:
                raise CommandFailed(f"{self.program.name}: {library} has other objects: {', '.join(sorted(odd))}")
            others |= {own[name]: made[name] for name in made}
        return others

    def link(self, objects, folder, *options, by_part=False):
        """Links the program with these libraries' objects in place of its own."""
        others = self.replacements(objects, by_part)
        return self.link_program([others.get(path, path) for path in self.objects], folder, *options)

    def link_without(self, library, objects, folder):
        """Links the program without a library, which is a shared one beside it that has these objects: a hard link to the
        program uses the library that is beside that link."""
        shared = self.link_shared(library, objects, folder)
        own = set(self.own(library))
        rest = [path for path in self.objects if path not in own]
        return self.link_program(rest, folder, STRIPPED, "-Wl,--export-dynamic", "-Wl,-rpath,$ORIGIN", str(shared))

    def link_shared(self, library, objects, folder, *others):
        """Links a library as a shared one, with these objects in place of its own. It may use what the program defines.
        A function that neither program nor libraries define is an error when the program is loaded (`-z now`)."""
        shared = folder / f"lib{library.name}.so"
        replaced = self.replacements({library: objects}, by_part=True)
        own = [str(replaced.get(path, path)) for path in self.own(library)]
        beginning = [] if library == LIBRARY else [str(swift_beginning())]
        options = ["-shared", "-Wl,--threads=1", STRIPPED, "-Wl,-z,now", f"-Wl,-soname,{shared.name}"]
        run([*LINK, *options, *beginning, *own, *others, "-o", str(shared)])
        return shared

    def own(self, library):
        """The objects that a shared library is made of: with the C runtime's those of the fixtures."""
        libraries = [library, FIXTURES] if library == LIBRARY else [library]
        return [path for one in libraries for path in self.objects_of(one).values()]

    @functools.cached_property
    def libraries(self):
        """The options that the objects contain for the linker, such as `-lFoundation`."""
        with tempfile.NamedTemporaryFile("r") as extracted:
            run(["swift-autolink-extract", *map(str, self.objects), "-o", extracted.name])
            return extracted.read().split()

    def link_program(self, objects, folder, *options):
        listed = folder / "Objects.LinkFileList"
        listed.write_text("".join(f"{path}\n" for path in objects))
        program = folder / self.program.name
        own = [f"-Wl,-rpath,{swift_libraries()}", f"-L{swift_libraries()}", f"-L{self.folder}"]
        libraries = [*self.libraries, "-lswiftCore", "-lffi"]
        if program.suffix != ".xctest":  # SwiftPM names a product's main function after it, so that tests can have all
            own.append(f"-Wl,--defsym,main={program.name}_main")
        run([*LINK, "-pie", *own, *options, str(swift_beginning()), f"@{listed}", *libraries, "-o", str(program)])
        return program
