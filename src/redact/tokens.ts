// Finds secrets by their shape: known provider keys, web tokens, and words with a vendor's prefix and a random body. Only long unbroken
// words are checked, which prose does not have.
import { base58Checked } from './base58.ts'
import { longRun, wrappedEnd } from './base64-runs.ts'
import { charKind, loose, random, UUID } from './looks.ts'
import { MARKED_SHAPES, SHAPES, type Shape } from './shapes.ts'
import type { Span } from './spans.ts'
import { INNOCENT_PREFIXES } from './words.ts'

/** The shortest word worth reading: the shortest known key has 20 characters. */
const SHORTEST = 18
const STRIDE = 16
/** Body length from which an unknown prefix counts: identifiers (ULID 26, Stripe 24, nanoid 21) are shorter, keys are not. */
const LONG_BODY = 28
const LONG_HEX = 32

const WORD = 1
const JOINT = 2
const CLASS = new Uint8Array(128)
for (const char of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-') CLASS[char.charCodeAt(0)] = WORD
for (const char of '.:+/=$%~') CLASS[char.charCodeAt(0)] = JOINT

interface Row {
  readonly start: string
  readonly shape: Shape
}

/** Shapes by their first two characters: a place that cannot begin one costs one lookup. */
const BY_START: (readonly Row[] | undefined)[] = new Array(128 * 128).fill(undefined)
for (const shape of SHAPES) {
  for (const start of shape.starts) {
    for (let second = 0; second < 128; second++) {
      if (start.length > 1 && second !== start.charCodeAt(1)) continue
      const place = start.charCodeAt(0) * 128 + second
      BY_START[place] = [...(BY_START[place] ?? []), { start, shape }].sort((a, b) => b.start.length - a.start.length)
    }
  }
}

/** Whether any unbroken word is long enough to be a key. A word of 16 covers every 16th place, so only those are read. */
export function hasLongWord(text: string): boolean {
  for (let at = STRIDE - 1; at < text.length; at += STRIDE) if (classOf(text, at) === WORD && wordAround(text, at) >= STRIDE) return true
  return false
}

function wordAround(text: string, at: number): number {
  let start = at
  while (start > 0 && at - start < STRIDE && classOf(text, start - 1) === WORD) start--
  let end = at + 1
  while (end < text.length && end - start < STRIDE && classOf(text, end) === WORD) end++
  return end - start
}

/**
 * `percent`: the text has percent signs, so an escape may stand anywhere. The caller asks for them, because V8 moves an `includes` into the
 * loop that uses its answer, and then reads the whole text again and again.
 */
export function tokenSpans(text: string, percent: boolean, spans: Span[]): void {
  const size = text.length
  for (let at = STRIDE - 1; at < size; ) {
    if (classOf(text, at) === 0) {
      at += STRIDE
      continue
    }
    let start = at
    while (start > 0 && classOf(text, start - 1) !== 0) start--
    let end = at + 1
    while (end < size && classOf(text, end) !== 0) end++
    const stop = wrappedEnd(text, start, end)
    if (end - start >= SHORTEST) readRegion(text, start, end, percent, stop > end, spans)
    at = stop + STRIDE
  }
}

function classOf(text: string, at: number): number {
  const code = text.charCodeAt(at)
  return code < 128 ? (CLASS[code] as number) : 0
}

/**
 * Without percent signs an escape can only stand before the region: its backslash is not part of one. `wrapped`: the region is the first line
 * of wrapped base64, which may begin like the key of an unknown vendor.
 */
function readRegion(text: string, from: number, end: number, percent: boolean, wrapped: boolean, spans: Span[]): void {
  const start = from + escaped(text, from)
  let at = start
  let deadWebToken = start
  let word = true
  const runs = longRun(text, end)
  while (at < end) {
    if (at > start && !word && !opens(text, at, percent || at <= from + 1)) {
      at++
      continue
    }
    word = false
    const code = text.charCodeAt(at)
    let stop = code === 118 ? refEnd(text, at) : -1
    if (code === 101 && at >= deadWebToken && text.startsWith('eyJ', at)) {
      stop = webToken(text, at, end)
      if (stop < 0) deadWebToken = -stop
      else spans.push({ start: at, end: stop, kind: 'jwt' })
    }
    if (stop < 0) stop = known(text, at, spans)
    if (stop < 0) stop = marked(text, at, end, spans)
    // A word does not start again after each dot: it would be read once per dot.
    if (stop < 0 && !wrapped && (at === start || (classOf(text, at - 1) === JOINT && text[at - 1] !== '.') || afterEscape(text, at))) {
      stop = vendor(text, at, end, spans)
    }
    if (stop > at) {
      at = stop
      word = true
    } else at = Math.max(at + 1, runs(at))
  }
}

/** Length of the rest of an escape sequence: masking the `n` of `\\n` would break the text around it. */
function escaped(text: string, at: number): number {
  if (at === 0 || text[at - 1] !== '\\') return 0
  return text[at] === 'u' ? 5 : 'nrtbf'.includes(text[at] as string) ? 1 : 0
}

/** A token may begin after anything but a letter or digit, and after an escape: `\nghp_…`, `%3Dghp_…`. */
function opens(text: string, at: number, escapes: boolean): boolean {
  return charKind(text.charCodeAt(at - 1)) === 0 || (escapes && afterEscape(text, at))
}

function afterEscape(text: string, at: number): boolean {
  if (at < 2) return false
  return (text.charCodeAt(at - 2) === 92 && 'nrtbf'.includes(text[at - 1] as string)) || (at > 2 && text.charCodeAt(at - 3) === 37)
}

/** The ref of a value is a random word and no secret. Events hold refs, and a masked one would lose its value. */
const REF = /value:[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048](?![A-Za-z0-9_-])/y

function refEnd(text: string, at: number): number {
  REF.lastIndex = at
  return REF.test(text) ? REF.lastIndex : -1
}

function known(text: string, at: number, spans: Span[]): number {
  const second = text.charCodeAt(at + 1)
  const rows = second < 128 ? BY_START[text.charCodeAt(at) * 128 + second] : undefined
  if (rows === undefined) return -1
  for (const { start, shape } of rows) {
    if (!text.startsWith(start, at)) continue
    let from = at + (shape.skip ?? 0)
    if (shape.before !== undefined) {
      const before = shape.before.exec(text.slice(Math.max(0, at - 40), at))
      if (before === null) continue
      from = at - before[0].length
    }
    shape.pattern.lastIndex = at
    const hit = shape.pattern.exec(text)
    if (hit === null || !looksRandom(hit[0].slice(start.length), shape)) continue
    if (shape.checked === true && !base58Checked(hit[0])) continue
    let end = at + hit[0].length
    // The pattern is bounded for speed; unbroken text after it belongs to the same word.
    while (hit[0].length >= (shape.random !== undefined ? 64 : 200) && end < text.length && classOf(text, end) === WORD) end++
    spans.push({ start: from, end, kind: shape.kind })
    return end
  }
  return -1
}

function looksRandom(body: string, shape: Shape): boolean {
  return shape.random === undefined || (shape.random === 'loose' ? loose(body) : random(body, 16))
}

/** Nearest mark first, so that a short word ends the search. */
const MARKED = MARKED_SHAPES.toSorted((a, b) => a.offset - b.offset)

function marked(text: string, at: number, limit: number, spans: Span[]): number {
  for (const { kind, offset, mark, pattern } of MARKED) {
    if (at + offset >= limit) return -1
    if (text.charCodeAt(at + offset) !== mark.charCodeAt(0) || !text.startsWith(mark, at + offset)) continue
    pattern.lastIndex = at
    if (!pattern.test(text)) continue
    spans.push({ start: at, end: pattern.lastIndex, kind })
    return pattern.lastIndex
  }
  return -1
}

/** Returns the end of a JWT or JWE that begins here, or minus the place before which none can begin. */
function webToken(text: string, at: number, end: number): number {
  const header = segment(text, at, end)
  if (header - at < 10 || text[header] !== '.') return -header
  let stop = segment(text, header + 1, end)
  if (stop - header < 9) return -header
  const nested = text.startsWith('eyJ', header + 1)
  let parts = 2
  while (parts < 5 && text[stop] === '.') {
    const next = segment(text, stop + 1, end)
    if (next === stop + 1 && parts > 2) break
    stop = next
    parts++
  }
  return parts > 2 || nested ? stop : -header
}

function segment(text: string, at: number, end: number): number {
  let stop = at
  while (stop < end && classOf(text, stop) === WORD) stop++
  return stop
}

const PREFIX = /(?:[a-z][a-z0-9]{1,14}|[A-Z][A-Z0-9]{1,14})[_.-]/y
const HEX = /^(?:[a-f0-9]+|[A-F0-9]+)$/
const FILE = /\.[a-z]{1,5}\d?$/

/** Matches keys of unknown vendors: a one-case prefix, a separator and a long random body. */
function vendor(text: string, at: number, limit: number, spans: Span[]): number {
  let end = at
  while (end < limit && (classOf(text, end) === WORD || text.charCodeAt(end) === 46)) end++
  while (end > at && text.charCodeAt(end - 1) === 46) end--
  if (end - at < LONG_BODY + 3) return -1
  PREFIX.lastIndex = at
  const prefix = PREFIX.exec(text)
  // The modulus of an RSA key has 342 characters. Whatever is so long is content, not a key.
  if (prefix === null || end - at > 320) return -1
  if (INNOCENT_PREFIXES.has(prefix[0].slice(0, -1).toLowerCase())) return -1
  const body = text.slice(at + prefix[0].length, end)
  if (FILE.test(body) || UUID.test(body)) return -1
  const longest = body.split(/[_.-]/).reduce((a, b) => (b.length > a.length ? b : a), '')
  // An unbroken part of that length is not a slug, so a lower bar is enough: base32 has few digits.
  const solid = longest.length >= LONG_HEX && random(longest, LONG_HEX, 0.15)
  const fits = HEX.test(longest) ? solid && prefix[0].length <= 9 : solid || (longest.length >= 12 && random(body, LONG_BODY))
  if (!fits) return -1
  spans.push({ start: at, end, kind: 'token' })
  return end
}
