"""Draws the pictures of a run. Called by Benchmarks/pictures, which documents the options."""

import argparse
import io
import json
import pathlib
import sys

import matplotlib.pyplot as plt

import look as looks
from charts import Run, pictures
from page import page
from peers import Peers
from tables import with_figures


def svg(draw, run, others, look):
    """A picture as text, or None."""
    looks.use(look)
    figure = draw(run, others, look)
    if figure is None:
        return None
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    plt.close(figure)
    # As text, not outlines, with fallback fonts for browsers that lack the first.
    return text.getvalue().replace("'DejaVu Sans'", "'DejaVu Sans', Verdana, sans-serif")


def drawn(run, others):
    """The pictures by name, each in both looks, as far as the run has figures for them."""
    result = {}
    for name, draw in pictures.items():
        versions = {look.name: svg(draw, run, others, look) for look in looks.looks}
        if None not in versions.values():
            result[name] = versions
    return result


def read(path):
    if path == "-":
        return json.load(sys.stdin)
    return json.loads(pathlib.Path(path).read_text())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--from", dest="figures", required=True)
    parser.add_argument("--peers")
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--html", type=pathlib.Path)
    parser.add_argument("--pages", type=pathlib.Path, nargs="*", default=[])
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    document = read(options.figures)
    others = Peers(read(options.peers)) if options.peers else None
    versions = drawn(Run(document), others)
    if not versions:
        sys.exit("pictures: the run has not the figures of any picture: a run without --filter has")
    files = {}
    if options.folder:
        for name, texts in versions.items():
            files |= {options.folder / f"{name}-{look}.svg": text for look, text in texts.items()}
    if options.html:
        files[options.html] = page(document, versions)
    for path in options.pages:
        files[path] = with_figures(path.read_text(), Run(document).medians, others)
    if options.check:
        check(files)
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def check(files):
    """Ends the program; it fails if a file differs from what would be written."""
    stale = [path for path, text in files.items() if not path.exists() or path.read_text() != text]
    for path in stale:
        print(f"wrong: {path}: is not what Documentation/Pictures/run.json and peers.json give: call Benchmarks/pictures --kept")
    print(f"{len(files)} pictures and pages")
    sys.exit(bool(stale))


main()
