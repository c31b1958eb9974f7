"""Drives a program of Examples/Desktop by its widgets, as assistive technology does, and compares what is shown.

Usage: drive.py PROGRAM SCRIPT [PICTURES]

Needs a session with a display and a message bus. Each line of the script is a step or an expectation. Steps: `set` a
slider, `type` a text into a field, `press` a button, `close` a window. Expectations, which must become true, or with `now`
in front must be true at once: labels shown together (`shows`) or not at all (`hides`), a slider's `value`, a field's
`text`, a button that is `sensitive` or `insensitive`, an open `window`, the program `ended`. `picture NAME: WINDOW` writes
a picture of a window to PICTURES, with NAME for `%s`. Variables such as `$USER` are those of the environment.
"""

import collections
import os
import pathlib
import re
import subprocess
import sys
import time

import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi, GLib

HANG = 300  # seconds; only reached by what never happens, however slow the machine


class Wrong(Exception):
    pass


class Program:
    def __init__(self, path, pictures):
        self.process = subprocess.Popen([path])
        self.pictures = pictures

    def nodes(self, node=None):
        """All visible widgets, windows included."""
        if node is None:
            desktop = Atspi.get_desktop(0)
            for index in range(desktop.get_child_count()):
                application = desktop.get_child_at_index(index)
                if application and application.get_process_id() == self.process.pid:
                    yield from self.nodes(application)
            return
        yield node
        for index in range(node.get_child_count()):
            child = node.get_child_at_index(index)
            if child:
                yield from self.nodes(child)

    def find(self, role, name):
        for node in self.nodes():
            if node.get_role_name() == role and node.get_name() == name:
                return node
        raise Wrong(f"there is no {role} named {name}")

    def labels(self):
        return [line for node in self.nodes() if node.get_role_name() == "label" for line in node.get_name().split("\n")]

    def is_sensitive(self, name):
        return self.find("push button", name).get_state_set().contains(Atspi.StateType.SENSITIVE)

    # Actions

    def do_set(self, argument):
        name, value = argument.rsplit(" ", 1)
        Atspi.Value.set_current_value(self.find("slider", name), float(value))

    def do_type(self, argument):
        name, _, text = argument.partition(":")
        Atspi.EditableText.set_text_contents(self.find("text", name), text.strip())

    def do_press(self, name):
        self.must("sensitive", name)
        Atspi.Action.do_action(self.find("push button", name), 0)

    def do_close(self, title):
        frame = self.find("frame", title)
        actions = [Atspi.Action.get_action_name(frame, index) for index in range(Atspi.Action.get_n_actions(frame))]
        try:
            Atspi.Action.do_action(frame, actions.index("window.close"))
        except GLib.Error as error:
            # A program may end before it answers when its last window is closed. `ended` tells whether it ended well.
            try:
                self.process.wait(HANG)
            except subprocess.TimeoutExpired:
                raise error from None

    def do_picture(self, argument):
        name, _, title = argument.partition(": ")
        self.must("window", title)
        if self.pictures:
            window = subprocess.run(
                ["xdotool", "search", "--all", "--onlyvisible", "--pid", str(self.process.pid), "--name", f"^{re.escape(title)}$"],
                capture_output=True, text=True, check=True).stdout.split()[-1]
            # There is no window manager to raise a window. One that another covers would not be visible.
            subprocess.run(["xdotool", "windowraise", window, "windowfocus", window], check=True)
            before = None
            # Waits until nothing fades in any more.
            while before != (before := self.take(window, self.pictures % name)):
                time.sleep(0.2)

    def take(self, window, picture):
        subprocess.run(["maim", "--window", window, picture], check=True)
        return pathlib.Path(picture).read_bytes()

    # Requirements

    def is_shows(self, argument):
        labels = self.labels()
        missing = collections.Counter(argument.split(" | ")) - collections.Counter(labels)
        return not missing or f"there is no {list(missing)}: {labels}"

    def is_hides(self, label):
        return label not in self.labels() or f"{label} is still shown"

    def is_value(self, argument):
        name, value = argument.rsplit(" ", 1)
        shown = Atspi.Value.get_current_value(self.find("slider", name))
        return shown == float(value) or f"it is {shown}"

    def is_text(self, argument):
        name, _, text = argument.partition(":")
        field = self.find("text", name)
        shown = Atspi.Text.get_text(field, 0, Atspi.Text.get_character_count(field))
        return shown == text.strip() or f"it is {shown}"

    def is_sensitive_(self, name):
        return self.is_sensitive(name) or "it is not"

    def is_insensitive(self, name):
        return not self.is_sensitive(name) or "it is sensitive"

    def is_window(self, title):
        self.find("frame", title)
        return True

    def is_ended(self, _):
        return self.process.poll() == 0 or f"the program has not ended well: {self.process.poll()}"

    def must(self, what, argument, now=False):
        question = self.is_sensitive_ if what == "sensitive" else getattr(self, f"is_{what}")
        until = time.monotonic() + HANG
        while True:
            try:
                answer = question(argument)
            except (Wrong, GLib.Error) as error:
                answer = str(error)
            if answer is True:
                return
            if now or time.monotonic() > until:
                raise Wrong(answer)
            time.sleep(0.02)

    def step(self, what, argument):
        action = getattr(self, f"do_{what}", None)
        if action:
            action(argument)
        elif what == "now":
            what, _, argument = argument.partition(" ")
            self.must(what, argument, now=True)
        else:
            self.must(what, argument)


def main(path, script, pictures=None):
    steps = 0
    program = Program(path, pictures)
    try:
        for number, line in enumerate(pathlib.Path(script).read_text(encoding="utf-8").splitlines(), 1):
            if not line.strip() or line.startswith("#"):
                continue
            what, _, argument = line.partition(" ")
            try:
                program.step(what, os.path.expandvars(argument.strip()))
            except (Wrong, GLib.Error, subprocess.CalledProcessError) as error:
                print(f"wrong: {script}:{number}: {line}: {error}")
                return 1
            steps += 1
    finally:
        if program.process.poll() is None:
            program.process.kill()
    print(f"{steps} steps")
    return not steps


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
