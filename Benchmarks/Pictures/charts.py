"""What is drawn: each picture from the figures of one run, or None where the run does not have them."""

import matplotlib.pyplot as plt

from look import marked, number, spread, ticks

counts = (1, 10, 100, 1000, 10_000)


class Run:
    """Medians by a case's name."""

    def __init__(self, document):
        self.machine = document["machine"]
        self.medians = {case["name"]: case["median"] for case in document["cases"]}

    def line(self, name, steps):
        """The medians of `name.STEP`, or None unless all are there."""
        values = [self.medians.get(f"{name}.{step}") for step in steps]
        return None if None in values else values


# MARK: Lines


def draw_lines(axes, look, lines, steps, label):
    """Lines over numbers that multiply, each named at its end. What it costs stands on such an axis, too, where it grows
    tenfold, else on one from 0."""
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
    for index, (_, values) in enumerate(lines):
        axes.plot(steps, values, color=look.lines[index], marker="o", markersize=5.5, clip_on=False)
    name_lines(axes, look, lines, steps[-1], label)
    axes.grid(axis="y")
    axes.set_axisbelow(True)


def name_lines(axes, look, lines, end, label):
    """Names beside the ends, no nearer to each other than that part of the height."""
    place = axes.transData + axes.transAxes.inverted()
    heights = [place.transform((end, values[-1]))[1] for _, values in lines]
    order = sorted(range(len(lines)), key=heights.__getitem__)
    for index, height in zip(order, spread([heights[index] for index in order], label)):
        name, values = lines[index]
        axes.annotate(f"{name}  {number(values[-1])}", (1, height), xycoords="axes fraction", xytext=(9, 0),
                      textcoords="offset points", va="center", color=look.lines[index], fontsize=13)


def keys(run, _, look):
    """What a change costs while many keys of its object are observed."""
    wanted = [
        ("a KeyValueKey, a token each", "swift.manykeys.handle"), ("a KeyValueKey, one token", "swift.manykeys.batchtoken"),
        ("a string, a token each", "swift.manykeys.token"), ("a context each", "swift.manykeys.context"),
        ("key paths compared", "swift.manykeys.strings"), ("C, through libffi", "c.manykeys.closure"),
        ("C", "c.manykeys.typed"),
    ]
    lines = [(name, run.line(case, counts)) for name, case in wanted]
    if any(values is None for _, values in lines):
        return None
    figure, axes = plt.subplots(figsize=(10.5, 5.6))
    figure.subplots_adjust(left=0.065, right=0.67, top=0.88, bottom=0.12)
    draw_lines(axes, look, lines, counts, 0.062)
    axes.set_title("One change while many keys of the object are observed, ns")
    axes.set_xlabel("observed keys, an observer each")
    return figure


def growth(run, _, look):
    """How the cost of a change grows with its key's observers, with observed objects, with a path's depth."""
    depths = (1, 2, 4, 8, 16)
    panels = [
        ("observers of one key", (1, 10, 100, 1000), [("Swift", "swift.observers"), ("C", "c.observers")]),
        ("observed objects", counts, [("C", "c.objects")]),
        ("keys on the path", depths, [("C", "c.path.depth")]),
    ]
    figure, all_axes = plt.subplots(1, 3, figsize=(10.5, 4.2))
    figure.subplots_adjust(left=0.075, right=0.93, top=0.84, bottom=0.16, wspace=0.85)
    for axes, (label, steps, cases) in zip(all_axes, panels):
        lines = [(name, run.line(case, steps)) for name, case in cases]
        if any(values is None for _, values in lines):
            return None
        draw_lines(axes, look, lines, steps, 0.1)
        axes.set_xlabel(label)
        # Half as wide as a picture: names of every other step have room.
        axes.set_xticks(steps[::2] if len(steps) > 4 else steps)
    figure.suptitle("One change, ns: it grows with whom it tells", x=0.02, ha="left", fontsize=15, fontweight="bold",
                    color=look.text)
    return figure


# MARK: Bars


def draw_bars(figure, look, title, bars):
    """Bars, the shortest first: name, value, whether it is ours. On an axis that multiplies where they differ much."""
    bars = sorted(bars, key=lambda bar: bar[1], reverse=True)
    axes = figure.subplots()
    figure.subplots_adjust(left=0.36, right=0.9, top=1 - 0.62 / figure.get_figheight(), bottom=0.02)
    least, most = bars[-1][1], bars[0][1]
    multiplies = most / least > 20
    left = least / 3 if multiplies else 0
    if multiplies:
        axes.set_xscale("log")
        title += ", logarithmic"
    axes.set_xlim(left, most * 1.1)
    axes.barh(range(len(bars)), [value - left for _, value, _ in bars], left=left, height=0.66,
              color=[look.ours if ours else look.others for _, _, ours in bars])
    axes.set_yticks(range(len(bars)), [name for name, _, _ in bars])
    for place, (label, (_, value, ours)) in enumerate(zip(axes.get_yticklabels(), bars)):
        words = {"fontweight": "bold" if ours else "normal", "color": look.ours if ours else look.text}
        label.set(**words)
        axes.annotate(number(value), (value, place), xytext=(6, 0), textcoords="offset points", va="center",
                      fontsize=13, **words)
    axes.set_xticks([])
    axes.minorticks_off()
    axes.spines["bottom"].set_visible(False)
    axes.set_title(title, x=-0.62, pad=10)
    axes.set_ylim(-0.6, len(bars) - 0.4)


def bars(title, look, ours, others):
    """- ours, others: (name, value or None)."""
    wanted = [(name, value, True) for name, value in ours if value is not None]
    wanted += [(name, value, False) for name, value in others if value is not None]
    if len(wanted) < 2:
        return None
    figure = plt.figure(figsize=(10.5, 0.75 + 0.4 * len(wanted)))
    draw_bars(figure, look, title, wanted)
    return figure


def peers(_, others, look):
    """What one change costs here and there. All of it from the peers' run, ours too."""
    if others is None:
        return None
    return bars("One change told to one observer, ns", look, others.ours("observed"),
                others.theirs("observed"))


def registration(run, others, look):
    """What it costs to register an observer and to remove it."""
    if others is not None:
        return bars("An observer registered and removed, ns", look, others.ours("register"),
                    others.theirs("register"))
    medians = run.medians
    ours = [("C", medians.get("c.register")), ("Swift, token", medians.get("swift.register.token")),
            ("Swift, context", medians.get("swift.register.context")),
            ("C, beside a thread that sets", medians.get("c.register.threads")),
            ("Swift, beside one", medians.get("swift.register.threads"))]
    return bars("An observer registered and removed, ns", look, ours, [])


def memory(run, others, look):
    """What an observation takes."""
    medians = run.medians
    ours = [("C, among many keys", medians.get("c.bytes")), ("C, its object's only one", medians.get("c.bytes.only")),
            ("Swift, a token and its closure", medians.get("swift.bytes.token")),
            ("Swift, a context", medians.get("swift.bytes.context")),
            ("Swift, one token for all", medians.get("swift.bytes.batchtoken"))]
    theirs = others.theirs("bytes") if others else []
    return bars("Bytes for each observation", look, ours, theirs)


pictures = {"keys": keys, "peers": peers, "growth": growth, "registration": registration, "memory": memory}
