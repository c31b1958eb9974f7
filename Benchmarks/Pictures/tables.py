"""Writes the figures of the run that the pictures are drawn from into the pages' tables and sentences.

- A row with "(`case`) | 7.0" gets that case's median after the name. A row that names two cases gets their
  ratio in its last cell, if that cell is a number.
- A table whose heads name cases as (`case.*`) has rows that begin with the text that replaces the star.
- In a sentence, the number in "87 bytes (`case`)" or "7 ns (`case`)" is the median.
- The table of the peers' run replaces the text between the comments "peers" and "end of peers".
- Columns that contain only figures are aligned to the right.
"""

import re

NUMBER = r"[\d][\d.,]*"
CELL = re.compile(rf"\(`([\w.]+)`\) \| {NUMBER}")
WORDS = re.compile(rf"{NUMBER} (bytes|ns) \(`([\w.]+)`\)")
PEERS = re.compile(r"(<!-- peers -->)\n.*(<!-- end of peers -->)", re.S)
FIGURE = re.compile(rf"{NUMBER}(?: \({NUMBER}\))?")
TABLE = re.compile(r"^(\|.*\|)\n\|[-:|]*\|\n((?:\|.*\|(?:\n|$))+)", re.M)
BETWEEN = re.compile(r"(?<!\\)\|")  # cells
HEAD = re.compile(r"\(`([\w.]+)\.\*`\)")


def shown(value):
    """Formats three digits, with thousands separators."""
    if value >= 10_000:
        value = round(value, -2)
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def cells(row):
    return [cell.strip() for cell in BETWEEN.split(row.strip().removeprefix("|").removesuffix("|"))]


def row_of_names(line, medians):
    cases = [name for name in CELL.findall(line) if name in medians]
    if not cases:
        return line
    line = CELL.sub(lambda cell: f"(`{cell[1]}`) | {shown(medians[cell[1]])}" if cell[1] in medians else cell[0], line)
    if len(cases) == 2:
        line = re.sub(rf"\| {NUMBER} \|$", f"| {medians[cases[0]] / medians[cases[1]]:.2f} |", line)
    return line


def row_of_counts(line, bases, medians):
    first, *rest = cells(line)
    step = first.replace(",", "")
    names = [f"{base}.{step}" for base in bases]
    if len(rest) != len(bases) or any(name not in medians for name in names):
        return line
    return "| " + " | ".join([first, *(shown(medians[name]) for name in names)]) + " |"


def with_alignment(table):
    head, rows = table.groups()
    columns = zip(*map(cells, rows.splitlines()), strict=True)
    figures = [any(column) and all(FIGURE.fullmatch(cell) for cell in column if cell) for column in columns]
    return f"{head}\n|{'|'.join('---:' if is_figure else '---' for is_figure in figures)}|\n{rows}"


def rounded(value):
    return f"{value:.0f}"


def with_figures(text, medians, others):
    """The page with the figures of the run, and the peers' table between its two comments."""
    if others:
        text = PEERS.sub(lambda marks: f"{marks[1]}\n{others.table()}\n{marks[2]}", text)
    bases, lines = [], []
    for line in text.split("\n"):
        if not line.startswith("|"):
            bases = []
            line = WORDS.sub(
                lambda words: f"{rounded(medians[words[2]])} {words[1]} (`{words[2]}`)" if words[2] in medians else words[0],
                line)
        elif HEAD.search(line):
            bases = HEAD.findall(line)
        elif bases:
            line = row_of_counts(line, bases, medians)
        else:
            line = row_of_names(line, medians)
        lines.append(line)
    return TABLE.sub(with_alignment, "\n".join(lines))
