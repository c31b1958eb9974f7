// The search box of the header: finds names and pages of all libraries, from any page. DocC's own search finds those of the
// page's language only.
//
// The index, search.json, is a list of entries with title, name (the title behind its type's), library, abstract and path.
// site.py writes it. It is fetched when the box is first used.

(() => {
  const MOST = 40
  const form = document.getElementById('site-search')
  const box = form.querySelector('input')
  const list = form.querySelector('ul')
  let index

  const load = () => (index ??= fetch(`${baseUrl}search.json`).then(answer => answer.json()))

  // How well an entry's own title matches the last word: 0 is best. The name must have all words, in any case.
  function rank({ title, name }, words) {
    const own = title.toLowerCase(), last = words.at(-1)
    if (!words.every(word => name.toLowerCase().includes(word))) return Infinity
    if (own.replace(/\(.*/, '') === last) return 0
    if (own.startsWith(last)) return 1
    return own.includes(last) ? 2 : 3
  }

  function matches(entries, words) {
    return entries
      .map(entry => ({ entry, rank: rank(entry, words) }))
      .filter(match => match.rank < Infinity)
      .sort((a, b) => a.rank - b.rank || a.entry.name.length - b.entry.name.length)
      .slice(0, MOST)
      .map(match => match.entry)
  }

  function element(tag, text, properties) {
    return Object.assign(document.createElement(tag), { textContent: text }, properties)
  }

  function item({ name, library, abstract, path }) {
    const link = element('a', '', { href: baseUrl + path.slice(1) + '/' })
    link.append(element('b', name), element('i', library), element('span', abstract))
    const row = element('li', '')
    row.append(link)
    return row
  }

  async function search() {
    const entries = await load()
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean)
    const found = words.length ? matches(entries, words) : []
    list.replaceChildren(...(found.length ? found.map(item) : [element('li', 'Nothing has this name.')]))
    list.hidden = !words.length
  }

  // Moves the focus from the box through the results and back.
  function move(step) {
    const places = [box, ...list.querySelectorAll('a')]
    places[(places.indexOf(document.activeElement) + step + places.length) % places.length].focus()
  }

  box.addEventListener('focus', load)
  box.addEventListener('input', search)
  form.addEventListener('submit', event => {
    event.preventDefault()
    search().then(() => list.querySelector('a')?.click())
  })
  form.addEventListener('focusout', event => {
    if (!form.contains(event.relatedTarget)) list.hidden = true
  })
  form.addEventListener('keydown', event => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step) move(step)
    else if (event.key === 'Escape') list.hidden = true
    else return
    event.preventDefault()
  })
  document.addEventListener('keydown', event => {
    if (event.key !== '/' || event.target.matches('input, textarea')) return
    event.preventDefault()
    box.focus()
  })
})()
