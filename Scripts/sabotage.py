"""Copies the C runtime, applies a mutant, and prints the sources that must be compiled again.

Usage: sabotage.py MUTANT FOLDER

MUTANT is the name of a mutant in Tests/Mutants: see mutant.py. Prints C sources, one in each line.
"""

import pathlib
import shutil
import sys

import relink
from mutant import MUTANTS, Mutant

name, folder = sys.argv[1], pathlib.Path(sys.argv[2])
mutant = Mutant.read(MUTANTS / f"{name}.mutant")
shutil.copytree(relink.LIBRARY, folder)
place = folder / mutant.file.relative_to(relink.LIBRARY)
place.write_text(mutant.apply(place.read_text()))
print(*(sorted(folder.rglob("*.c")) if place.suffix == ".h" else [place]), sep="\n")
