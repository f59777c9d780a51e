// Masks a text that comes in pieces. Every piece is masked together with the text before and after it, so a secret that arrives in parts is
// found as in one text. The class knows nothing of effects and events.
import type { OpenValue } from './bound.ts'
import type { JsonReader } from './json.ts'
import { openBlock } from './pem.ts'
import type { Range, Tag } from './placeholder.ts'
import { sealedAround } from './sealed.ts'
import { around, replace, type Span } from './spans.ts'
import { quoteTail, type Tail, tailOf, valueTail } from './tail.ts'
import type { KeyKind } from './words.ts'

export interface StreamRules {
  /** The secrets of a part of the text, in order and without overlaps. */
  spans(part: string): readonly Span[]
  /** The values to which the part gives a secret name. */
  named(part: string): readonly Span[]
  /** The bound value that begins before `before` and whose rest has not come. */
  value(part: string, before: number): OpenValue | undefined
  json(): JsonReader
  readonly tag: Tag
}

export interface StreamBounds {
  /** The number of new characters that are worth another look. */
  readonly portion: number
  /** The end of the text is held back, because the text after it decides whether it is secret. */
  readonly held: number
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
const NESTED_JSON = /"\s{0,16}(?:[[{]|\\")/y

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
  #rewrites: Span[] = []

  /** Without rules nothing is masked, and the text is only divided. */
  constructor(rules: StreamRules | undefined, bounds: StreamBounds) {
    this.#rules = rules
    this.#bounds = bounds
    this.#due = bounds.portion + bounds.held
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
    for (let before = -1; before !== this.#pending; ) {
      before = this.#pending
      out += this.#step(false)
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
    const { held, most } = this.#bounds
    const window = this.#raw.slice(0, this.#shown + most + held)
    const full = window.length === this.#shown + most + held
    const last = ending && window.length === this.#raw.length
    const limit = last ? window.length : window.length - held
    const word = last ? limit : wordStart(window, this.#shown, limit)
    if (word <= this.#shown && !full) return ''
    const secrets = this.#secrets(window, last)
    if (last) return this.#show(window, limit, secrets)
    const cut = this.#before(window, word, secrets)
    if (cut > this.#shown) return this.#show(window, cut, secrets)
    return full ? this.#part(window, limit, secrets) : ''
  }

  #secrets(window: string, last: boolean): Span[] {
    if (this.#rules === undefined) return []
    this.#readJson(window, last)
    // A word that begins before the context is unknown: its rest may look like another word.
    const spans = this.#rules.spans(window).filter(({ start, end }) => end > this.#shown && !(this.#torn && start === 0))
    if (this.#rewrites.length === 0) return spans
    return [...around(window, spans, this.#rewrites), ...this.#rewrites].sort((a, b) => a.start - b.start)
  }

  #readJson(window: string, last: boolean): void {
    const json = this.#json
    if (json === undefined) return
    const at = json.read(window, this.#jsonAt, last)
    for (const rewrite of json.rewrites) if (rewrite.start >= this.#shown) this.#rewrites.push({ ...rewrite, kind: 'key' })
    json.rewrites = []
    // Text that is not JSON, or no longer, has no structure to follow.
    if (at < 0) this.#json = undefined
    else this.#jsonAt = at
  }

  /** Returns the last place up to `wish` that does not lie in a secret. */
  #before(window: string, wish: number, secrets: readonly Span[], least = false): number {
    let cut = wish
    for (let over = this.#over(window, cut, secrets, least); over !== undefined; over = this.#over(window, cut, secrets, least)) {
      if (over.start <= this.#shown) return this.#shown
      cut = over.start
    }
    return cut
  }

  /** Returns the secret at the cut. `least`: only if its length does not matter. */
  #over(window: string, cut: number, secrets: readonly Span[], least: boolean): Crossing | undefined {
    const span = secrets.find(({ start, end }) => start < cut && end > cut)
    if (span !== undefined) return { start: span.start, end: span.end, kind: span.kind, tail: tailOf(span.kind) }
    const held = this.#openValue(window, cut) ?? (least ? undefined : this.#openBlock(window, cut))
    return held ?? this.#openLiteral(window, cut, least) ?? this.#openQuote(window, cut)
  }

  /** A bound value of which only the beginning has come. */
  #openValue(window: string, cut: number): Crossing | undefined {
    const open = this.#rules?.value(window, cut)
    if (open === undefined) return undefined
    const end = window.length
    return { start: open.start, end, kind: 'value', tail: valueTail(open.form.slice(end - open.start)) }
  }

  /** A private key whose closing line has not come, or an object whose other members decide whether it is secret. */
  #openBlock(window: string, cut: number): Crossing | undefined {
    if (this.#rules === undefined) return undefined
    for (const start of [openBlock(window, cut), sealedAround(window, cut)])
      if (start >= this.#shown) return { start, end: window.length, kind: 'key', tail: tailOf('key') }
    return undefined
  }

  /** A JSON literal that is cut off: the value of a secret key, or a text that may be JSON itself. */
  #openLiteral(window: string, cut: number, least: boolean): Crossing | undefined {
    const kind = this.#json?.kind
    const start = this.#jsonAt
    if (kind === undefined || start >= cut || (window[start] !== '"' && window[start] !== '{')) return undefined
    NESTED_JSON.lastIndex = start
    if (least ? !ANY_LENGTH.has(kind) : kind === 'none' && !NESTED_JSON.test(window)) return undefined
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

  /** Shows a part of a text that is too long to be held: one word, or one secret. */
  #part(window: string, limit: number, secrets: readonly Span[]): string {
    const whole = isHighSurrogate(window.charCodeAt(limit - 1)) ? limit - 1 : limit
    const cut = this.#before(window, whole, secrets, true)
    if (cut > this.#shown) return this.#show(window, cut, secrets)
    let over = this.#over(window, whole, secrets, true)
    while (over !== undefined && over.start > this.#shown) over = this.#over(window, over.start, secrets, true)
    if (over === undefined || over.end < window.length) return this.#show(window, over?.end ?? whole, secrets)
    this.#tail = over.tail
    const start = Math.max(over.start, this.#shown)
    return this.#show(window, window.length, [{ start: window[start] === '"' ? start + 1 : start, end: over.end, kind: over.kind }])
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
      const space = this.#raw.slice(from, from + (context >> 1)).search(/\s/)
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

/** Returns the place behind the last space between `from` and `to`, or `from`. */
function wordStart(text: string, from: number, to: number): number {
  for (let at = to; at > from; at--) if (/\s/.test(text[at - 1] as string)) return at
  return from
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code < 0xdc00
}
