"""Reports layout faults of a page: in wide and narrow windows, on light and dark backgrounds.

A page is wrong if a hero's icon is cut off or under the title; if a title in the sidebar is cut off, or overlaps the next
one; if a word in code is broken at a hyphen; if a listing or table that is wider than its container has no scroll bar; if
a table's sentences have a column that is too narrow, or wider than the window; if the whole page scrolls sideways; if text
has too little contrast; or if the page names a wrong language.
"""

# (window width, colour scheme): the fewest that find different faults.
VIEWS = ((1280, "light"), (390, "light"), (1280, "dark"))
HEIGHT = 800
# The minimum contrast ratio of text. WCAG wants 3 for large letters; less is hard to read.
CONTRAST = 3
# The longest word in code that must not be broken, as in Theme/site.js.
LONGEST = 24
# The characters of a table's cell that count as a sentence, and the least width of its column, in pixels.
SENTENCE = 60
NARROW = 130

LOOK = r"""([contrast, longest, sentence, narrow]) => {
  const found = []
  const named = element => `${element.tagName.toLowerCase()}.${[...element.classList].join('.')}`
  const box = element => element.getBoundingClientRect()
  const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom
  const visible = element => element.checkVisibility({ visibilityProperty: true, opacityProperty: true })
  const lines = element => {
    const range = document.createRange()
    range.selectNodeContents(element)
    return [...range.getClientRects()]
  }

  // Heroes
  for (const hero of document.querySelectorAll('.documentation-hero')) {
    for (const icon of hero.querySelectorAll('.background-icon')) {
      const drawn = box(icon.querySelector('img, svg') ?? icon), around = box(hero)
      if (!visible(icon)) continue
      if (drawn.top < around.top || drawn.bottom > around.bottom || drawn.right > around.right) found.push('the icon is cut off')
      const words = [...hero.querySelectorAll('.title, .abstract, .eyebrow')].flatMap(lines)
      if (words.some(line => meet(line, drawn))) found.push('the icon lies beneath the title')
    }
  }

  // The list beside the page
  // Rows that the renderer keeps for later wait far above the window, all at one place.
  const isInSight = element => visible(element) && box(element).bottom > 0 && box(element).top < innerHeight
  const titles = [...document.querySelectorAll('.navigator-card-item .leaf-link')].filter(isInSight)
  for (const title of titles) {
    const place = box(title.closest('.title-container')), text = lines(title)
    if (title.scrollWidth > title.clientWidth + 1 && title.clientWidth) found.push(`a title in the list is cut off: ${title.innerText}`)
    if (text.some(line => line.right > place.right + 1)) found.push(`a title in the list is cut off: ${title.innerText}`)
  }
  const rows = titles.map(title => box(title.closest('.navigator-card-item'))).sort((a, b) => a.top - b.top)
  if (rows.some((row, i) => i && row.top < rows[i - 1].bottom - 1)) found.push('titles in the list lie over each other')

  // Code in sentences
  for (const code of document.querySelectorAll('main p code, main li code')) {
    for (const node of code.querySelectorAll('*').length ? code.querySelectorAll('span') : [code]) {
      for (const word of node.innerText.matchAll(/\S*-\S*/g)) {
        const text = node.firstChild
        if (text?.nodeType !== Node.TEXT_NODE || word[0].length > longest || !visible(node)) continue
        const range = document.createRange()
        range.setStart(text, word.index)
        range.setEnd(text, word.index + word[0].length)
        if (new Set([...range.getClientRects()].map(line => line.top)).size > 1) found.push(`code is broken at a hyphen: ${word[0]}`)
      }
    }
  }

  // What is wider than its place
  const root = document.documentElement
  if (root.scrollWidth > root.clientWidth) {
    const beyond = [...document.querySelectorAll('main *')].find(element => box(element).right > root.clientWidth + 1)
    found.push(`the page can be scrolled sideways: ${beyond ? named(beyond) : 'by what is not in its article'}`)
  }
  for (const element of document.querySelectorAll('main pre, main pre *, .code-listing, .code-listing *, .code-preview, .table-wrapper')) {
    const style = getComputedStyle(element)
    if (style.display === 'inline' || style.overflowX === 'visible' || !visible(element)) continue
    if (element.scrollWidth <= element.clientWidth + 1 || element.clientWidth < 20) continue
    const bar = element.offsetHeight - element.clientHeight - parseFloat(style.borderTopWidth) - parseFloat(style.borderBottomWidth)
    if (bar < 6) found.push(`what is wide is cut off, without a scroll bar: ${named(element)}`)
  }

  for (const cell of document.querySelectorAll('.table-wrapper :is(th, td)')) {
    const { width } = box(cell)
    if (cell.innerText.length < sentence || !visible(cell)) continue
    if (width < narrow || width > innerWidth) found.push(`a column of ${Math.round(width)} pixels for: ${cell.innerText.slice(0, 30)}`)
  }

  // Words and their ground
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true })
  const drawn = new Map()
  const colour = text => {
    if (!drawn.has(text)) {
      canvas.clearRect(0, 0, 1, 1)
      canvas.fillStyle = text
      canvas.fillRect(0, 0, 1, 1)
      const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data
      drawn.set(text, [r, g, b, a / 255])
    }
    return drawn.get(text)
  }
  const over = (above, below) => above.slice(0, 3).map((value, i) => value * above[3] + below[i] * (1 - above[3]))
  const ground = element => {
    const layers = []
    for (let at = element; at; at = at.parentElement) {
      layers.push(colour(getComputedStyle(at).backgroundColor))
      if (layers.at(-1)[3] === 1) break
    }
    return layers.reduceRight((below, above) => over(above, below), [255, 255, 255])
  }
  const luminance = rgb => {
    const [r, g, b] = rgb.map(value => value / 255).map(value => value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  const looked = new Set()
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement
    if (!texts.currentNode.data.trim() || looked.has(element)) continue
    looked.add(element)
    if (!visible(element) || element.closest('[disabled], [hidden], [aria-hidden=true], script, style, noscript, option')) continue
    const behind = ground(element)
    const [dark, light] = [luminance(over(colour(getComputedStyle(element).color), behind)), luminance(behind)].sort((a, b) => a - b)
    const ratio = (light + 0.05) / (dark + 0.05)
    if (ratio < contrast) found.push(`hardly to be read, ${ratio.toFixed(1)}: ${named(element)} "${texts.currentNode.data.trim().slice(0, 30)}"`)
  }
  return [...new Set(found)]
}"""

