"""A self-contained page with a run's pictures and table: pictures, colours and script are embedded."""

import base64
import html

titles = {
    "keys": ("Very many keys", "One object, one observer for each of its keys, set in shuffled order."),
    "peers": ("Beside others", "The same work, measured in turns within one run."),
    "growth": ("Growth", "A change costs more with each observer that it notifies. Ten thousand objects no longer fit into a cache. "
               "A key path costs more than a key, however long it is."),
    "registration": ("Registration", "An observer is registered, and removed again."),
    "memory": ("Memory", "All that is there afterwards and was not before, for each of 10,000 observations."),
}

style = """
:root { color-scheme: light dark; --text: #1f2328; --faint: #59636e; --line: #d8dee4; --page: #ffffff; --ours: #c2410c; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6edf3; --faint: #9198a1; --line: #30363d; --page: #0d1117; --ours: #ff8a4c; }
}
body { font: 16px/1.5 system-ui, sans-serif; color: var(--text); background: var(--page);
  max-width: 56rem; margin: 3rem auto; padding: 0 1.25rem; }
h1 { font-size: 1.9rem; margin-bottom: .25rem; } h2 { font-size: 1.25rem; margin: 2.75rem 0 .25rem; }
p { margin: .25rem 0 1rem; color: var(--faint); } img { width: 100%; height: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: .875rem; }
th { text-align: left; color: var(--faint); font-weight: 600; position: sticky; top: 0; background: var(--page); }
th, td { padding: .3rem .6rem .3rem 0; border-bottom: 1px solid var(--line); }
th:nth-child(n+3), td:nth-child(n+3) { text-align: right; } code { font-size: .9em; }
"""


def source(svg):
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()


def picture(name, versions):
    title, words = titles[name]
    return (f"<h2>{html.escape(title)}</h2>\n<p>{html.escape(words)}</p>\n<picture>"
            f'<source media="(prefers-color-scheme: dark)" srcset="{source(versions["dark"])}">'
            f'<img alt="{html.escape(title)}" src="{source(versions["light"])}"></picture>')


def row(case):
    cells = [f"<code>{html.escape(case['name'])}</code>", html.escape(case["unit"])]
    cells += [f"{case[column]:,.2f}" for column in ("median", "min", "max")] + [str(case["repetitions"])]
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def is_smoke(document):
    """Whether each case ran once, as with --smoke: only to see that it works."""
    return all(case["repetitions"] == 1 for case in document["cases"])


def page(document, versions):
    machine = document["machine"]
    warning = ["<p><strong>A smoke run: its figures mean nothing.</strong></p>"] if is_smoke(document) else []
    words = [machine.get("date"), machine["cpu"], f"{machine['cores']} cores", machine["kernel"], machine["swift"],
             machine["libffi"], f"{machine['configuration']} build"]
    head = "".join(f"<th>{column}</th>" for column in ("case", "unit", "median", "min", "max", "repetitions"))
    return "\n".join([
        "<!DOCTYPE html>", '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>KVORuntime: benchmarks</title><style>{style}</style></head><body>",
        "<h1>What a notification costs</h1>",
        f"<p>{html.escape('; '.join(word for word in words if word))}</p>",
        *warning,
        *(picture(name, texts) for name, texts in versions.items()),
        "<h2>All cases</h2>", f"<table><thead><tr>{head}</tr></thead><tbody>",
        *(row(case) for case in document["cases"]), "</tbody></table></body></html>", "",
    ])
