"""Shared by the checks of public declarations: reading symbol graphs, and reporting findings.

A check is tried on a sample before it is believed. A line of a sample lists the expected findings there, as `// finds NAME
NAME`; on other lines nothing may be found.
"""

import json
import re
from collections import namedtuple
from urllib.parse import unquote, urlparse

# `subject` is the name in a sample's line.
Finding = namedtuple("Finding", "path line subject text")


def read(paths):
    """Reads symbol graphs, as Swift and clang write them."""
    graphs = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            graphs.append(json.load(file))
    return graphs


def is_public(symbol):
    return symbol["accessLevel"] in ("public", "open")


def name(symbol):
    return ".".join(symbol["pathComponents"])


def place(symbol):
    """File and line, counted from 0; None for symbols that the compiler derives."""
    if "location" not in symbol:
        return None, None
    location = symbol["location"]
    return unquote(urlparse(location["uri"]).path), location["position"]["line"]


def announced(path):
    with open(path, encoding="utf-8") as file:
        for number, text in enumerate(file, 1):
            mark = re.search(r"// finds (.*)", text)
            for subject in mark.group(1).split() if mark else []:
                yield path, number, subject


def tell(findings):
    for path, line, _, text in sorted(set(findings)):
        print(f"wrong: {path}:{line}: {text}")
    return bool(findings)


def differs_from_sample(findings, samples):
    """Prints the differences between a check's findings and its samples. It also fails if the samples expect nothing."""
    expected = {mark for sample in samples for mark in announced(sample)}
    found = {(finding.path, finding.line, finding.subject) for finding in findings}
    for path, line, subject in sorted(expected - found):
        print(f"wrong: this check is blind: {path}:{line}: it does not find {subject}")
    for path, line, subject in sorted(found - expected):
        print(f"wrong: this check sees ghosts: {path}:{line}: it finds {subject}")
    return found != expected or not expected
