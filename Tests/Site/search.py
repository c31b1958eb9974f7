"""Searches a DocC site in a real browser, as readers do, and reports what the search box does not find.

Usage: search.py CHROMIUM FOLDER

Each name belongs to another library than the page on which it is searched. It must be the first result, and the key Enter
must lead to its page.
"""

import asyncio
import sys

from playwright.async_api import TimeoutError as NotInTime
from playwright.async_api import async_playwright

import browse

SEARCHES = (
    ("documentation/ckvoruntime", "KVOObject", "documentation/kvoruntime/kvoobject"),
    ("documentation/kvoruntime", "changelog", "documentation/kvochangelogs/changelog"),
    ("documentation/kvochangelogs", "KVOProgress", "documentation/kvofoundation/kvoprogress"),
    ("documentation/kvofoundation", "KVOObservation", "documentation/kvoobservation"),
    ("documentation/kvoobservation", "ChangeRecorder expectNone", "documentation/kvotesting/changerecorder/expectnone"),
    ("tutorials/kvoruntime/undoinamodel", "kvo_add_callback", "documentation/ckvoruntime/kvo_add_callback"),
)
RESULTS = "#site-search li"
SOON = 30_000  # milliseconds


async def finding(tab, site, page, words, wanted):
    """What is wrong with a search, or None."""
    await tab.goto(f"{site}/{page}/")
    await tab.wait_for_function(browse.DRAWN)
    await tab.keyboard.press("/")
    await tab.keyboard.type(words)
    try:
        await tab.wait_for_selector(RESULTS, timeout=SOON)
        await tab.keyboard.press("Enter")
        await tab.wait_for_url(lambda url: url.rstrip("/") != f"{site}/{page}", timeout=SOON)
    except NotInTime:
        return f"/{page}: a search for {words} leads nowhere"
    found = browse.unquote(tab.url).removeprefix(f"{site}/")
    if not found.startswith(wanted):
        return f"/{page}: a search for {words} leads to /{found}"


async def findings(chromium, site):
    async with async_playwright() as player:
        browser = await player.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        tab = await browser.new_page()
        found = [await finding(tab, site, *search) for search in SEARCHES]
        await browser.close()
    return list(filter(None, found))


def main(chromium, folder):
    with browse.served(folder) as site:
        found = asyncio.run(findings(chromium, site))
    for text in found:
        print(f"wrong: {text}")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
