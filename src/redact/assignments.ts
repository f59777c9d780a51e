// Finds secrets that a text gives a name to: `password=hunter2`, `"apiKey": "…"`, `Authorization: Bearer …`, `Cookie: a=b`. Quotes may have
// any number of backslashes before them, as JSON inside JSON has.
import { BLANKS, mayGoOn, type Word, wordEnd } from './bare-values.ts'
import { wordy } from './code.ts'
import { marksAfter, marksAround } from './emphasis.ts'
import { cookieSpan, digestEnd, lineEnd } from './headers.ts'
import type { KeyJudge } from './keys.ts'
import { absentValue, absentWord, charKind, generated, innocentValue, passwordLike, random, structure, UUID } from './looks.ts'
import { type Key, noCode } from './no-code.ts'
import { pgpassSpan } from './password-lines.ts'
import { withoutPlaceholders } from './placeholder.ts'
import type { Span } from './spans.ts'
import { hasWideMarks, WIDE_COLON, WIDE_EQUALS } from './survey.ts'
import { judgeInText, keyBefore, LONGEST_KEY, named, queryKind } from './text-keys.ts'
import { isWide, opensValue, type Undecided } from './undecided.ts'
import { AUTH_SCHEMES, type KeyKind } from './words.ts'

const SPACE = 32

export function assignmentSpans(written: string, judge: KeyJudge, spans: Span[], undecided?: Undecided): void {
  // Every place stays the same: a full-width mark is one character, too.
  const text = hasWideMarks(written) ? written.replaceAll(WIDE_COLON, ':').replaceAll(WIDE_EQUALS, '=') : written
  const word: Word = { start: 0, end: 0 }
  let colon = text.indexOf(':')
  let equals = text.indexOf('=')
  let at = -1
  for (;;) {
    if (colon >= 0 && colon <= at) colon = text.indexOf(':', at + 1)
    if (equals >= 0 && equals <= at) equals = text.indexOf('=', at + 1)
    if (colon < 0 && equals < 0) return
    at = colon < 0 || (equals >= 0 && equals < colon) ? equals : colon
    if (at === colon && portLike(text.charCodeAt(at + 1))) {
      const password = pgpassSpan(text, at, undecided)
      if (password !== undefined) spans.push(password)
    }
    const key = keyBefore(text, at)
    if (key === undefined || !named(text, key)) continue
    let kind = judgeInText(text, key, judge)
    if (kind === 'none') kind = queryKind(text, key, at)
    if (kind === 'none') continue
    const from = valueStart(text, at)
    if (from < 0) continue
    const span = readValue(text, at, from, key, kind, word, undecided)
    if (span === undefined) continue
    spans.push(span)
    at = span.end - 1
  }
}

/** A digit or an asterisk, as after the host of a `.pgpass` line. */
function portLike(code: number): boolean {
  return code === 42 || (code >= 48 && code <= 57)
}

function valueStart(text: string, at: number): number {
  let from = at + 1
  const next = text.charCodeAt(from)
  if (text.charCodeAt(at) === 58 && (next === 47 || next === 58 || next === 61)) return -1 // `://`, `::`, and `:=` is read at its `=`
  if (next === 61 || text.charCodeAt(at - 1) === 61 || text.charCodeAt(at - 1) === 33) return -1 // a comparison
  if (next === 62) from++ // =>
  from = marksAfter(text, from)
  if (opensValue(text[from])) from++
  return from < text.length ? from : -1
}

