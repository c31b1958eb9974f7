"""Compares code of Apple's platforms with the same code moved to KVORuntime.

Usage: check_moved_code.py ORIGINALS MOVED

Both folders hold Swift files of the same names. Token by token, comments included, a moved file may differ from its
original only by the edits that Documentation/MovingOver.md lists. Prints all other differences.

To prove that nothing escapes it, the comparison is repeated with each token of each moved file left out, and must fail.
Only the bodies of validators and the kinds of `try` are not compared.
"""

import pathlib
import re
import sys
from typing import NamedTuple

TOKEN = re.compile(r"\s+|//[^\n]*|[@#]?[A-Za-z_]\w*|\d[\d_]*(?:\.\d+)?|.", re.S)
STRING_PART = re.compile(r"(?:[^\"\\]|\\[^(])*(?:\"|\\\()")

# Methods that take keys as strings, and those of the proxies that they return. The errors that they throw here are
# exceptions on Apple's platforms.
STRING_CALLS = set(
    """addObserver removeObserver value setValue setNilValueForKey validateValue observe
    dictionaryWithValues setValuesForKeys mutableArrayValue mutableSetValue mutableOrderedSetValue
    add addObjects insert remove removeObject removeObjects removeAllObjects replaceObject
    replaceObjects union minus intersect setSet""".split()
)

# Methods that Apple's runtime finds by name, and the equivalent entries of `declareKeys`.
PER_KEY = re.compile(
    r"(keyPathsForValuesAffecting|automaticallyNotifiesObserversOf|validate)([A-Z]\w*)"
)
ENTRIES = {
    "computed": "keyPathsForValuesAffecting",
    "dependency": "keyPathsForValuesAffecting",
    "automaticallyNotifies": "automaticallyNotifiesObserversOf",
    "validator": "validate",
}


class Token(NamedTuple):
    text: str
    line: int


class Difference(Exception):
    """A difference between a moved file and its original."""


def tokens(text):
    """The tokens of a file. A string with interpolations is split at their parentheses."""
    found = []
    expressions = []  # for each open interpolation: the number of parentheses open in it
    line, place = 1, 0
    while place < len(text):
        character = text[place]
        ends_expression = character == ")" and expressions and expressions[-1] == 0
        if character == '"' or ends_expression:
            end = STRING_PART.match(text, place + 1).end()
            if ends_expression:
                expressions.pop()
            if text[end - 1] == "(":
                expressions.append(0)
        else:
            end = TOKEN.match(text, place).end()
            if expressions:
                expressions[-1] += {"(": 1, ")": -1}.get(character, 0)
        if not character.isspace():
            found.append(Token(text[place:end], line))
        line += text.count("\n", place, end)
        place = end
    return found


class Side:
    """A position in one of the two files, and what its classes have declared about their keys so far."""

    def __init__(self, found):
        self.tokens = found
        self.place = 0
        self.class_name = None
        self.said = {}  # maps (class, method's prefix, key) to what was declared

    @property
    def is_at_end(self):
        return self.place == len(self.tokens)

    @property
    def line(self):
        return self.tokens[min(self.place, len(self.tokens) - 1)].line

    def text(self, offset=0):
        place = self.place + offset
        return self.tokens[place].text if 0 <= place < len(self.tokens) else ""

    def is_at(self, *texts):
        return all(self.text(offset) == text for offset, text in enumerate(texts))

    def advance(self, count=1):
        if self.text() == "class" and self.text(1) not in ("func", "var"):
            self.class_name = self.text(1)
        self.place += count

    def expect(self, *texts):
        for text in texts:
            if not self.is_at(text):
                raise Difference(f"{self.text() or 'the end'} instead of {text}")
            self.advance()

    def block(self, opening, closing):
        """Takes everything from here to the end of the next pair of brackets."""
        depth = 0
        for end in range(self.place, len(self.tokens)):
            depth += {opening: 1, closing: -1}.get(self.tokens[end].text, 0)
            if depth == 0 and self.tokens[end].text == closing:
                taken = self.tokens[self.place : end + 1]
                self.place = end + 1
                return taken
        raise Difference(f"{opening} without {closing}")

    def say(self, prefix, key, what):
        if (self.class_name, prefix, key) in self.said:
            raise Difference(f"{self.class_name} says it twice of {key}")
        self.said[self.class_name, prefix, key] = what


