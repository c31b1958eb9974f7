"""Tests of the scripts: refused input, the changed files that they use, and the records of builds."""

import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

SCRIPTS = pathlib.Path("Scripts").resolve()
sys.path.insert(0, str(SCRIPTS))
AUTHOR = ["-c", "user.name=Test", "-c", "user.email=test@example.org"]
# Edits a source while it "builds" the first product, and fails if it is asked to.
BUILDING = """#!/bin/sh
mkdir -p .build/debug
echo during >Sources/a.txt
[ ! -e broken ]
"""


def run(*command, stdin="", **options):
    """The status and the output of a command."""
    result = subprocess.run(command, capture_output=True, text=True, input=stdin, **options)
    return result.returncode, result.stdout + result.stderr


class TreeTest(unittest.TestCase):
    """In a temporary repository, with the scripts of this one."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / "Scripts").mkdir()
        for name in ("lib.sh", "failures.awk"):
            self.write(f"Scripts/{name}", (SCRIPTS / name).read_text())
        for name in ("Sources", "Tests", "Benchmarks", "Snippets", "Examples", "Documentation"):
            self.write(f"{name}/a.txt", "before")
        self.write("Package.swift", "")
        self.write(".gitignore", ".build\n/bin\n/broken\n")
        self.write("bin/swift", BUILDING)
        (self.root / "bin/swift").chmod(0o755)
        self.git("init", "--quiet")
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "Begin")

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def git(self, *arguments):
        command = ["git", *AUTHOR, *arguments]
        return subprocess.run(command, cwd=self.root, check=True, capture_output=True, text=True).stdout

    def shell(self, text):
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("KVO_", "CI"))}
        environment["PATH"] = f"{self.root}/bin:{environment['PATH']}"
        return run("bash", "-c", f"set -euo pipefail; source Scripts/lib.sh; {text}", cwd=self.root, env=environment)

    def built_from(self):
        path = self.root / ".build/debug/built-from"
        return path.read_text().strip() if path.exists() else None

    def test_what_is_edited_during_a_build_is_not_built(self):
        status, output = self.shell("build_tests")
        self.assertEqual(status, 0, output)
        self.assertEqual(self.git("show", f"{self.built_from()}:Sources/a.txt"), "before")
        self.assertEqual(self.shell('git diff --name-only "$(<.build/debug/built-from)" "$(tree_now)"'), (0, "Sources/a.txt\n"))

    def test_a_build_that_fails_is_no_build(self):
        self.assertEqual(self.shell("build_tests")[0], 0)
        self.write("broken", "")
        self.assertNotEqual(self.shell("build_tests")[0], 0)
        self.assertIsNone(self.built_from())

    def test_the_tree_has_what_is_new_and_lacks_what_is_gone(self):
        first = self.shell("tree_now")[1].strip()
        self.write("Tests/new.txt", "new")
        (self.root / "Examples/a.txt").unlink()
        second = self.shell("tree_now")[1].strip()
        self.assertEqual(self.git("diff", "--name-status", first, second), "D\tExamples/a.txt\nA\tTests/new.txt\n")

    def test_changed_files_are_the_packages_own(self):
        self.write("venv/lib/other.py", "")
        self.write("Sources/new.txt", "")
        (self.root / "Tests/a.txt").unlink()
        status, output = self.shell("changed_files HEAD")
        self.assertEqual((status, output), (0, "Tests/a.txt\0Sources/new.txt\0"))
        self.assertEqual(self.shell("files '*/new.txt' '*.py'"), (0, "Sources/new.txt\0"))


class ArgumentsTest(unittest.TestCase):
    def refuses(self, said, script, *arguments):
        status, output = run(SCRIPTS / script, *arguments)
        self.assertNotEqual(status, 0)
        self.assertIn(said, output)

    def test_what_has_nothing_to_do_is_refused(self):
        self.refuses("no test names Z9", "test", "M1", "Z9")
        self.refuses("--filter needs a pattern", "test", "--filter")
        self.refuses("--filter needs a pattern", "test", "--filter", "--skip", "A")
        self.refuses("0 is nothing to do", "prove", "--schedules", "0")
        self.refuses("0 is nothing to do", "stress", "0")
        self.refuses("there is no file", "prove", "--schedules", "nothing.txt")
        self.refuses("there is no mutant I3-bogus", "prove", "--schedules", "1", "--with", "I3-bogus")
        self.refuses("there is no file --with", "prove", "--schedules", "--with")
        self.refuses("there is no program Bogus", "desktop", "Bogus")
        self.refuses("there is no argument --check", "format", "--check")


SUITE = """struct LexerTests {
  @Test("F1: functions are read", arguments: ["func a() {}", "var b"])
  func functions(_ text: String) {}
  @Test static func plain() {}
}
"""
LIBRARY = """public struct S { public init() {} }
@inlinable @inline(__always) public func always(_ s: S) -> Int { 54321 }
@inlinable public func inlinable<T>(_ t: T) -> Int { 54322 }
@_alwaysEmitIntoClient public func copied(_ s: S) -> Int { 54323 }
"""
# Begins a test.
RUNNING = """#!/usr/bin/env python3
import json, os, subprocess, sys, threading, time
with open(sys.argv[sys.argv.index("--event-stream-output-path") + 1], "w") as events:
    event = {"kind": "testStarted", "testID": "T/f()", "messages": []}
    events.write(json.dumps({"kind": "event", "payload": event}) + chr(10))
