// Finds secrets in percent-encoded text: `password%3Dhunter2`. Each unbroken word is decoded once, the rules read the decoded word, and the
// places they find are mapped back.
import type { Span } from './spans.ts'
import { isWide, type Undecided } from './undecided.ts'

const ESCAPE = /%(?:[2-7][0-9A-Fa-f]|0[9AaDd])/y
const STOPS = ' \t\r\n"\'`<>'

type Find = (decoded: string, spans: Span[], undecided?: Undecided) => void

export function percentSpans(text: string, find: Find, spans: Span[], undecided?: Undecided): void {
  for (let at = text.indexOf('%'); at >= 0; ) {
    if (!escapes(text, at)) {
      at = text.indexOf('%', at + 1)
      continue
    }
    let start = at
    while (start > 0 && !stops(text, start - 1)) start--
    let end = at
    while (end < text.length && !stops(text, end)) end++
    readWord(text, start, end, find, spans, end === text.length ? undecided : undefined)
    at = text.indexOf('%', end)
  }
}

/** An address goes on in encoded characters: whatever is written without spaces ends it. */
function stops(text: string, at: number): boolean {
  return STOPS.includes(text[at] as string) || isWide(text.charCodeAt(at))
}

/** Whether an ASCII character is escaped here. Other bytes are left as they are: no rule needs them. */
function escapes(text: string, at: number): boolean {
  const next = text.charCodeAt(at + 1)
  if (next < 48 || next > 55) return false
  ESCAPE.lastIndex = at
  return ESCAPE.test(text)
}

function readWord(text: string, start: number, end: number, find: Find, spans: Span[], undecided: Undecided | undefined): void {
  // The place of each decoded character, and of the end.
  const places = new Uint32Array(end - start + 1)
  let decoded = ''
  let copied = start
  let size = 0
  for (let at = start; at < end; size++) {
    places[size] = at
    if (text.charCodeAt(at) === 37 && escapes(text, at)) {
      decoded += text.slice(copied, at) + String.fromCharCode(Number.parseInt(text.slice(at + 1, at + 3), 16))
      at += 3
      copied = at
    } else at++
  }
  places[size] = end
  decoded += text.slice(copied, end)
  const found: Span[] = []
  find(decoded, found, undecided && ((place) => undecided(places[place] as number)))
  for (const span of found) {
    const secret = span.secret ?? decoded.slice(span.start, span.end)
    spans.push({ start: places[span.start] as number, end: places[span.end] as number, kind: span.kind, secret })
  }
}
