// Reads the name before a colon or an equals sign, and decides whether it is that of a secret.
import { marksBefore } from './emphasis.ts'
import type { KeyJudge } from './keys.ts'
import { charKind } from './looks.ts'
import { isQuery, type Key } from './no-code.ts'
import type { KeyKind } from './words.ts'

export const LONGEST_KEY = 64
const SPACE = 32

/** Whether the key has a letter: times, ports and places in files have none. */
export function named(text: string, key: Key): boolean {
  for (let at = key.end - 1; at >= key.start; at--) if (text.charCodeAt(at) > 57) return true
  return false
}

function keyChar(code: number): boolean {
  return charKind(code) !== 0 || code === 95 || code === 45 || code === 46 || code > 127
}

export function keyBefore(text: string, at: number): Key | undefined {
  let end = at
  const floor = Math.max(0, at - 12)
  if (end > 0 && text.charCodeAt(end - 1) === 58) end-- // the := of Go and Makefiles
  while (end > floor && text.charCodeAt(end - 1) === SPACE) end--
  const closed = end
  while (end > floor && '"\'`\\]'.includes(text[end - 1] as string)) end--
  let quoted = end < closed
  const last = text.charCodeAt(end - 1)
  if (last === 42 || last === 62) {
    const marks = marksBefore(text, end)
    // `a*=b` is an operation, unless the asterisk closes what one before the name has opened.
    if (marks === end || (last === 42 && end === at && text.charCodeAt(at) === 61 && !opened(text, marks))) return undefined
    end = marks
    if (text.charCodeAt(end - 1) === 96) {
      quoted = true
      end--
    }
  }
  let start = end
  const lowest = Math.max(0, end - LONGEST_KEY)
  while (start > lowest && keyChar(text.charCodeAt(start - 1))) start--
  // A literal `\n` before the key belongs to the text around it.
  if (start > 0 && end - start > 1 && text[start - 1] === '\\' && 'nrt'.includes(text[start] as string)) start++
  return start === end ? undefined : { start, end, quoted }
}

/** Whether an asterisk stands before the word that ends here. */
function opened(text: string, end: number): boolean {
  let start = end
  while (start > 0 && end - start < LONGEST_KEY && keyChar(text.charCodeAt(start - 1))) start--
  return text.charCodeAt(start - 1) === 42
}

/** The last words of two-word names decide nothing alone: `api key: …`, `connection string: …`, `next page token: …`. */
const NEEDS_MORE = /(?:^|[^a-z])(?:key|keys|code|string|phrase|token|tokens|id)$/i

export function judgeInText(text: string, key: Key, judge: KeyJudge): KeyKind {
  const whole = text.slice(key.start, key.end)
  // In `token.close = …` the name is `close`; a quoted key with dots in it is one name.
  const last = key.quoted ? whole : whole.slice(whole.lastIndexOf('.') + 1)
  // The underscores of `_API key_` are emphasis.
  const name = last.endsWith('_') ? last.replace(/^_{0,3}|_{1,3}$/g, '') : last
  // `API_TOKEN` is a name of its own, also in `the build used API_TOKEN=…`.
  if (!NEEDS_MORE.test(name) || name.includes('_')) return judge(name)
  let start = key.start
  for (let words = 0; words < 2 && start > 1 && text.charCodeAt(start - 1) === SPACE; words++) {
    let before = start - 1
    const lowest = Math.max(0, before - 24)
    while (before > lowest && keyChar(text.charCodeAt(before - 1))) before--
    if (before === start - 1) break
    start = before
    // One more word is enough for a token; a third could be any verb of the sentence.
    if (/tokens?$/i.test(name)) break
  }
  return judge(text.slice(start, key.end))
}

const QUERY_NAMES: ReadonlySet<string> = new Set(['key', 'code'])
const QUERY_VALUE = /[A-Za-z0-9_.~%/=+-]{20}/y

/** `?key=` and `&code=` in a URL carry a secret if the value is long and looks random. */
export function queryKind(text: string, key: Key, at: number): KeyKind {
  if (key.end !== at || key.end - key.start > 4 || !isQuery(text.charCodeAt(key.start - 1))) return 'none'
  if (!QUERY_NAMES.has(text.slice(key.start, key.end).toLowerCase())) return 'none'
  QUERY_VALUE.lastIndex = at + 1
  return QUERY_VALUE.test(text) ? 'weak' : 'none'
}
