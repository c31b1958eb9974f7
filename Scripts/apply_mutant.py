"""Copies the C runtime, applies a mutant, and prints the sources that must be compiled again.

Usage: apply_mutant.py MUTANT FOLDER

MUTANT is the name of a mutant in Tests/Mutants: see mutant.py. Prints C sources, one in each line.
"""

import pathlib
import shutil
import sys

import link_variants
from mutant import MUTANTS, Mutant

name, folder = sys.argv[1], pathlib.Path(sys.argv[2])
mutant = Mutant.read(MUTANTS / f"{name}.mutant")
shutil.copytree(link_variants.LIBRARY, folder)
place = folder / mutant.file.relative_to(link_variants.LIBRARY)
place.write_text(mutant.apply(place.read_text()))
print(*(sorted(folder.rglob("*.c")) if place.suffix == ".h" else [place]), sep="\n")
