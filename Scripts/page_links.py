"""Checks that links inside the pages lead somewhere.

Usage: page_links.py PAGE...

Prints a line for each link to a file that is missing, or to a heading that its page does not have. Links to other sites
are not followed. Exits with 1 if there is one.
"""

import os
import re
import sys

LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"#+ (.*)")
NAMED = re.compile(r'(?:name|id)="([^"]+)"')


def lines_outside_code(text):
    is_code = False
    for line in text.splitlines():
        if line.startswith("```"):
            is_code = not is_code
        elif not is_code:
            yield line


def anchor_of(heading):
    """The anchor as GitHub makes it: without markup and punctuation, in lower case, with hyphens for spaces."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.strip().replace("`", ""))
    return re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")


def anchors(path):
    found, times = set(), {}
    with open(path, encoding="utf-8") as page:
        for line in lines_outside_code(page.read()):
            heading = HEADING.match(line)
            if heading:
                anchor = anchor_of(heading[1])
                count = times[anchor] = times.get(anchor, 0) + 1
                found.add(anchor if count == 1 else f"{anchor}-{count - 1}")
            found.update(NAMED.findall(line))
    return found


def objection(page, link):
    file, _, anchor = link.partition("#")
    target = os.path.normpath(os.path.join(os.path.dirname(page), file)) if file else page
    if not os.path.exists(target):
        return f"there is no {target}"
    if anchor and target.endswith(".md") and anchor not in anchors(target):
        return f"{target} has no heading #{anchor}"
    return None


def main(*pages):
    wrong = 0
    for page in pages:
        with open(page, encoding="utf-8") as file:
            links = LINK.findall("\n".join(lines_outside_code(file.read())))
        for link in links:
            said = None if "://" in link or link.startswith("mailto:") else objection(page, link)
            if said:
                wrong += 1
                print(f"{page}: ({link}): {said}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