# The edits. Each returns whether it applies here; if so, it has moved both positions past it.


def module(original, moved):
    """The import."""
    return both(original, moved, "import", ["Foundation"], ["KVORuntime"])


def base_class(original, moved):
    return both(original, moved, ":", ["NSObject"], ["KVOObject"])


def both(original, moved, before, there, here):
    if original.text(-1) != before or not (original.is_at(*there) and moved.is_at(*here)):
        return False
    original.advance(len(there))
    moved.advance(len(here))
    return True


def property_mark(original, moved):
    """`@objc dynamic` becomes `@Observed`; a computed property needs neither."""
    if not original.is_at("@objc", "dynamic"):
        return False
    probe = Side(original.tokens)
    probe.place = original.place
    while probe.text() != ":" and not probe.is_at("=") and not probe.is_at_end:
        probe.advance()
    while probe.text() not in ("{", "=") and probe.line == probe.tokens[probe.place - 1].line:
        probe.advance()
    if not probe.is_at("{"):
        if not moved.is_at("@Observed"):
            return False
        moved.advance()
    original.advance(2)
    return True


def key_path(original, moved):
    """`#keyPath(Person.name)` becomes `"name"`; a leading type is not part of the key path."""
    if not original.is_at("#keyPath"):
        return False
    begin = original.place
    names = [token.text for token in original.block("(", ")")[2:-1] if token.text != "."]
    if not moved.is_at(f'"{string(names)}"'):
        original.place = begin
        return False
    moved.advance()
    return True


def string(names):
    return ".".join(names[1:] if names[0][0].isupper() else names)


def attempt(original, moved):
    """`try`, or `try!` if the function does not throw, before a call with a key as string."""
    if not moved.is_at("try") or original.is_at("try"):
        return False
    count = 2 if moved.text(1) == "!" else 1
    probe = Side(moved.tokens)
    probe.place = moved.place + count
    while re.fullmatch(r"\w+|\.|[?!]", probe.text()):
        if probe.text() in STRING_CALLS and probe.text(1) == "(":
            moved.advance(count)
            return True
        probe.advance()
    return False


def indexes(original, moved):
    if not (original.is_at("IndexSet") and moved.is_at("RangeSet", "<", "Int", ">")):
        return False
    original.advance()
    moved.advance(4)
    return True


def nil_test(original, moved):
    """`is NSNull` becomes a comparison with nil."""
    if not original.is_at("is", "NSNull"):
        return False
    pattern = ["Optional", "<", "Any", ">", ".", "none"]
    test = pattern if original.text(-1) == "case" else ["=", "=", "nil"]
    if not moved.is_at(*test):
        return False
    original.advance(2)
    moved.advance(len(test))
    return True


def per_key_method(original, moved):
    """A method that Apple's runtime finds by name: an entry of `declareKeys` must declare the same."""
    if original.text() != "@objc":
        return False
    for beginning in ["@objc", "class", "func"], ["@objc", "func"]:
        method = PER_KEY.fullmatch(original.text(len(beginning)))
        if original.is_at(*beginning) and method:
            break
    else:
        return False
    key = method[2][0].lower() + method[2][1:]
    original.block("(", ")")
    body = Side(original.block("{", "}"))
    original.say(method[1], key, what_is_said(method[1], body))
    return True


def declarations(original, moved):
    """The entries that replace such methods."""
    if moved.text() != "override":
        return False
    beginning = ["override", "class", "func", "registerKeys", "(", ")", "{"]
    if not moved.is_at(*beginning):
        return False
    begin = moved.place
    moved.block("{", "}")
    body = Side(moved.tokens[begin : moved.place])
    body.expect(*beginning, "declareKeys", "{", "keys", "in")
    while not body.is_at("}", "}"):
        moved.say(*entry(body))
    body.expect("}", "}")
    if not body.is_at_end:
        raise Difference("registerKeys does more than to declare keys")
    return True


