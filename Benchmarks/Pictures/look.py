"""The look of the pictures: colours for light and dark pages, sizes, and settings common to all axes."""

from dataclasses import dataclass

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.ticker import FuncFormatter, NullLocator  # noqa: E402


@dataclass(frozen=True)
class Look:
    name: str
    # A picture has its page's background colour, so that it is legible wherever it is opened.
    ground: str
    text: str
    faint: str
    grid: str
    ours: str
    others: str
    # After Okabe and Ito, so that people with colour blindness can distinguish them. Ordered by role: a line
    # keeps its colour.
    lines: tuple


light = Look("light", "#ffffff", "#1f2328", "#59636e", "#d8dee4", "#c2410c", "#8c959f",
             ("#c2410c", "#0b6bcb", "#13795b", "#8a3fa0", "#7a5c00", "#59636e", "#0e7490"))
dark = Look("dark", "#0d1117", "#e6edf3", "#9198a1", "#30363d", "#ff8a4c", "#6e7781",
            ("#ff8a4c", "#58a6ff", "#3fb98f", "#c78ae0", "#d4b04c", "#9198a1", "#5cc7dd"))
looks = (light, dark)


def use(look):
    """Sets the look of everything drawn from now on. The same figures give the same bytes."""
    plt.rcParams.update({
        "svg.fonttype": "none", "svg.hashsalt": "kvo", "font.size": 14, "figure.dpi": 72,
        # Widths are computed with this font; a reader's browser may use another.
        "font.family": "sans-serif", "font.sans-serif": ["DejaVu Sans"],
        "figure.facecolor": look.ground, "axes.facecolor": "none", "savefig.facecolor": look.ground,
        "text.color": look.text, "axes.labelcolor": look.faint, "axes.titlecolor": look.text,
        "axes.titlesize": 15, "axes.titlelocation": "left", "axes.titlepad": 14, "axes.titleweight": "bold",
        "axes.edgecolor": look.grid, "axes.spines.top": False, "axes.spines.right": False, "axes.spines.left": False,
        "xtick.color": look.faint, "ytick.color": look.faint, "xtick.labelsize": 13, "ytick.labelsize": 13,
        "ytick.major.size": 0, "xtick.major.size": 0, "grid.color": look.grid, "grid.linewidth": 1,
        "lines.linewidth": 2.6, "lines.solid_capstyle": "round",
    })


def place(figure, left, right, top, bottom, **others):
    """Sets the position of the axes, in points from the edges."""
    width, height = figure.get_figwidth() * 72, figure.get_figheight() * 72
    figure.subplots_adjust(left=left / width, right=1 - right / width, top=1 - top / height, bottom=bottom / height, **others)


EDGE = 14  # points between a picture's edge and its text


def heading(figure, look, title, words):
    """Writes the picture's title, and below it how to read the picture."""
    for text, below, style in ((title, 14, {"fontsize": 16, "fontweight": "bold", "color": look.text}),
                               (words, 40, {"fontsize": 13, "color": look.faint, "linespacing": 1.35})):
        figure.text(EDGE / (figure.get_figwidth() * 72), 1 - below / (figure.get_figheight() * 72), text, va="top", **style)


def number(value, _=None):
    """Formats a number with thousands separators and as few digits as needed."""
    return f"{value:,.0f}" if value >= 10 or value == int(value) else f"{value:.1f}"


def marked(axis, ticks):
    """Gives an axis exactly these ticks."""
    axis.set_ticks(ticks)
    axis.set_major_formatter(FuncFormatter(number))
    axis.set_minor_locator(NullLocator())


def ticks(lowest, highest):
    """The ticks 1, 3, 10, 30 … near the drawn range; only powers of ten if that would be too many."""
    steps = (1, 3) if highest / lowest < 300 else (1,)
    every = [step * 10 ** power for power in range(-1, 7) for step in steps]
    return [tick for tick in every if lowest / 1.5 <= tick <= highest * 1.5]


def spread(places, distance):
    """Moves the sorted places apart to at least this distance, for names beside the ends of lines."""
    moved = list(places)
    for _ in range(200):
        pushed = False
        for i in range(len(moved) - 1):
            gap = moved[i + 1] - moved[i]
            if gap < distance - 1e-9:
                shift = (distance - gap) / 2
                moved[i] -= shift
                moved[i + 1] += shift
                pushed = True
        if not pushed:
            break
    return moved
