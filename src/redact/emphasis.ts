// Finds the marks by which Markdown and HTML emphasise a name or a value: `**Password:** …`, `<b>Password</b>: <code>…</code>`. Every search
// reads a few characters only, so that no row of marks is read again and again.

const NAMES = 'b|strong|em|i|u|mark|code|kbd|samp|tt|span|font|small|big|dt|dd|th|td|br'
const TAG = `</?(?:${NAMES})(?:\\s[^<>]{0,64}|/)?>`
/** A tag that ends here. */
const TAG_BEFORE = new RegExp(`${TAG}[ \\t]{0,4}$`, 'i')
const LONGEST_TAG = 80
/** The marks behind a name and its colon. A row of asterisks closes the name if the value does not touch it. */
const CLOSING = new RegExp(`(?:${TAG}|([*_])\\1{0,2}(?!\\1)(?=[ \\t"'\`<*_]))`, 'iy')
/** The marks before a value: only a quote, or a mark of another kind, may follow a row of asterisks. The value keeps any other. */
const OPENING = new RegExp(`(?:${TAG}|([*_])\\1{0,2}(?!\\1)(?=["'\`<*_]))[ \\t]{0,4}`, 'iy')
const MOST = 4
const BLANKS = 12

const ASTERISK = 42
const UNDERSCORE = 95
const GREATER = 62
const LESS = 60

/** Returns where the marks begin that end at `end`, or `end` if none do. */
export function marksBefore(text: string, end: number): number {
  let at = end
  for (let n = 0; n < MOST; n++) {
    const code = text.charCodeAt(at - 1)
    if (code === GREATER) {
      const tag = TAG_BEFORE.exec(text.slice(Math.max(0, at - LONGEST_TAG), at))
      if (tag === null) break
      at -= tag[0].length
      while (text.charCodeAt(at - 1) === 32 && end - at < LONGEST_TAG * MOST) at--
    } else if (code === ASTERISK) {
      const lowest = at - 3
      while (at > lowest && text.charCodeAt(at - 1) === ASTERISK) at--
    } else break
  }
  return at
}

/** Returns where a value begins whose name or separator ends at `from`: behind the marks and spaces. */
export function marksAfter(text: string, from: number): number {
  let at = from
  for (let n = 0; n < MOST && mayMark(text.charCodeAt(at)); n++) {
    CLOSING.lastIndex = at
    if (!CLOSING.test(text)) break
    at = CLOSING.lastIndex
  }
  const blanks = at
  while (at < blanks + BLANKS && isBlank(text.charCodeAt(at))) at++
  for (let n = 0; n < MOST && mayMark(text.charCodeAt(at)); n++) {
    OPENING.lastIndex = at
    if (!OPENING.test(text)) break
    at = OPENING.lastIndex
  }
  return at
}

const NAME_END = new RegExp(`(?:${TAG}|[*_\`]{1,3}(?=[ \\t\`*_]|</)){1,3}`, 'iy')

/** Returns where the marks end that close a name in a sentence: `**password** is …`. */
export function closingMarks(text: string, from: number): number {
  const code = text.charCodeAt(from)
  if (!mayMark(code) && code !== 96) return from
  NAME_END.lastIndex = from
  return NAME_END.test(text) ? NAME_END.lastIndex : from
}

/** The marks that may stand before a word of a sentence. */
export const MARKS_BEFORE_WORD = `(?:[*_]{1,3}(?=["'\`<])|${TAG}){0,3}`

/** Returns how many marks a word has at each of its ends: 2 for `**word**`. */
export function marksAround(text: string, start: number, end: number): number {
  const mark = text.charCodeAt(start)
  if (mark !== ASTERISK && mark !== UNDERSCORE) return 0
  let count = 1
  while (count < 3 && text.charCodeAt(start + count) === mark) count++
  if (end - start <= 2 * count || text.charCodeAt(start + count) === mark) return 0
  for (let n = 1; n <= count; n++) if (text.charCodeAt(end - n) !== mark) return 0
  return count
}

function mayMark(code: number): boolean {
  return code === ASTERISK || code === UNDERSCORE || code === LESS
}

function isBlank(code: number): boolean {
  return code === 32 || code === 9
}
