"""Links the package's test programs with libraries that are compiled differently: broken, instrumented, optimised.

SwiftPM compiles the tests once; compiling them again takes several times as long as everything else. So a check
compiles only the library that differs, and links the rest as SwiftPM left it in its folder (`.build/debug`), which does
not change:

* `PRODUCT.product/Objects.LinkFileList` lists the objects of a program. The folder `TARGET.build` in a path identifies
  the target, and the object's name (`change.c.o`) the source.
* `Modules`, and the module maps in `TARGET.build`, are used to compile a Swift library, and `KVOMacros-tool` is its
  plug-in.

`Build.link` replaces whole libraries. `Build.link_without` leaves a library out, and `Build.link_shared` makes it a
shared library that the loader finds beside the program: so 500 mutants need one link of the program.
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
CHANGE_LOGS = pathlib.Path("Sources/KVOChangeLogs")
FOUNDATION = pathlib.Path("Sources/KVOFoundation")
# Compiled only with a copy of OpenCombine, as in Package.swift.
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
# Targets whose names differ from their folders' names.
TARGETS = {FIXTURES: "CFixtures", SIGNATURES: "SignatureFixtures"}
FLAGS = ["-D_GNU_SOURCE", "-DKVO_EXCEPTIONS", "-DKVO_FAILING_MEMORY", "-DKVO_POISON", "-DKVO_CHECK_LOCKS"]
FLAGS += ["-fPIC", "-c", f"-I{LIBRARY}/include", f"-I{LIBRARY}"]
CHAOS = pathlib.Path("Tests/Chaos")
# With delays at atomic operations and locks, defined by `compile_delays`.
DELAYED = ["-O1", "-include", str((CHAOS / "chaos.h").resolve())]
INCLUDE = re.compile(r'^#include "(?:.*/)?(.+)"$', re.M)
# DEBUG: in a debug build, locks are gates for the tests that try all orders of two threads.
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
    """The sources in a copy of a library that include one of its headers, directly or through another header. Names are
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
    """Compiles one source of C or C++ with the headers of its library. Returns the object."""
    target = into / (source.name + ".o")
    language = ["clang++", "-std=c++17"] if source.suffix == ".cpp" else ["clang", "-std=c11"]
    includes = [f"-I{library}/include", f"-I{library}"]
    run([*language, *includes, *FLAGS, "-w", *options, str(source), "-o", str(target)])
    return target


def is_c(library):
    return any(path.suffix == ".c" for path in sources(library))


def compile_delays(into):
    return compile_source(CHAOS / "chaos.c", into, "-O1")


def compile_c(library, into, *options):
    """Compiles all sources of a C library. Returns the objects by the names of the sources."""
    into.mkdir(parents=True, exist_ok=True)

    def compile_one(path):
        return path.name, compile_source(path, into, *options, library=library)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(pool.map(compile_one, sources(library)))


def compile_module(library, into, build, *options):
    """Compiles all sources of a Swift library as one module. Returns the objects."""
    paths = sources(library)
    return compile_swift(library, map(str, paths), paths, into, build, "-num-threads", "2", *options)


def compile_apart(library, into, build):
    """Compiles all sources of a Swift library into objects that are complete in themselves. SwiftPM compiles a module
    as a whole: its objects share code, and none of them can be replaced alone."""
    paths = sources(library)

    def compile_half(half):
        return compile_primary(half, into, build, library, library) if half else {}

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        first, second = pool.map(compile_half, [paths[::2], paths[1::2]])
    return first | second


def compile_primary(chosen, into, build, library, tree):
    """Compiles some sources in a copy of a Swift library, each separately. The other sources of the copy are visible to
    them: they may rely only on the declarations that SwiftPM compiled them with."""
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
    """Fails if an object of some libraries lacks a symbol: instrumented code has calls of it in each object."""
    for library, made in objects.items():
        for name, path in made.items():
            if mark not in path.read_bytes():
                raise CommandFailed(f"{library}: {name} is compiled without {mark.decode()}")


# MARK: Swift's own parts