"""
# Sleeps nearly always, longer than threads may that sleep for ever.
SLOW = """for turn in range(12):
    time.sleep(0.5)
    end = time.process_time() + 0.02
    while time.process_time() < end: pass
"""


def of_programs(bodies, work):
    """The results of work with a test program for each body, all at once."""
    with tempfile.TemporaryDirectory() as folder:
        # All are written before the first one starts: a program can't run while a process that is just being started has
        # it open for writing, too.
        programs = [pathlib.Path(folder, f"program-{number}") for number in range(len(bodies))]
        for program, body in zip(programs, bodies):
            program.write_text(RUNNING + body)
            program.chmod(0o755)
        with concurrent.futures.ThreadPoolExecutor(len(bodies)) as pool:
            return list(pool.map(work, programs))


# A plan of SwiftPM: a source that two targets compile, one of which is linked with the tests.
PLAN = """commands:
  "tests":
    inputs: ["/debug/A.build/a.c.o"]
    outputs: ["/debug/KVORuntimePackageTests.xctest"]
    args: ["swiftc"]

  "A":
    inputs: ["SOURCE"]
    outputs: ["/debug/A.build/a.c.o"]
    args: ["clang","-c"]

  "A-tool":
    inputs: ["SOURCE"]
    outputs: ["/debug/A-tool.build/a.c.o"]
    args: ["clang","-c","-tool"]
