// What the renderer's scripts ask, where renderer.py has put the calls into them.

window.kvoSite = (() => {
  // In characters. Longer names may be broken at their capitals and underscores, longer words at their hyphens: narrow
  // windows, and narrow columns of tables, have no room for them.
  const LONGEST_NAME = 16, LONGEST = 24

  // The children of inline code. Short names, and words with hyphens, are elements of their own, which site.css keeps whole, so
  // that no line ends in the middle of an option or a command's name.
  function words(create, code) {
    const whole = word => create('span', { class: 'unbroken' }, [word])
    if (/^\S+$/.test(code) && code.length <= LONGEST_NAME) return [whole(code)]
    if (!code.includes('-')) return code
    return code.split(/(\S*-\S*)/).map(part => (part.includes('-') && part.length <= LONGEST ? whole(part) : part))
  }

  return { words }
})()