@functools.cache
def swift_resources():
    """The folder of Swift's runtime, and the folder in it for this machine's processor."""
    info = json.loads(run(["swiftc", "-print-target-info"]))
    return pathlib.Path(info["paths"]["runtimeResourcePath"]), info["target"]["triple"].split("-")[0]


def swift_libraries():
    return swift_resources()[0] / "linux"


def swift_beginning():
    """The object that registers the types of a program or library with Swift's runtime."""
    return swift_libraries() / swift_resources()[1] / "swiftrt.o"


def macros(build):
    """Options that name the macro plug-ins: Swift's, the test framework's, the package's."""
    plugins = ["-plugin-path", str(swift_resources()[0] / "host/plugins")]
    return [*plugins, "-load-plugin-executable", f"{build.folder}/KVOMacros-tool#KVOMacros"]


# MARK: Linking


class Build:
    """A program that SwiftPM has built: the tests, or another product."""

    def __init__(self, folder, product=None):
        self.folder = pathlib.Path(folder).resolve()  # the compiler accepts only one name for a cache
        found = self.folder / product if product else next(self.folder.glob("*PackageTests.xctest"))
        self.program = found
        links = self.folder / f"{found.stem}.product" / "Objects.LinkFileList"
        self.objects = [pathlib.Path(line.strip().strip("'")) for line in links.read_text().splitlines()]

    def objects_of(self, library):
        """A library's objects by the names of their sources, without the object that contains its module for
        debuggers."""
        target = f"{TARGETS.get(library, library.name)}.build"
        own = [path for path in self.objects if target in path.parts and ".swiftmodule" not in path.suffixes]
        return {path.name.removesuffix(".o"): path for path in own}

    def replacements(self, objects, by_part=False):
        """Maps the program's objects to their replacements, which are given by library and source. All of a library's
        objects must be given, or, with `by_part`, some of them. Each must replace one."""
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
        """Links the program without a library, which becomes a shared library with these objects beside it. A hard link
        to the program uses the shared library that is beside that link."""
        shared = self.link_shared(library, objects, folder)
        own = set(self.own(library))
        rest = [path for path in self.objects if path not in own]
        return self.link_program(rest, folder, STRIPPED, "-Wl,--export-dynamic", "-Wl,-rpath,$ORIGIN", str(shared))

    def link_shared(self, library, objects, folder, *others):
        """Links a shared library, with these objects in place of its own. It may use symbols of the program. A function
        that neither the program nor a library defines is an error when the program is loaded (`-z now`)."""
        shared = folder / f"lib{library.name}.so"
        replaced = self.replacements({library: objects}, by_part=True)
        own = [str(replaced.get(path, path)) for path in self.own(library)]
        beginning = [] if library == LIBRARY else [str(swift_beginning())]
        options = ["-shared", "-Wl,--threads=1", STRIPPED, "-Wl,-z,now", f"-Wl,-soname,{shared.name}"]
        run([*LINK, *options, *beginning, *own, *others, "-o", str(shared)])
        return shared

    def own(self, library):
        """The objects of a shared library. The C runtime's library includes the fixtures."""
        libraries = [library, FIXTURES] if library == LIBRARY else [library]
        return [path for one in libraries for path in self.objects_of(one).values()]

    @functools.cached_property
    def libraries(self):
        """The options for the linker that the objects contain, such as `-lFoundation`."""
        with tempfile.NamedTemporaryFile("r") as extracted:
            run(["swift-autolink-extract", *map(str, self.objects), "-o", extracted.name])
            return extracted.read().split()

    def link_program(self, objects, folder, *options):
        listed = folder / "Objects.LinkFileList"
        listed.write_text("".join(f"{path}\n" for path in objects))
        program = folder / self.program.name
        own = [f"-Wl,-rpath,{swift_libraries()}", f"-L{swift_libraries()}", f"-L{self.folder}"]
        libraries = [*self.libraries, "-lswiftCore", "-lffi"]
        if program.suffix != ".xctest":  # SwiftPM renames each product's main, so that tests can link them all
            own.append(f"-Wl,--defsym,main={program.name}_main")
        run([*LINK, "-pie", *own, *options, str(swift_beginning()), f"@{listed}", *libraries, "-o", str(program)])
        return program