def entry(body):
    """Takes an entry. Returns the kind of method that it replaces, its key and what it declares."""
    body.expect("keys", ".")
    kind, literal = body.text(), body.text(2)
    key = literal.strip('"')
    body.expect(kind, "(", f'"{key}"')
    if kind == "automaticallyNotifies":
        said = [body.text(1)]
        body.expect(",", *said)
    elif kind == "validator":
        said = None
    elif kind == "computed":
        body.expect(",", "\\", ".", key, ",", "affectedBy", ":")
        said = list_of_strings(body)
    elif kind == "dependency":
        body.expect(",", "on", ":")
        said = list_of_strings(body)
    else:
        raise Difference(f"{kind} of {key} stands for no method of the original")
    body.expect(")")
    if kind == "validator":  # the validator's body is not compared
        body.block("{", "}")
    return ENTRIES[kind], key, said


def list_of_strings(body):
    """Takes a list of string literals."""
    body.expect("[")
    said = [body.text().strip('"')]
    body.expect(f'"{said[0]}"')
    while body.is_at(","):
        said.append(body.text(1).strip('"'))
        body.expect(",", f'"{said[-1]}"')
    body.expect("]")
    return sorted(said)


def what_is_said(prefix, body):
    """The value that a method returns: key paths, or a truth value. None for a validator, whose body is not compared."""
    if prefix == "validate":
        return None
    said = []
    while not body.is_at_end:
        if body.is_at("#keyPath"):
            names = [token.text for token in body.block("(", ")")[2:-1] if token.text != "."]
            said.append(string(names))
            continue
        if body.text() in ("true", "false") or body.text().startswith('"'):
            said.append(body.text().strip('"'))
        body.advance()
    return sorted(said)


BLOCKS = [per_key_method, declarations]
EDITS = [module, base_class, property_mark, key_path, attempt, indexes, nil_test]


def compare(original, moved):
    """Returns if the moved file may replace the original, and raises a Difference otherwise."""
    while not (original.is_at_end and moved.is_at_end):
        if any(block(original, moved) for block in BLOCKS):
            continue
        if original.text() == moved.text():
            original.advance()
            moved.advance()
        elif not any(edit(original, moved) for edit in EDITS):
            raise Difference(f"{moved.text() or 'the end'} instead of {original.text() or 'nothing'}")
    if original.said != moved.said:
        raise Difference(f"declared is {moved.said} instead of {original.said}")


def differs(original, moved):
    """The first difference and its place; None if there is none."""
    sides = Side(original), Side(moved)
    try:
        compare(*sides)
    except Difference as difference:
        return f"{sides[1].line}: {difference} (original, line {sides[0].line})"
    return None


def escapes(original, moved):
    """The tokens of a moved file that could be left out without being noticed."""
    for place, token in enumerate(moved):
        if token.text == "try" or moved[place - 1].text == "try" or in_validator(moved, place):
            continue
        if differs(original, moved[:place] + moved[place + 1 :]) is None:
            yield f"{token.line}: {token.text} could be left out"


def in_validator(found, place):
    same_line = [token.text for token in found[:place] if token.line == found[place].line]
    return "validator" in same_line and "{" in same_line


def main(originals, moved):
    names = sorted({path.name for folder in (originals, moved) for path in folder.glob("*.swift")})
    findings = count = 0
    for name in names:
        if not ((originals / name).exists() and (moved / name).exists()):
            sys.exit(f"{name} is not in both {originals} and {moved}")
        sides = [tokens((folder / name).read_text(encoding="utf-8")) for folder in (originals, moved)]
        difference = differs(*sides)
        found = [difference] if difference else escapes(*sides)
        for finding in found:
            findings += 1
            print(f"{moved / name}:{finding}")
        count += len(sides[1])
    print(f"{len(names)} pairs of files, {count} tokens")
    sys.exit(findings > 0 or not names)


if __name__ == "__main__":
    main(*map(pathlib.Path, sys.argv[1:]))
