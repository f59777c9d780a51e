// Decodes the inside of a JSON literal, also of one that is cut off, and knows where each of its characters stands.
import { mayBeJson } from './json.ts'
import type { Span } from './spans.ts'
import type { Undecided } from './undecided.ts'

const NESTED = /^\s*(?:[[{"]|$)/
const NESTED_CHARS = 64

/** Whether the literal that begins before `start`, and is cut off, may hold JSON itself. */
export function mayBeNested(text: string, start: number): boolean {
  const begins = NESTED.test(decodePart(text, start, Math.min(text.length, start + NESTED_CHARS)).text)
  return begins && mayBeJson(decodePart(text, start, text.length).text)
}

type Find = (decoded: string, undecided?: Undecided) => readonly Span[]

/** Finds the secrets of a literal, or of a part of it, by its decoded text. */
export function spansInside(text: string, start: number, end: number, find: Find, undecided?: Undecided): Span[] {
  const decoded = decodePart(text, start, end)
  const place = (at: number) => decoded.places[at] as number
  return find(decoded.text, undecided && ((at) => undecided(place(at)))).map((span) => ({
    start: place(span.start),
    end: place(span.end),
    kind: span.kind,
    secret: span.secret ?? decoded.text.slice(span.start, span.end),
  }))
}

/** The text of a literal, and the place of each of its characters and of its end. */
interface Decoded {
  readonly text: string
  readonly places: Uint32Array
}

const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|([^u]))/y
const SHORT_ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' }

/** Decodes the inside of a literal, or the part of it that is there. An escape that is cut off is left out. */
function decodePart(text: string, start: number, end: number): Decoded {
  const places = new Uint32Array(end - start + 1)
  let out = ''
  let copied = start
  let size = 0
  let at = start
  for (; at < end; size++) {
    places[size] = at
    if (text.charCodeAt(at) !== 92) {
      at++
      continue
    }
    ESCAPE.lastIndex = at
    const hit = ESCAPE.exec(text)
    if (hit === null || ESCAPE.lastIndex > end) break
    const [, code, char = ''] = hit
    out += text.slice(copied, at) + (code === undefined ? (SHORT_ESCAPES[char] ?? char) : String.fromCharCode(Number.parseInt(code, 16)))
    at = ESCAPE.lastIndex
    copied = at
  }
  places[size] = at
  return { text: out + text.slice(copied, at), places }
}
