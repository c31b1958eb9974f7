"""Makes the renderer of the site's pages: the toolchain's, with a header, a stylesheet, scripts and an icon of ours, for
which C is "C", words in code are not broken at their hyphens, and titles of the list do not lie over each other.

Usage: renderer.py TOOLCHAINS FOLDER    writes FOLDER, of the toolchain's renderer, which stays as it is

DocC knows two languages and counts C as Objective-C. What it calls that stands in one script of its renderer, and so do
what draws inline code, which asks site.js instead, and what measures the rows of the list. Whatever is to be changed must be
found, once, since another toolchain may have another renderer.
"""

import pathlib
import re
import shutil
import sys

THEME = pathlib.Path(__file__).resolve().parent / "Theme"
# What stands in the renderer's scripts, whose names are short ones that a tool has given, and what is put there.
EDITS = [
    # The language of C
    (r'name:"Objective-C",key:\{api:"occ"', r'name:"C",key:{api:"occ"'),
    # The height of a row of the list, when it is told a moment later: by then the row may show another title, which would be
    # placed by the height of the one before.
    (r"detail:\{contentRect:(\w+)\.contentRect\}", r"detail:{contentRect:\1.target.getBoundingClientRect()}"),
    # Inline code
    (r"codeVoice:return (\w+)\(([\w.]+),\{\},(\w+)\.code\)", r"codeVoice:return \1(\2,{},kvoSite.words(\1,\3.code))"),
]
HEAD = "</head>"
ADDITIONS = (
    '<link rel="icon" type="image/svg+xml" href="BASE/icon.svg"><link href="BASE/css/site.css" rel="stylesheet">'
    '<script src="BASE/js/site.js"></script><script defer src="BASE/js/search.js"></script>')
HEADER = (THEME / "header.html").read_text(encoding="utf-8")
APP = '<div id="app">'
# The page that DocC fills in when the site has a path of its own, and the page for a site without one.
PAGES = {"index-template.html": "{{BASE_PATH}}", "index.html": ""}


def replace_in(path, old, new):
    text = path.read_text(encoding="utf-8")
    if old not in text:
        raise SystemExit(f"{path.name} of the renderer has no '{old}'")
    path.write_text(text.replace(old, new), encoding="utf-8")


def edit_scripts(folder):
    texts = {path: path.read_text(encoding="utf-8") for path in (folder / "js").glob("*.js")}
    for old, new in EDITS:
        found = [(path, len(re.findall(old, text))) for path, text in texts.items() if re.search(old, text)]
        if [count for _, count in found] != [1]:
            raise SystemExit(f"the renderer's scripts have this {sum(count for _, count in found)} times, not once: {old}")
        path = found[0][0]
        texts[path] = re.sub(old, new, texts[path])
        path.write_text(texts[path], encoding="utf-8")


def main(toolchains, folder):
    folder = pathlib.Path(folder)
    shutil.copytree(toolchains, folder)
    edit_scripts(folder)
    shutil.copy(THEME / "site.css", folder / "css")
    for script in THEME.glob("*.js"):
        shutil.copy(script, folder / "js")
    shutil.copy(THEME / "icon.svg", folder)
    for page, base in PAGES.items():
        replace_in(folder / page, f'<link rel="icon" href="{base}/favicon.ico">', "")
        replace_in(folder / page, HEAD, ADDITIONS.replace("BASE", base) + HEAD)
        replace_in(folder / page, APP, HEADER.replace("BASE", base) + APP)


if __name__ == "__main__":
    main(*sys.argv[1:])