function readValue(
  text: string,
  at: number,
  from: number,
  key: Key,
  kind: KeyKind,
  word: Word,
  undecided: Undecided | undefined,
): Span | undefined {
  let open = from
  while (text.charCodeAt(open) === 92) open++
  const quote = text[open]
  if ((quote === '"' || quote === "'" || quote === '`') && open - from < 16) {
    const slashes = open - from
    const triple = quote.repeat(3)
    if (text.startsWith(triple, open)) {
      const end = text.indexOf(triple, open + 3)
      if (end >= 0) return inside(text, open + 3, end, key, kind)
      undecided?.(open + 3)
    }
    const end = closing(text, open + 1, quote, slashes)
    const closes = (end >= 0 || undecided !== undefined) && !key.quoted && slashes === 0 && closesString(text, key.start, quote)
    if (end >= 0 && closes) return undefined
    if (end >= 0) return inside(text, open + 1, end, key, kind)
    if (!closes) undecided?.(open + 1)
    from = open + 1
  } else if (key.quoted && (quote === '{' || quote === '[')) return undefined
  return bare(text, at, from, key, kind, word, undecided)
}

/** Finds the end of a quoted value. With n backslashes before the opening quote, 2(n+1) more of them are one of the content. */
function closing(text: string, from: number, quote: string, slashes: number): number {
  for (let at = text.indexOf(quote, from); at >= 0; at = text.indexOf(quote, at + 1)) {
    let count = 0
    while (at - count > from && text.charCodeAt(at - count - 1) === 92) count++
    if (count < slashes || count % (2 * (slashes + 1)) === slashes) return at - Math.min(count, slashes)
  }
  return -1
}

/** In `log('password:', x)` the quote after the colon closes a string and opens no value. */
function closesString(text: string, before: number, quote: string): boolean {
  let open = false
  for (let at = before - 1; at >= 0 && at > before - 120; at--) {
    const code = text.charCodeAt(at)
    if (code === 10) break
    // An apostrophe between letters is not a quote.
    if (text[at] === quote && !(charKind(text.charCodeAt(at - 1)) !== 0 && charKind(text.charCodeAt(at + 1)) !== 0)) open = !open
  }
  return open
}

function inside(text: string, start: number, end: number, key: Key, kind: KeyKind): Span | undefined {
  const value = text.slice(start, end)
  if (absentValue(value)) return undefined
  // Code is full of tokens that are words of a language. A real one has digits or is long.
  if (kind === 'text' && !key.quoted && value.length < 32 && (value.length < 4 || !/[A-Za-z]\d|\d[A-Za-z]/.test(value))) return undefined
  return spanOf(value, start, kind)
}

/** A longer value, its placeholders included, is not the secret of a key that is weak evidence. Names inside it are not read again and again. */
const LONGEST_WEAK = 4096

/** Returns the span to mask in a whole value whose key is secret. Also used for the values of real objects. */
export function spanOf(value: string, start: number, kind: KeyKind): Span | undefined {
  const end = start + value.length
  if (kind === 'auth') {
    const scheme = /^([A-Za-z][A-Za-z0-9-]{1,24})\s{1,4}(?=\S)/.exec(value)
    if (scheme?.[1] !== undefined && AUTH_SCHEMES.has(scheme[1].toLowerCase())) {
      const name = scheme[1].toLowerCase()
      // `Bearer ${token}` in code is a template.
      if (absentValue(value.slice(scheme[0].length))) return undefined
      return { start: start + scheme[0].length, end, kind: name === 'bearer' || name === 'basic' ? name : 'key' }
    }
  }
  if (value.length > LONGEST_WEAK && (kind === 'digits' || kind === 'likely' || kind === 'weak')) return undefined
  // The beginning of a value tells whether it is a path.
  const read = kind === 'unpath' ? value.slice(0, LONGEST_WEAK) : value
  const own = read.includes('[redacted:') ? withoutPlaceholders(read).trim() : read
  if (kind === 'unpath' && /^(?:[/~]|[A-Za-z]:[\\/])/.test(own)) return undefined
  if (kind === 'digits' && !/^\d{3,10}$/.test(own)) return undefined
  if (kind === 'likely' && (/\s/.test(own) || !passwordLike(own))) return undefined
  if (kind === 'weak' && (own.length > 512 || /\s/.test(own) || UUID.test(own) || !(random(own, 12) || random(own, 32, 0.15))))
    return undefined
  return { start, end, kind: kind === 'cookie' ? 'cookie' : 'key' }
}