"""


class FilesTest(unittest.TestCase):
    def test_a_function_in_an_argument_of_a_test_is_no_test(self):
        import rules

        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "LexerTests.swift")
            path.write_text(SUITE)
            found = [(suite, function, words) for _, suite, function, words in rules.functions_of(path)]
        self.assertEqual(found, [("LexerTests", "functions", ["F1"]), ("LexerTests", "plain", [])])

    def test_a_skipped_test_fails(self):
        import events

        def errors(*kinds):
            said = [{"text": 'Test slow() skipped: "too slow here"'}]
            found = [{"kind": kind, "testID": "M.S/f()/F.swift:1:1", "messages": said} for kind in kinds]
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder, "events")
                path.write_text("".join(json.dumps({"kind": "event", "payload": one}) + "\n" for one in found))
                return [list(events.judge(path, reasons)) for reasons in ("no reason", "too fast|too slow")]

        skipped = 'a test was skipped: Test slow() skipped: "too slow here"'
        self.assertEqual(errors("testStarted"), [[], []])
        self.assertEqual(errors("testStarted", "testSkipped"), [[skipped], []])
        self.assertEqual(errors("testSkipped"), [["no test was run", skipped], ["no test was run"]])

    def test_a_test_hangs_by_its_threads_and_not_by_a_clock(self):
        import events

        bodies = ["threading.Event().wait()", "subprocess.run(['sleep', 'infinity'])", "while True: pass", SLOW]
        *hanging, slow = of_programs(bodies, lambda program: events.run_tests(program, ["T"], most_cpu=2))
        for found, body in zip(hanging, bodies):
            self.assertEqual((found.noticed_by, found.end), ("T/f()", "hangs"), body)
        self.assertEqual((slow.noticed_by, slow.end, slow.fault), (None, "ends with 0", None))

    def test_a_test_program_ends_with_the_check_that_started_it(self):
        def said_after_the_check_was_killed(program):
            check = subprocess.Popen(
                [sys.executable, SCRIPTS / "events.py", "no reason", program], stdout=subprocess.PIPE, text=True
            )
            begun = check.stdout.readline()
            check.kill()
            return begun, check.communicate(timeout=60)[0]  # returns when the program has ended, too

        body = "print('begun', flush=True); threading.Event().wait()"
        self.assertEqual(of_programs([body], said_after_the_check_was_killed), [("begun\n", "")])

    def test_a_run_fails_if_a_test_hangs_or_the_program_crashes(self):
        bodies = ["", "threading.Event().wait()", "os.abort()", "raise SystemExit(1)", "open(sys.argv[4], 'w')"]
        said = ["", "wrong: a test hangs: T/f()\n", *(f"wrong: the test program ends with {end}\n" for end in (-6, 1))]
        *found, silent = of_programs(bodies, lambda program: run(sys.executable, SCRIPTS / "events.py", "no reason", program))
        self.assertEqual(found, [(bool(text), text) for text in said])
        self.assertEqual(silent, (1, "wrong: no test was run\n"))

    def test_a_process_may_end_while_its_threads_are_looked_at(self):
        import events

        process = subprocess.Popen(["sleep", "infinity"], start_new_session=True)

        def ending(list_folder):
            def list_after_end(path):
                if os.fspath(path) == f"/proc/{process.pid}/task":
                    process.kill()
                    process.wait()
                return list_folder(path)

            return unittest.mock.patch(f"os.{list_folder.__name__}", list_after_end)

        with ending(os.scandir), ending(os.listdir):
            is_awake, _ = events.activity(process.pid)
        self.assertFalse(is_awake)
        self.assertIsNotNone(process.returncode)

    def test_only_some_bodies_are_copied_into_other_modules(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "A.swift").write_text(LIBRARY)
            pathlib.Path(folder, "B.swift").write_text("import A\nprint(always(S()), inlinable(1), copied(S()))\n")
            for options in (["-emit-module", "-parse-as-library"], ["-emit-assembly", "-I", folder, "-o", f"{folder}/B.s"]):
                source = "B.swift" if "-I" in options else "A.swift"
                subprocess.run(["swiftc", "-Onone", "-wmo", *options, source], cwd=folder, check=True)
            assembly = pathlib.Path(folder, "B.s").read_text()
        self.assertEqual([f"${number}" in assembly for number in (54321, 54322, 54323)], [False, False, True])

    def test_bodies_are_not_visible(self):
        import quick_build

        text = "struct S {\n  var a: Int { 1 }\n  @_transparent func f(_ x: Int) { g(2) }\n  let c = { 3 }\n}\nfunc h() {\n  4\n}\n"
        kept = [quick_build.without_bodies(text.replace(number, "9").encode()) for number in "01234"]
        self.assertEqual([lines == kept[0] for lines in kept], [True, True, False, False, True])

    def test_what_swiftpm_does_not_compile_asks_for_no_build(self):
        import quick_build

        compiled = ["Sources/CKVORuntime/delivery/change.c", "Tests/KVORuntimeTests/Values/A.swift", "Package.swift"]
        compiled += ["Tests/Support/Fixtures/graph.c", "Tests/Migration/Journal.swift", "Tests/XCTMain.swift"]
        for name in compiled:
            self.assertTrue(quick_build.is_compiled(name), name)
        for folder in ("Mutants", "Schedules", "Fuzz", "Models", "Checks", "Counts"):
            self.assertFalse(quick_build.is_compiled(f"Tests/{folder}/a.c"), folder)

    def test_a_build_that_another_command_has_changed_needs_another_one(self):
        import quick_build

        with tempfile.TemporaryDirectory() as folder:
            object, record = pathlib.Path(folder, "a.c.o"), pathlib.Path(folder, "built-from")
            for path, seconds in ((object, 1), (record, 2)):
                path.touch()
                os.utime(path, (seconds, seconds))
            self.assertFalse(quick_build.is_older(record, [object]))
            os.utime(object, (3, 3))
            self.assertTrue(quick_build.is_older(record, [object]))
            object.unlink()
            self.assertTrue(quick_build.is_older(record, [object]))

    def test_a_source_is_compiled_as_swiftpm_does(self):
        import quick_build

        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder, "a.c").resolve()
            source.touch()
            pathlib.Path(folder, "debug.yaml").write_text(PLAN.replace("SOURCE", str(source)))
            compiling, linking = quick_build.read_plan(pathlib.Path(folder))
            self.assertEqual([command["args"] for command in compiling], [["clang", "-c"]])
            self.assertEqual([command["args"] for command in linking], [["swiftc"]])
            self.assertIs(quick_build.command_for(source, "HEAD", compiling), compiling[0])
            self.assertIsNone(quick_build.command_for(source.with_suffix(".h"), "HEAD", compiling))

    def test_the_flags_and_libraries_are_those_of_the_manifest(self):
        import link_variants
        import mutant
        import variant

        with tempfile.TemporaryDirectory() as folder:
            package = json.loads(run("swift", "package", "--scratch-path", folder, "dump-package")[1])
        defined = {}
        for setting in next(target for target in package["targets"] if target["name"] == "CKVORuntime")["settings"]:
            if word := setting["kind"].get("define"):
                defined[f"-D{word['_0']}"] = "condition" in setting
        self.assertEqual({flag for flag in link_variants.FLAGS if flag.startswith("-D")}, set(defined))
        _, words = run("bash", "-c", "source Scripts/c.sh; printf '%s\n' \"${c_flags[@]}\"")
        always = {flag for flag, is_conditional in defined.items() if not is_conditional}
        self.assertEqual({flag for flag in words.split() if flag.startswith("-D")} | {"-DKVO_EXCEPTIONS"}, always)
        libraries = {name for product in package["products"] if "library" in product["type"] for name in product["targets"]}
        self.assertEqual(libraries - {path.name for path in variant.LIBRARIES}, set())
        self.assertEqual(libraries - {folder.library.name for folder in mutant.FOLDERS.values()}, set())

    def test_a_change_of_the_c_runtime_runs_the_stress(self):
        pattern = self.pattern_for("Sources/CKVORuntime/delivery/change.c")
        self.assertIn(r"CKVORuntimeTests\.StressTests/", pattern)
        self.assertNotIn("StressTests", self.pattern_for("Sources/KVOTesting/Recorder.swift"))

    def pattern_for(self, *files):
        return run(sys.executable, SCRIPTS / "rules.py", "--tests-for", stdin="\0".join(files))[1]

    def test_a_cited_function_that_no_source_has_is_reported(self):
        with tempfile.TemporaryDirectory() as folder:
            model, page = pathlib.Path(folder, "a.pml"), pathlib.Path(folder, "a.md")
            model.write_text("// kvo_entry_insert, kvo_entry_place, change.c and trees.c\nbyte own_word; // own_word\n")
            page.write_text("`kvo_entry_place` of `account_class`, a swift_function_type\n")
            status, output = run(sys.executable, SCRIPTS / "citations.py", model, page)
        lost = [f"{model}:1: no source has kvo_entry_place", f"{model}:1: no source has trees.c"]
        lost += [f"{page}:1: no source has kvo_entry_place", f"{page}:1: no source has swift_function_type"]
        self.assertEqual((status, output.splitlines()), (1, lost))

    def test_a_file_that_is_not_tried_names_its_checks(self):
        files = ["Sources/CKVORuntime/delivery/change.c", "Tests/Schedules/oracle.c", "Scripts/models.py", "NOTES"]
        _, output = run(sys.executable, SCRIPTS / "untried.py", "HEAD", "rules", "format", "mutants", stdin="\0".join(files))
        self.assertEqual(
            output.splitlines(),
            [
                "not tried here: Scripts/models.py: Scripts/check models (full ring)",
                "not tried here: Tests/Schedules/oracle.c: Scripts/check schedules (landing ring)",
                "no check tries NOTES",
            ],
        )

    def test_a_source_of_the_macro_names_the_tests_of_what_it_generates(self):
        file = "Sources/KVOExpansion/SetterCheck.swift"
        _, output = run(sys.executable, SCRIPTS / "untried.py", "HEAD", stdin=file)
        self.assertRegex(output, "(?m)^what the macro generates .* Scripts/test")

    def test_a_source_that_is_not_compiled_is_not_tried(self):
        file = "Sources/KVOFoundation/OpenCombine/KeyValuePublisher.swift"
        _, output = run(sys.executable, SCRIPTS / "untried.py", "HEAD", stdin=file)
        self.assertRegex(output, f"not tried here: {re.escape(file)}: Scripts/check .*publishers.* \\(full ring\\)")


if __name__ == "__main__":
    unittest.main()
