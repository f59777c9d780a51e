// Masks a text that comes in pieces. Every piece is masked together with the text before it, and only what may be the beginning of a secret
// is held back, so a secret that arrives in parts is found as in one text. The class knows nothing of effects and events.
import type { OpenValue } from './bound.ts'
import type { JsonReader } from './json.ts'
import { mayBeNested, spansInside } from './literals.ts'
import type { Range, Tag } from './placeholder.ts'
import { apart, around, replace, type Span } from './spans.ts'
import { quoteTail, type Tail, tailOf, valueTail } from './tail.ts'
import { runStart, type Undecided } from './undecided.ts'
import type { KeyKind } from './words.ts'

export interface StreamRules {
  /** The secrets of a part of the text, in order and without overlaps. `undecided` is told where one may begin that the next text decides. */
  spans(part: string, undecided?: Undecided): readonly Span[]
  /** The values to which the part gives a secret name. */
  named(part: string): readonly Span[]
  /** The bound value at the end of the part whose rest has not come. */
  value(part: string): OpenValue | undefined
  json(): JsonReader
  readonly tag: Tag
}

export interface StreamBounds {
  /** The number of new characters that are worth another look. */
  readonly portion: number
  /** The end of the text that was shown is read again, because it may name the secret that follows. */
  readonly context: number
  /** A longer secret is masked in parts, and a longer word is shown in parts. */
  readonly most: number
}

/** A secret over the place where the text would be cut. */
interface Crossing extends Range {
  readonly kind: string
  /** Finds the end of the secret if it is longer than all the text at hand. */
  readonly tail: Tail
}

const QUOTES = ['"', "'", '`', '"""', "'''"]
/** Kinds of keys that mask a value of any length. */
const ANY_LENGTH: ReadonlySet<KeyKind> = new Set<KeyKind>(['all', 'text', 'auth', 'cookie', 'mixed', 'unpath'])
/** A word that is shown in parts may be cut inside a key, so its end is read before that. It is longer than any key. */
const MARGIN = 512
/** The first character of a script that is written without spaces, or a space: no word goes over it. */
const WORD_END = /[\s\u0e00-\uffff]/

export class MaskedStream {
  readonly #rules: StreamRules | undefined
  readonly #bounds: StreamBounds
  /** The context, and then the text that was not shown yet. */
  #raw = ''
  #shown = 0
  /** Whether the context begins inside a word. */
  #torn = false
  /** Set while the end of a long secret is looked for. */
  #tail: Tail | undefined
  #due: number
  #json: JsonReader | undefined
  /** The place where the JSON reader goes on. */
  #jsonAt = 0
  /** Secrets that the JSON reader found. */
  #rewrites: Span[] = []
  /** The first place of the window that the text behind it may make a secret. */
  #open = 0

  /** Without rules nothing is masked, and the text is only divided. */
  constructor(rules: StreamRules | undefined, bounds: StreamBounds) {
    this.#rules = rules
    this.#bounds = bounds
    this.#due = bounds.portion
    this.#json = rules?.json()
  }

  write(text: string): void {
    this.#raw += text
  }

  /** Whether enough text has come since the last `take`. */
  get ready(): boolean {
    return this.#pending >= this.#due
  }

  /** Returns the masked text that can be shown, and holds the rest back. */
  take(): string {
    let out = ''
    for (let more = this.#pending > 0; more; ) {
      const before = this.#pending
      out += this.#step(false)
      // A window that held all the text was read to its end.
      more = before >= this.#bounds.most && this.#pending !== before
    }
    this.#due = this.#pending + this.#bounds.portion
    return out
  }

  /** Returns the rest of the text, masked. */
  end(): string {
    let out = ''
    while (this.#pending > 0) out += this.#step(true)
    return out
  }

  get #pending(): number {
    return this.#raw.length - this.#shown
  }

