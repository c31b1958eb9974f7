"""Draws each picture from the figures of one run. A picture is None if the run lacks its figures.

The words above each picture say what was measured, in which unit, which direction is better, and which axes
are logarithmic, so that the picture can be read on its own. Positions are in points from the picture's edges.
"""

import math

import matplotlib.pyplot as plt

from look import heading, marked, number, place, spread, ticks

counts = (1, 10, 100, 1000, 10_000)
WIDTH = 8.4  # inches: about the width of a page's text, so that the letters keep their size there


class Run:
    """The medians of a run, by name of the case."""

    def __init__(self, document):
        self.machine = document["machine"]
        self.medians = {case["name"]: case["median"] for case in document["cases"]}

    def line(self, name, steps):
        """The medians of `name.STEP` for all steps, or None if one is missing."""
        values = [self.medians.get(f"{name}.{step}") for step in steps]
        return None if None in values else values


# MARK: Lines


def draw_lines(axes, lines, steps):
    """Draws lines over a logarithmic axis of counts, each in its colour. The cost axis is logarithmic, too,
    if the costs differ more than tenfold; otherwise it begins at 0."""
    everything = [value for _, values in lines for value in values]
    low, high = min(everything), max(everything)
    axes.set_xscale("log")
    if high / low > 10:
        axes.set_yscale("log")
        axes.set_ylim(low / 1.35, high * 1.35)
        marked(axes.yaxis, ticks(low, high))
    else:
        axes.set_ylim(0, high * 1.15)
    marked(axes.xaxis, steps)
    for color, values in lines:
        axes.plot(steps, values, color=color, marker="o", markersize=5.5, clip_on=False)
    axes.grid(axis="y")
    axes.set_axisbelow(True)


def name_lines(axes, lines, end, distance):
    """Names the lines with two rows of text beside their ends, at least `distance` points apart, each joined
    to its end."""
    to_points = axes.transData + axes.transAxes.inverted()
    heights = [to_points.transform((end, values[-1]))[1] for _, _, values in lines]
    order = sorted(range(len(lines)), key=heights.__getitem__)
    apart = distance / (axes.get_position().height * axes.figure.get_figheight() * 72)
    for index, height in zip(order, spread([heights[index] for index in order], apart)):
        (first, second), color, values = lines[index]
        words = {"xycoords": "axes fraction", "textcoords": "offset points", "color": color, "fontsize": 13}
        axes.annotate(first, (1, height), xytext=(20, 1), va="bottom", fontweight="bold", **words)
        axes.annotate(f"{second}, {number(values[-1])} ns", (1, height), xytext=(20, -1), va="top", **words)
        axes.annotate("", (end, values[-1]), xytext=(1 + 17 / axes.bbox.width, height), textcoords="axes fraction",
                      arrowprops={"arrowstyle": "-", "color": color, "shrinkA": 0, "shrinkB": 5})


def keys(run, _, look):
    """The cost of a change while many keys of its object are observed."""
    wanted = [
        (("Swift, by name", "names compared"), "swift.manykeys.strings"),
        (("Swift, by name", "a context each"), "swift.manykeys.context"),
        (("Swift, by name", "a closure each"), "swift.manykeys.token"),
        (("C, setter of any kind", "by libffi"), "c.manykeys.closure"),
        (("Swift, key looked up once", "a closure each"), "swift.manykeys.handle"),
        (("Swift, key looked up once", "one closure for all"), "swift.manykeys.batchtoken"),
        (("C, setter of one value", "compiled"), "c.manykeys.typed"),
    ]
    colors = dict(zip((case for _, case in wanted), look.lines))
    lines = [(name, colors[case], run.line(case, counts)) for name, case in wanted]
    if any(values is None for _, _, values in lines):
        return None
    figure, axes = plt.subplots(figsize=(WIDTH, 6.7))
    place(figure, left=62, right=236, top=108, bottom=62)
    heading(figure, look, "Changing one of an object's many observed properties",
            "Nanoseconds for one change: lower is better. Both axes are logarithmic.\n"
            "Each key has a closure, or one observer tells the keys apart by name or context.")
    draw_lines(axes, [(color, values) for _, color, values in lines], counts)
    name_lines(axes, lines, counts[-1], 38)
    axes.set_xlabel("observed keys, each with an observer")
    return figure


def growth(run, _, look):
    """How the cost of a change grows with the observers of its key, with observed objects, and with the
    length of a path."""
    swift, c = look.lines[4], look.lines[6]
    panels = [
        ("observers of one key", (1, 10, 100, 1000), [("Swift", swift, "swift.observers"), ("C", c, "c.observers")]),
        ("observed objects", counts, [("C", c, "c.objects")]),
        ("keys in the key path", (1, 2, 4, 8, 16), [("C", c, "c.path.depth")]),
    ]
    figure, all_axes = plt.subplots(1, 3, figsize=(WIDTH, 4.6))
    place(figure, left=62, right=42, top=104, bottom=62, wspace=0.7)
    heading(figure, look, "What makes a change cost more, and what does not",
            "Nanoseconds for one change: lower is better. Horizontal axes are logarithmic, and so is\n"
            "the left chart's vertical axis.")
    for axes, (label, steps, cases) in zip(all_axes, panels):
        lines = [(name, color, run.line(case, steps)) for name, color, case in cases]
        if any(values is None for _, _, values in lines):
            return None
        draw_lines(axes, [(color, values) for _, color, values in lines], steps)
        for (name, color, values), offset in zip(lines, ((-5, 5), (5, -5))):
            words = {"textcoords": "offset points", "color": color, "fontsize": 13, "fontweight": "bold"}
            axes.annotate(name, (steps[2], values[2]), xytext=offset, ha="right" if offset[0] < 0 else "left",
                          va="bottom" if offset[1] > 0 else "top", **words)
            axes.annotate(number(values[-1]), (steps[-1], values[-1]), xytext=(8, 0), va="center", **words)
        axes.set_xlabel(label)
        # A panel is a third of the picture's width, which has room for every other number.
        axes.set_xticks(steps[::2] if len(steps) > 4 else steps)
    return figure


