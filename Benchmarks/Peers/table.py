"""Formats the figures of a comparison as a Markdown table."""

from catalogue import COLUMNS


def shown(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def cell(figure, column):
    if figure is None:
        return ""
    if column == "bytes":
        return f"{figure['median']:.0f}"
    count = figure["instructions"]
    return shown(figure["median"]) + (f" ({count:,})" if count is not None else "")


def name(peer):
    words = f"{peer['name']} {peer['version']}" if peer["version"] else peer["name"]
    return f"**{words}**" if peer["ours"] else words


def row(peer):
    if peer["missing"]:
        return f"| {name(peer)} | " + "| " * len(COLUMNS) + "not installed |"
    cells = [cell(peer["figures"][column], column) for column in COLUMNS]
    return "| " + " | ".join([name(peer), *cells, peer["lacks"]]) + " |"


def table(document):
    heads = ["", *COLUMNS.values(), "what it does not have"]
    machine = document["machine"]
    facts = "; ".join(machine[key] for key in ("date", "cpu", "system", "swift") if machine[key])
    return "\n".join([
        "| " + " | ".join(heads) + " |", "|" + "---|" * len(heads), *map(row, document["peers"]), "",
        f"Nanoseconds of processor time for one operation, in brackets its instructions; bytes for an observation, of one key "
        f"of each of 10,000 objects. {facts}."])