  #step(ending: boolean): string {
    if (this.#tail !== undefined && !this.#passTail(this.#tail, ending)) return ''
    const { most } = this.#bounds
    const window = this.#raw.slice(0, this.#shown + most)
    const full = window.length === this.#shown + most
    const last = ending && window.length === this.#raw.length
    const secrets = this.#secrets(window, last)
    if (last) return this.#show(window, window.length, secrets)
    const cut = this.#decided(window, secrets)
    // A full window moves on by a good part of it, so that no text is read again for every word.
    if (cut > this.#shown && !(full && cut - this.#shown < MARGIN)) return this.#show(window, cut, secrets)
    return full ? this.#part(window, Math.max(this.#shown + 1, window.length - MARGIN), secrets) : ''
  }

  #secrets(window: string, last: boolean): Span[] {
    this.#open = window.length - (isHighSurrogate(window.charCodeAt(window.length - 1)) ? 1 : 0)
    if (this.#rules === undefined) return []
    const undecided = last ? undefined : (place: number) => this.#hold(place)
    if (undecided) this.#hold(runStart(window, this.#shown, window.length))
    this.#readJson(window, last)
    const found = [...this.#literal(window, undecided), ...this.#rules.spans(window, undecided)]
    // A word that begins before the context is unknown: its rest may look like another word.
    const spans = apart(window, found).filter(({ start, end }) => end > this.#shown && !(this.#torn && start === 0))
    if (this.#rewrites.length === 0) return spans
    return [...around(window, spans, this.#rewrites), ...this.#rewrites].sort((a, b) => a.start - b.start)
  }

  /** The text from here on is not shown before more of it comes. What was shown already stays so. */
  #hold(place: number): void {
    if (place >= this.#shown && place < this.#open) this.#open = place
  }

  #readJson(window: string, last: boolean): void {
    const json = this.#json
    if (json === undefined) return
    json.skipped = undefined
    const at = json.read(window, this.#jsonAt, last)
    const shown: Range[] = []
    for (const rewrite of json.rewrites) {
      if (rewrite.start >= this.#shown) this.#rewrites.push({ ...rewrite, kind: 'key' })
      else shown.push({ start: rewrite.start + 1, end: rewrite.end - 1 })
    }
    if (json.skipped !== undefined) shown.unshift({ start: 0, end: json.skipped - 1 })
    // The beginning of these literals was shown, so the rest of them is masked in place.
    for (const { start, end } of shown) this.#rewrites.push(...this.#inside(window, start, end).filter((span) => span.start >= this.#shown))
    json.rewrites = []
    // Text that is not JSON, or no longer, has no structure to follow.
    if (at < 0) this.#json = undefined
    else this.#jsonAt = at
  }

  /** Reads the literal that is cut off by its decoded text. Holds it back if it is secret by its key, or may be JSON itself. */
  #literal(window: string, undecided: Undecided | undefined): readonly Span[] {
    const json = this.#json
    if (json === undefined) return []
    const start = json.skipping ? -1 : this.#jsonAt
    if (!json.skipping) {
      const kind = json.pending
      if (kind !== undefined && kind !== 'none') undecided?.(start)
      if (window[start] !== '"') return []
      if (kind === 'none' && mayBeNested(window, start + 1)) {
        undecided?.(start)
        return []
      }
    }
    return this.#inside(window, start + 1, window.length, undecided)
  }

  #inside(window: string, start: number, end: number, undecided?: Undecided): Span[] {
    return this.#rules ? spansInside(window, start, end, this.#rules.spans, undecided) : []
  }

  /** Returns the end of the text that no text behind it can make a secret. */
  #decided(window: string, secrets: readonly Span[]): number {
    let cut = this.#open
    const over = () => secrets.find(({ start, end }) => start < cut && (end > cut || end === window.length))
    for (let span = over(); span !== undefined; span = over()) {
      if (span.start <= this.#shown) return this.#shown
      cut = span.start
    }
    return cut
  }

  /** Shows a part of a text that is too long to be held: one word, or one secret. */
  #part(window: string, limit: number, secrets: readonly Span[]): string {
    const whole = isHighSurrogate(window.charCodeAt(limit - 1)) ? limit - 1 : limit
    const cut = this.#before(window, whole, secrets)
    if (cut > this.#shown) return this.#show(window, cut, secrets)
    let over = this.#over(window, whole, secrets)
    while (over !== undefined && over.start > this.#shown) over = this.#over(window, over.start, secrets)
    if (over === undefined || over.end < window.length) return this.#show(window, over?.end ?? whole, secrets)
    this.#tail = over.tail
    const start = Math.max(over.start, this.#shown)
    return this.#show(window, window.length, [{ start: window[start] === '"' ? start + 1 : start, end: over.end, kind: over.kind }])
  }

  /** Returns the last place up to `wish` that does not lie in a secret of any length. */
  #before(window: string, wish: number, secrets: readonly Span[]): number {
    let cut = wish
    for (let over = this.#over(window, cut, secrets); over !== undefined; over = this.#over(window, cut, secrets)) {
      if (over.start <= this.#shown) return this.#shown
      cut = over.start
    }
    return cut
  }

  #over(window: string, cut: number, secrets: readonly Span[]): Crossing | undefined {
    const span = secrets.find(({ start, end }) => start < cut && end > cut)
    if (span !== undefined) return { start: span.start, end: span.end, kind: span.kind, tail: tailOf(span.kind) }
    return this.#openValue(window, cut) ?? this.#openLiteral(window, cut) ?? this.#openQuote(window, cut)
  }

  /** A bound value of which only the beginning has come. */
  #openValue(window: string, cut: number): Crossing | undefined {
    const open = this.#rules?.value(window)
    if (open === undefined || open.start >= cut) return undefined
    const end = window.length
    return { start: open.start, end, kind: 'value', tail: valueTail(open.form.slice(end - open.start)) }
  }

  /** The value of a secret key, a JSON literal that is cut off. */
  #openLiteral(window: string, cut: number): Crossing | undefined {
    const kind = this.#json?.pending
    const start = this.#jsonAt
    if (kind === undefined || start >= cut || (window[start] !== '"' && window[start] !== '{') || !ANY_LENGTH.has(kind)) return undefined
    return { start, end: window.length, kind: 'key', tail: quoteTail('"') }
  }

  /** A value in quotes whose closing quote has not come. It is found by closing it. */
  #openQuote(window: string, cut: number): Crossing | undefined {
    for (const quote of QUOTES) {
      if (window.lastIndexOf(quote, cut - 1) < 0 || window.indexOf(quote, cut) >= 0) continue
      const open = this.#rules?.named(window.slice(0, cut) + quote).find(({ start, end }) => start < cut && end >= cut)
      if (open !== undefined) return { start: open.start, end: window.length, kind: open.kind, tail: quoteTail(quote) }
    }
    return undefined
  }

  #show(window: string, cut: number, secrets: readonly Span[]): string {
    const from = this.#shown
    const parts: Span[] = []
    for (const span of secrets) {
      if (span.end <= from || span.start >= cut) continue
      const inside = span.start >= from && span.end <= cut
      const [start, end] = [Math.max(span.start, from) - from, Math.min(span.end, cut) - from]
      parts.push(inside ? { ...span, start, end } : { start, end, kind: span.kind })
    }
    this.#advance(cut, window.length)
    return this.#rules === undefined ? window.slice(from, cut) : replace(window.slice(from, cut), parts, this.#rules.tag)
  }

  /** Drops the rest of a secret that was masked in part. Returns whether its end was found. */
  #passTail(tail: Tail, ending: boolean): boolean {
    this.#readJson(this.#raw, ending)
    const { at, done } = tail(this.#raw, this.#shown, ending)
    this.#advance(at, this.#raw.length)
    if (done) this.#tail = undefined
    return done
  }

  /** Moves the context. `read`: the place up to which the JSON reader knows the text. */
  #advance(cut: number, read: number): void {
    const { context } = this.#bounds
    let from = Math.max(0, cut - context)
    if (from > 0) {
      const space = this.#raw.slice(from, from + (context >> 1)).search(WORD_END)
      this.#torn = space < 0
      if (space > 0) from += space
    }
    if (this.#json !== undefined && this.#jsonAt < from) {
      this.#json.skipLiteral()
      this.#jsonAt = read
    }
    this.#raw = this.#raw.slice(from)
    this.#shown = cut - from
    this.#jsonAt -= from
    const rewrites: Span[] = []
    for (const span of this.#rewrites) if (span.start >= cut) rewrites.push({ ...span, start: span.start - from, end: span.end - from })
    this.#rewrites = rewrites
  }
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code < 0xdc00
}