# MARK: Bars


def draw_bars(look, title, words, bars):
    """Draws bars, the shortest first, from (name, value, is_ours). If the short bars could not be
    distinguished, it draws points on a logarithmic axis instead, where the length of a bar would mean
    nothing."""
    bars = sorted(bars, key=lambda bar: bar[1], reverse=True)
    names, values, ours = zip(*bars)
    rows = range(len(bars))
    multiplies = values[0] / values[-1] > 50
    start = 10 ** math.floor(math.log10(values[-1]))
    figure, axes = plt.subplots(figsize=(WIDTH, (90 + 29 * len(bars) + 20 * multiplies) / 72))
    place(figure, left=256, right=70, top=72, bottom=14 + 20 * multiplies)
    heading(figure, look, title, words + (f" The axis is logarithmic, from {number(start)}." if multiplies else ""))
    colors = [look.ours if own else look.others for own in ours]
    if multiplies:
        axes.set_xscale("log")
        axes.set_xlim(start, values[0] * 1.1)
        axes.hlines(rows, start, values, color=colors, linewidth=2)
        axes.scatter(values, rows, s=90, color=colors, zorder=3, clip_on=False)
        marked(axes.xaxis, [tick for tick in ticks(start, values[0]) if start <= tick <= values[0]])
        axes.grid(axis="x")
        axes.set_axisbelow(True)
    else:
        axes.barh(rows, values, height=0.66, color=colors)
        axes.set_xlim(0, values[0])
        axes.set_xticks([])
    axes.set_yticks(rows, names)
    for row, label in enumerate(axes.get_yticklabels()):
        style = {"fontweight": "bold" if ours[row] else "normal", "color": look.ours if ours[row] else look.text}
        label.set(**style)
        axes.annotate(number(values[row]), (values[row], row), xytext=(10 if multiplies else 6, 0),
                      textcoords="offset points", va="center", fontsize=13, **style)
    axes.spines["bottom"].set_visible(False)
    axes.set_ylim(-0.6, len(bars) - 0.4)
    return figure


# Shorter names of peers for pictures; the table beside a picture has room for the full ones.
NAMES = {
    "KVORuntime, Swift, values(of:)": "KVORuntime, Swift, for await",
    "Swift Observation, tracked anew": "Swift Observation",
    "Swift didSet, an array of closures": "Swift, didSet calls closures",
    "Swift AsyncStream, yield and next": "Swift AsyncStream, for await",
}


def bars(title, words, look, ours, others):
    """- ours, others: lists of (name, value or None)."""
    wanted = [(NAMES.get(name, name), value, True) for name, value in ours if value is not None]
    wanted += [(NAMES.get(name, name), value, False) for name, value in others if value is not None]
    return draw_bars(look, title, words, wanted) if len(wanted) >= 2 else None


def peers(_, others, look):
    """The cost of one change here and in other libraries. All figures, ours included, are from the peers'
    run."""
    if others is None:
        return None
    return bars("Setting a property that has one observer, here and elsewhere",
                "Nanoseconds for one change: lower is better.", look, others.ours("observed"), others.theirs("observed"))


def registration(run, others, look):
    """The cost of registering an observer and removing it."""
    heads = "Adding an observer and removing it", "Nanoseconds for both: lower is better."
    if others is not None:
        return bars(*heads, look, others.ours("register"), others.theirs("register"))
    medians = run.medians
    ours = [("C", medians.get("c.register")), ("Swift, a closure", medians.get("swift.register.token")),
            ("Swift, a context", medians.get("swift.register.context")),
            ("C, beside a busy thread", medians.get("c.register.threads")),
            ("Swift, beside a busy thread", medians.get("swift.register.threads"))]
    return bars(*heads, look, ours, [])


def memory(run, others, look):
    """The memory that an observation uses."""
    medians = run.medians
    ours = [("C, among 10,000 of an object", medians.get("c.bytes")),
            ("C, the only one of its object", medians.get("c.bytes.only")),
            ("Swift, a closure with a token", medians.get("swift.bytes.token")),
            ("Swift, a context", medians.get("swift.bytes.context")),
            ("Swift, one closure for all keys", medians.get("swift.bytes.batchtoken"))]
    words = "Bytes, all allocations together: lower is better."
    if others is None:
        return bars("Memory of one observation", words, look, ours, [])
    words += " In bold and colour: KVORuntime."
    return bars("Memory of one observation", words, look, ours, others.theirs("bytes"))


pictures = {"keys": keys, "peers": peers, "growth": growth, "registration": registration, "memory": memory}
