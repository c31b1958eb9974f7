"""Runs Scripts/rings.py in a small temporary repository, whose checks pass or fail at once."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

RINGS = pathlib.Path("Scripts/rings.py").resolve()
# git refuses a commit without an author.
AUTHOR = ["-c", "user.name=Test", "-c", "user.email=test@example.org"]


class RingsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / ".ci").mkdir()
        (self.root / "logs").mkdir()
        self.write(".gitignore", "logs\n")
        self.write("Scripts/failures.awk", RINGS.with_name("failures.awk").read_text())
        self.add_check("quick", "landing", "a.txt", 'echo "since ${KVO_SINCE-nothing}, $KVO_RING"')
        self.add_check("cheap", "full", "b.txt", "echo cheap")
        self.add_check("dear", "full", "b.txt", "echo dear")
        self.write("a.txt", "1")
        self.write("b.txt", "1")
        self.git("init", "--quiet")
        self.commit()

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def add_check(self, name, ring, inputs, command):
        head = f"#!/bin/sh\n# {name}.\n# Ring: {ring}\n# Inputs: {inputs}\n"
        self.write(f"Scripts/checks/{name}", f"{head}{command}\n")
        (self.root / "Scripts/checks" / name).chmod(0o755)

    def git(self, *arguments):
        command = ["git", *AUTHOR, *arguments]
        return subprocess.run(command, cwd=self.root, check=True, capture_output=True, text=True).stdout.strip()

    def commit(self):
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "Change")
        return self.git("rev-parse", "HEAD")

    def record(self, commit, **cpu_seconds):
        lines = [f"{name} {commit} 2026-01-01 1 {seconds} fine" for name, seconds in cpu_seconds.items()]
        self.write(".ci/full-ring.txt", "\n".join(lines) + "\n")

    def rings(self, *arguments):
        """The status and the output of rings.py."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("KVO_")}
        command = [sys.executable, str(RINGS), "logs", *arguments]
        result = subprocess.run(command, cwd=self.root, env=environment, capture_output=True, text=True)
        return result.returncode, result.stdout + result.stderr

    def test_a_missing_record_is_an_error(self):
        self.record(self.commit(), quick=1, dear=1)
        status, output = self.rings()
        self.assertEqual(status, 1)
        self.assertIn("wrong: cheap has no full run on record", output)
        self.assertNotIn("quick has no", output)

    def test_the_full_ring_records_what_passes(self):
        self.add_check("dear", "full", "b.txt", "echo wrong: dear; exit 1")
        self.record(self.commit(), dear=1)
        commit = self.commit()
        status, output = self.rings("--full")
        self.assertEqual(status, 1)
        self.assertIn("3 checks, 1 failed: dear", output)
        recorded = (self.root / ".ci/full-ring.txt").read_text()
        self.assertRegex(recorded, f"(?m)^quick +{commit} .* since nothing, full$")
        self.assertNotIn("\ndear", recorded)

    def test_named_checks_run_at_full_strength(self):
        self.commit()
        status, output = self.rings("--full", "cheap", "quick")
        self.assertEqual(status, 0, output)
        self.assertIn("2 checks, 0 failed", output)
        self.assertNotIn("dear", (self.root / ".ci/full-ring.txt").read_text())

    def test_the_full_ring_needs_a_clean_tree(self):
        self.write("a.txt", "2")
        status, output = self.rings("--full")
        self.assertEqual(status, 1)
        self.assertIn("commit or stash", output)
        self.assertFalse((self.root / ".ci/full-ring.txt").exists())

    def test_without_changes_the_landing_ring_runs_its_own_checks(self):
        commit = self.commit()
        self.record(commit, quick=1, cheap=100, dear=1000)
        status, output = self.rings()
        self.assertEqual(status, 0, output)
        self.assertIn(f"since {commit}, landing", output)
        self.assertIn("1 checks, 0 failed", output)

    def test_a_change_runs_the_full_checks_that_it_can_afford(self):
        commit = self.commit()
        self.record(commit, quick=1, cheap=100, dear=1000)
        self.write("b.txt", "2")
        status, output = self.rings()
        self.assertEqual(status, 0, output)
        self.assertIn("cheap: its inputs have changed since its last full run, so it runs too", output)
        self.assertIn("dear: its inputs have changed; the next full run takes it", output)
        self.assertIn("2 checks, 0 failed", output)

    def test_a_failing_check_fails_the_ring(self):
        self.add_check("quick", "landing", "a.txt", "exit 3")
        self.record(self.commit(), quick=1, cheap=1, dear=1)
        status, output = self.rings()
        self.assertEqual(status, 1)
        self.assertIn("1 failed: quick", output)

    def test_an_old_record_is_an_error(self):
        commit = self.commit()
        self.record(commit, quick=1, cheap=1, dear=1)
        for _ in range(100):
            self.commit()
        self.assertEqual(self.rings()[0], 0)
        self.commit()
        status, output = self.rings()
        self.assertEqual(status, 1)
        self.assertIn("wrong: quick passed 101 commits ago, 100 at most", output)

    def test_a_record_from_elsewhere_is_an_error(self):
        self.commit()
        self.record("0" * 40, quick=1, cheap=1, dear=1)
        status, output = self.rings()
        self.assertEqual(status, 1)
        self.assertIn("which is not behind HEAD", output)

    def test_a_record_without_a_check_is_an_error(self):
        self.record(self.commit(), quick=1, cheap=1, dear=1, gone=1)
        status, output = self.rings()
        self.assertEqual(status, 1)
        self.assertIn("wrong: .ci/full-ring.txt has gone, which is no check", output)

    def test_an_input_that_does_not_exist_is_an_error(self):
        self.add_check("quick", "landing", "a.txt renamed.txt", "true")
        self.record(self.commit(), quick=1, cheap=1, dear=1)
        status, output = self.rings()
        self.assertEqual(status, 1)
        self.assertIn("wrong: quick depends on renamed.txt, which matches no file", output)

    def test_the_scripts_of_a_check_are_inputs(self):
        self.add_check("cheap", "full", "b.txt", "# Scripts/other.py\nsource Scripts/shared.sh")
        self.write("Scripts/shared.sh", "python3 Scripts/tool.py\nswift build\n")
        self.write("Scripts/tool.py", "import helper\n")
        for name in ("Scripts/helper.py", "Scripts/other.py", "Package.swift"):
            self.write(name, "")
        self.record(self.commit(), quick=1, cheap=1, dear=1)
        for name, runs in (("Scripts/helper.py", True), ("Scripts/other.py", False), ("Package.swift", True)):
            self.write(name, "changed")
            self.assertEqual("cheap: its inputs have changed" in self.rings()[1], runs, name)
            self.write(name, "")

    def test_an_unknown_name_is_an_error(self):
        status, output = self.rings("quack")
        self.assertEqual(status, 1)
        self.assertIn("there is no check named quack", output)


if __name__ == "__main__":
    unittest.main()