# Waits until a page has looked the same in this many frames in a row. For another window width, the renderer sets colours
# by script and lays out its list anew, which takes several frames.
SETTLE = r"""async count => {
  const state = () => {
    const rows = [...document.querySelectorAll('.navigator-card-item, main')].map(row => row.getBoundingClientRect())
    return JSON.stringify([rows, document.documentElement.scrollWidth]) + document.body.innerHTML
  }
  for (let same = 0, last = ''; same < count; ) {
    await new Promise(requestAnimationFrame)
    const now = state()
    same = now === last ? same + 1 : 0
    last = now
  }
}"""
SETTLED = 8
STILL = "* { transition: none !important; animation: none !important; }"
LANGUAGE = "() => document.querySelector('.current-language')?.innerText.trim() ?? null"


def language_of(path):
    return "C" if path.startswith("/documentation/ckvoruntime") else "Swift"


async def findings(tab, path):
    """What is wrong with the page that a tab shows."""
    language = await tab.evaluate(LANGUAGE)
    if language not in (None, language_of(path)):
        yield f"its language is called {language}"
    await tab.add_style_tag(content=STILL)
    for width, scheme in VIEWS:
        await tab.set_viewport_size({"width": width, "height": HEIGHT})
        await tab.emulate_media(color_scheme=scheme)
        await tab.evaluate(SETTLE, SETTLED)
        for finding in await tab.evaluate(LOOK, [CONTRAST, LONGEST, SENTENCE, NARROW]):
            yield f"{finding} ({width}, {scheme})"
    await tab.set_viewport_size({"width": VIEWS[0][0], "height": HEIGHT})
    await tab.emulate_media(color_scheme=VIEWS[0][1])
