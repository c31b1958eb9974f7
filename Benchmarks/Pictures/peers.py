"""The figures of Benchmarks/compare."""

import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).parent.parent / "Peers"))
from table import table  # noqa: E402


class Peers:
    def __init__(self, document):
        self.document = document

    def ours(self, column):
        return self.figures(column, True)

    def theirs(self, column):
        return self.figures(column, False)

    def figures(self, column, ours):
        """The names and medians of one column, for the peers that have a figure."""
        found = [(peer["name"], peer["figures"][column]) for peer in self.document["peers"] if peer["ours"] == ours]
        return [(name, figure["median"]) for name, figure in found if figure]

    def table(self):
        return table(self.document)
