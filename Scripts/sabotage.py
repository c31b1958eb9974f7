"""Copies the C runtime, sabotaged, and tells which of its sources are compiled otherwise.

Usage: sabotage.py MUTANT FOLDER

MUTANT is the name of one in Tests/Mutants: see mutants.py. Prints the sources of C, one in a line.
"""

import pathlib
import shutil
import sys

import mutants
import relink

name, folder = sys.argv[1], pathlib.Path(sys.argv[2])
mutant = mutants.Mutant.read(mutants.MUTANTS / f"{name}.mutant")
shutil.copytree(relink.LIBRARY, folder)
place = folder / mutant.file.relative_to(relink.LIBRARY)
place.write_text(mutant.apply(place.read_text()))
print(*(sorted(folder.rglob("*.c")) if place.suffix == ".h" else [place]), sep="\n")