function bare(
  text: string,
  at: number,
  from: number,
  key: Key,
  kind: KeyKind,
  word: Word,
  undecided: Undecided | undefined,
): Span | undefined {
  if (kind === 'cookie') return cookieSpan(text, from, undecided)
  let end = wordEnd(text, from, word)
  let start = from
  if (undecided !== undefined && mayGoOn(text, word.end)) undecided(from)
  if (kind === 'auth') {
    const scheme = text.slice(from, end).toLowerCase()
    if (!AUTH_SCHEMES.has(scheme) || text.charCodeAt(end) !== SPACE) {
      if (!passwordLike(text.slice(from, end))) return undefined
    } else {
      start = end + 1
      if (scheme === 'digest') end = digestEnd(text, start, undecided)
      else if (scheme.startsWith('aws4')) end = lineEnd(text, start, undecided)
      else {
        end = wordEnd(text, start, word)
        if (undecided !== undefined && mayGoOn(text, word.end)) undecided(start)
      }
      const value = text.slice(start, end)
      if (innocentValue(value)) return undefined
      return { start, end, kind: scheme === 'bearer' || scheme === 'basic' ? scheme : 'key' }
    }
  }
  const tight = from === at + 1 && key.end === at
  const marks = tight ? 0 : marksAround(text, start, end)
  start += marks
  end -= marks
  const value = text.slice(start, end)
  const equals = text.charCodeAt(at) === 61
  // `PASSWORD=a1b2c3d4` passes every check below.
  if (kind === 'all' && tight && equals && generated(value)) return { start, end, kind: 'key' }
  const literal = noCode(text, key, at, end)
  if ((literal ? absentWord(value) : innocentValue(value)) || (kind === 'text' && /^[\d.,%_]+$/.test(value))) return undefined
  // `this.token = token` passes a secret on without containing it.
  if (!tight && value.length <= LONGEST_KEY && text.slice(key.start, key.end).toLowerCase().endsWith(value.toLowerCase())) return undefined
  if (kind === 'likely' && !(tight && equals) && !(alone(text, key, word.end) && !wordy(value))) return undefined
  // A plain word counts only by its form: `password=swordfish`, or a line of its own.
  const form = tight ? equals && value.length >= 3 : alone(text, key, end) && lineValue(value) && !(equals && kind !== 'all')
  const ok =
    (literal || !structure(value, environment(text, key, end, equals))) && (form || (passwordLike(value) && !/^[A-Z]+-\d+$/.test(value)))
  return ok ? spanOf(value, start, kind) : undefined
}

/** A line of its own like `DB_PASSWORD=…`, as in an environment. `PASSWORD=settings.PASSWORD` repeats its key and is code. */
function environment(text: string, key: Key, end: number, equals: boolean): boolean {
  const name = text.slice(key.start, key.end)
  return equals && /^[A-Z][A-Z0-9_]+$/.test(name) && alone(text, key, end) && !text.slice(key.end, end).endsWith(`.${name}`)
}

/** On a line of its own (YAML, INI, .env) even a plain word is the password, unless it is written like a heading or a type. */
function lineValue(value: string): boolean {
  return value.length >= 4 && !isWide(value.charCodeAt(0)) && /^[^A-Z\s].*[^,;]$/.test(value)
}

/** Whether key and value are all there is on their line. */
function alone(text: string, key: Key, end: number): boolean {
  let after = end
  while (text.charCodeAt(after) === SPACE && after < end + BLANKS) after++
  if (after < text.length && text[after] !== '\n' && text[after] !== '\r' && text[after] !== '#' && text[after] !== '\\') return false
  let before = key.start
  const lowest = Math.max(0, before - 24)
  while (before > lowest && text.charCodeAt(before - 1) === 42) before--
  while (before > lowest && ' \t-"\''.includes(text[before - 1] as string)) before--
  if (text.endsWith('export', before) || text.slice(Math.max(0, before - 6), before) === 'export') before -= 6
  return before <= 0 || text[before - 1] === '\n' || (text[before - 1] === 'n' && text[before - 2] === '\\')
}
