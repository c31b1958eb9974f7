"""Opens a DocC site in a real browser, follows its links, and reports faults.

Usage: browse.py CHROMIUM FOLDER [PAGE...]

Serves the folder, begins at its root, and opens every linked page. Of pages of single functions, properties and cases it
opens only a sample, since each takes a third of a second and pages.py has checked them all. A page is wrong if it or one
of its resources is missing, if the browser draws no title, not the whole header, or reports an error, or if looks.py finds a
fault. A link is wrong if its page is missing, or has no anchor with the name after `#`. Pages without a link to them are
reported as well. With PAGE arguments only those pages are opened.
"""

import asyncio
import contextlib
import functools
import http.server
import pathlib
import sys
import threading
import zlib
from urllib.parse import unquote, urldefrag, urlparse

from playwright.async_api import async_playwright

import looks
import pages as site_pages

TABS = 2
ONE_IN = 25  # pages of single declarations
HANG = 600_000  # milliseconds; only reached by a page that is never drawn, however slow the machine
# Turns off lazy loading of images, which would wait for scrolling.
DRAWN = """() => {
  for (const image of document.images) image.loading = 'eager'
  return document.querySelector('h1') && [...document.images].every(image => image.complete)
}"""
HEADER = ["KVORuntime", "Getting started", "Tutorials", "Products", "C"]
# A page's information about itself, once it has been drawn.
READ = """() => ({
  title: document.querySelector('h1').innerText.trim(),
  header: [...document.querySelectorAll('#site-header a')].map(link => link.innerText),
  links: [...document.querySelectorAll('main a[href], header a[href], nav a[href]')].map(link => link.href),
  names: [...document.querySelectorAll('[id]')].map(element => element.id),
})"""


class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def list_directory(self, _):
        self.send_error(http.HTTPStatus.NOT_FOUND)


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, *_):
        """A browser that goes on to the next page closes the connection."""


@contextlib.contextmanager
def served(folder):
    with Server(("127.0.0.1", 0), functools.partial(Handler, directory=folder)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


class Browsing:
    def __init__(self, site, folder, follows):
        self.site = site
        self.folder = folder
        self.follows = follows
        self.waiting = asyncio.Queue()
        self.names = {}  # of each page that was opened, or is queued
        self.links = []  # (page, the linked page, the anchor after `#`)
        self.findings = set()

    def complain(self, page, text):
        self.findings.add(f"{self.path(page) or '/'}: {text}")

    def path(self, page):
        return unquote(page.removeprefix(self.site))

    def is_opened(self, page):
        path = self.path(page)
        return not site_pages.is_of_one_declaration(self.folder, path) or zlib.crc32(path.encode()) % ONE_IN == 0

    def add(self, page):
        if page not in self.names:
            self.names[page] = None
            if self.is_opened(page):
                self.waiting.put_nowait(page)
            else:
                self.trust(page)

    def trust(self, page):
        """Takes the links of a page from its data, instead of opening it."""
        if not pathlib.Path(self.folder, self.path(page).strip("/"), "index.html").exists():
            self.complain(page, "is not there")
        for link in site_pages.links(site_pages.read(self.folder, self.path(page))):
            self.add(self.site + link)

    def take(self, page, link):
        target, name = urldefrag(link)
        if target.startswith(self.site):
            target = target.rstrip("/").lower()
            if self.follows:
                self.add(target)
            self.links.append((page, target, unquote(name)))
        elif urlparse(link).scheme not in ("http", "https") or urlparse(link).hostname.endswith(".invalid"):
            self.complain(page, f"a link that leads nowhere: {link}")

    async def draw(self, tab, page, lacks):
        """Whether the page has been drawn: not if it lacks something, which may be what it waits for."""
        lacks.clear()
        await tab.goto(page + "/", timeout=HANG)
        drawn = asyncio.create_task(tab.wait_for_function(DRAWN, timeout=HANG))
        lacking = asyncio.create_task(lacks.wait())
        await asyncio.wait({drawn, lacking}, return_when=asyncio.FIRST_COMPLETED)
        is_drawn = not lacks.is_set()
        for task in (drawn, lacking):
            task.cancel()
        done = await asyncio.gather(drawn, lacking, return_exceptions=True)
        if is_drawn and isinstance(done[0], Exception):
            raise done[0]
        return is_drawn

    async def open(self, tab, page, lacks):
        if not await self.draw(tab, page, lacks):
            return
        seen = await tab.evaluate(READ)
        self.names[page] = set(seen["names"])
        if not seen["title"]:
            self.complain(page, "has no title")
        if seen["header"] != HEADER:
            self.complain(page, f"its header has {seen['header']}")
        for link in seen["links"]:
            self.take(page, link)
        async for finding in looks.findings(tab, self.path(page)):
            self.complain(page, finding)

    async def work(self, context):
        tab, lacks = await context.new_page(), asyncio.Event()

        # Includes a page's resources: data, pictures.
        def search_from(answer):
            if answer.status >= 400:
                self.complain(answer.url, f"is not there, for {self.path(tab.url)}")
                lacks.set()

        tab.on("response", search_from)
        tab.on("pageerror", lambda error: self.complain(tab.url, f"an error: {error}"))
        while True:
            page = await self.waiting.get()
            try:
                await self.open(tab, page, lacks)
            except Exception as error:
                self.complain(page, f"could not be opened: {error}")
            self.waiting.task_done()

    async def browse(self, chromium, first):
        async with async_playwright() as player:
            browser = await player.chromium.launch(
                executable_path=chromium, args=["--no-sandbox"], ignore_default_args=["--hide-scrollbars"])
            context = await browser.new_context()
            tabs = [asyncio.create_task(self.work(context)) for _ in range(TABS)]
            for page in first:
                self.add(page)
            await self.waiting.join()
            for tab in tabs:
                tab.cancel()
            await browser.close()
        for page, target, name in self.links:
            names = self.names.get(target)
            if name and names is not None and name not in names:
                self.complain(page, f"a link to what its page has not: {urlparse(target).path}#{name}")


def linked_to_nowhere(folder, opened):
    """Existing pages without a link to them."""
    for index in pathlib.Path(folder).rglob("index.html"):
        path = "/" + index.parent.relative_to(folder).as_posix()
        if path.startswith(("/documentation/", "/tutorials/")) and path.lower() not in opened:
            yield f"{path}: no link leads here"


def main(chromium, folder, *pages):
    with served(folder) as site:
        browsing = Browsing(site, folder, follows=not pages)
        asyncio.run(browsing.browse(chromium, [f"{site}/{page}".rstrip("/") for page in pages or [""]]))
    findings = sorted(browsing.findings)
    if not pages:
        findings += sorted(linked_to_nowhere(folder, {browsing.path(page) for page in browsing.names}))
    for finding in findings:
        print(f"wrong: {finding}")
    opened = sum(names is not None for names in browsing.names.values())
    print(f"{len(browsing.names)} pages, {opened} of them opened, {len(browsing.links)} links")
    return bool(findings)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
