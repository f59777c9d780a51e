// Masks JSON inside a string, in place. Only literals with a secret are rewritten, so spacing, numbers, repeated keys and line-delimited
// documents stay byte for byte. Parsing and writing again would lose all four.
import { Arguments } from './arguments.ts'
import type { Range } from './placeholder.ts'
import { type KeyKind, PAIR_NAMES, PAIR_VALUES, SCHEMA_SAMPLES } from './words.ts'

export interface JsonRules {
  /** The kind of value that a key announces, or undefined if the key itself contains a secret. */
  key(name: string): KeyKind | undefined
  maskKey(name: string): string
  judge(name: string): KeyKind
  string(value: string, kind: KeyKind): string
  /** The masked form of a number, or undefined to keep it. */
  number(written: string, kind: KeyKind): string | undefined
}

interface Frame {
  readonly object: boolean
  /** The kind that the key above gives to everything inside. */
  readonly kind: KeyKind
  /** Set if the object describes a secret instead of containing one (a JSON Schema): then only its examples are masked. */
  readonly schema: KeyKind
  /** The `name` that may stand beside a `value`: `{"name": "DB_PASSWORD", "value": "…"}`. */
  name: string
  /** The name in the `type` of a data part: `{"type": "data-password", "data": "…"}`. */
  part: string
  key: string
  said: KeyKind
  /** The items of a list. */
  args: Arguments | undefined
}

/** The token is cut off. */
const WAITS = -2
/** The beginning of an object that tells whether it is a schema. */
const SCHEMA_CHARS = 256
const SCALAR = /-?(?:0|[1-9]\d{0,400})(?:\.\d{1,400})?(?:[eE][+-]?\d{1,5})?|true|false|null/y
const TYPES = '"type"\\s{0,8}:\\s{0,8}(?:"(?:string|number|integer|boolean|array|object|null)"|\\[)'
const SCHEMA = new RegExp(
  `\\{\\s{0,64}(?:${TYPES}|"enum"\\s{0,8}:\\s{0,8}\\[|"(?:\\$ref|anyOf|oneOf|allOf)"|"(?:description|title)"\\s{0,8}:[^{}]{0,400}?${TYPES})`,
  'y',
)

/** A literal with a secret, and the JSON text that replaces it. */
export interface Rewrite extends Range {
  readonly masked: string
}

/** Returns the masked text, the same text if nothing was masked, or undefined if it is not JSON. */
export function maskJson(text: string, rules: JsonRules, top: KeyKind): string | undefined {
  const reader = new JsonReader(rules, top)
  if (reader.read(text, 0, true) !== text.length || !reader.complete) return undefined
  let out = ''
  let copied = 0
  for (const { start, end, masked } of reader.rewrites) {
    out += text.slice(copied, start) + masked
    copied = end
  }
  return copied === 0 ? text : out + text.slice(copied)
}

const NO_RULES: JsonRules = {
  key: () => 'none',
  maskKey: (name) => name,
  judge: () => 'none',
  string: (value) => value,
  number: () => undefined,
}

/** Whether a text that is still coming may become JSON. */
export function mayBeJson(begun: string): boolean {
  return new JsonReader(NO_RULES, 'none').read(begun, 0, false) >= 0
}

type Expected = 'value' | 'first' | 'key' | 'colon' | 'after'

/** Reads JSON documents, also in parts: a literal that is cut off is read once the rest of it is there. */
export class JsonReader {
  /** Literals of the text last read that contain a secret, in order. */
  rewrites: Rewrite[] = []
  /** The place behind the literal that was given up, if it ended in the text last read. */
  skipped: number | undefined
  readonly #rules: JsonRules
  readonly #top: KeyKind
  readonly #stack: Frame[] = []
  #frame: Frame | undefined
  #expected: Expected = 'value'
  #skipping = false

  constructor(rules: JsonRules, top: KeyKind) {
    this.#rules = rules
    this.#top = top
  }

  /** Whether no document is open. */
  get complete(): boolean {
    return this.#frame === undefined && this.#expected === 'value' && !this.#skipping
  }

  /** The kind of the value that is expected next, or undefined if a key or a mark is expected. */
  get kind(): KeyKind | undefined {
    if (this.#expected !== 'value' && (this.#expected !== 'first' || this.#frame?.object === true)) return undefined
    return this.#frame === undefined ? this.#top : kindOf(this.#frame, this.#rules)
  }

  /** The kind that the value which is expected next could have. */
  get pending(): KeyKind | undefined {
    const { kind } = this
    return kind === 'none' ? (this.#frame?.args?.pending ?? kind) : kind
  }

  /** Whether the text last read ends inside a literal that was given up. */
  get skipping(): boolean {
    return this.#skipping
  }

  /** Gives up the literal that is cut off, because it is too long to be kept. The next `read` goes on inside it. */
  skipLiteral(): void {
    this.#skipping = true
  }

  /** Reads on from `from`. Returns the place where the next part begins, or -1 if the text is not JSON. `last`: no more text follows. */
  read(text: string, from: number, last: boolean): number {
    let at = from
    if (this.#skipping) {
      const end = quoteEnd(text, from, 0)
      if (end < 0) return last ? -1 : text.length
      this.#skipping = false
      this.skipped = end
      this.#passed()
      at = end
    }
    for (at = space(text, at); at < text.length; at = space(text, at)) {
      const next = this.#token(text, at, last)
      if (next === WAITS) return last ? -1 : at
      if (next < 0) return -1
      at = next
    }
    return at
  }

  #token(text: string, at: number, last: boolean): number {
    const code = text.charCodeAt(at)
    const frame = this.#frame
    if (this.#expected === 'colon') {
      this.#expected = 'value'
      return code === 58 ? at + 1 : -1
    }
    if (frame !== undefined && (this.#expected === 'first' || this.#expected === 'after')) {
      if (code === (frame.object ? 125 : 93)) {
        this.#stack.pop()
        this.#frame = this.#stack.at(-1)
        this.#passed()
        return at + 1
      }
      if (this.#expected === 'after') {
        this.#expected = frame.object ? 'key' : 'value'
        return code === 44 ? at + 1 : -1
      }
    }
    if (frame?.object === true && this.#expected !== 'value') return this.#key(text, at, frame)
    if (code === 123 || code === 91) return this.#open(text, at, code === 123, last)
    return code === 34 ? this.#string(text, at) : this.#scalar(text, at, last)
  }

  #key(text: string, at: number, frame: Frame): number {
    const end = literalEnd(text, at)
    if (end < 0) return end
    const name = decode(text, at, end)
    if (name === undefined) return -1
    const said = this.#rules.key(name)
    if (said === undefined) this.#rewrite(at, end, this.#rules.maskKey(name))
    frame.key = name
    frame.said = said ?? this.#rules.judge(name)
    this.#expected = 'colon'
    return end
  }

  #open(text: string, at: number, object: boolean, last: boolean): number {
    const kind = this.kind ?? 'none'
    this.#frame?.args?.kind(undefined)
    // The first members tell whether the object is a schema.
    if (object && kind !== 'none' && !last && text.length - at < SCHEMA_CHARS) return WAITS
    SCHEMA.lastIndex = at
    const schema = object && kind !== 'none' && SCHEMA.test(text)
    this.#frame = {
      object,
      kind: schema || (object && !inherited(kind, this.#frame?.key ?? '')) ? 'none' : kind,
      schema: schema ? kind : 'none',
      name: '',
      part: '',
      key: '',
      said: 'none',
      args: undefined,
    }
    this.#stack.push(this.#frame)
    this.#expected = 'first'
    return at + 1
  }

  #string(text: string, at: number): number {
    const end = literalEnd(text, at)
    if (end < 0) return end
    const value = decode(text, at, end)
    if (value === undefined) return -1
    const frame = this.#frame
    const masked = this.#rules.string(value, this.#argument(frame, value) ?? this.kind ?? 'none')
    if (masked !== value) this.#rewrite(at, end, masked)
    if (frame?.object === true && PAIR_NAMES.has(frame.key)) frame.name = value
    if (frame?.object === true && frame.key === 'type') frame.part = value
    this.#passed()
    return end
  }

  #scalar(text: string, at: number, last: boolean): number {
    SCALAR.lastIndex = at
    const written = SCALAR.exec(text)?.[0]
    if (written === undefined) return !last && text.length - at < 5 ? WAITS : -1
    const end = at + written.length
    // The number may go on.
    if (!last && end === text.length) return WAITS
    const masked = /^[tfn]/.test(written)
      ? undefined
      : this.#rules.number(written, this.#argument(this.#frame, Number(written)) ?? this.kind ?? 'none')
    if (masked !== undefined) this.#rewrite(at, end, masked)
    this.#passed()
    return end
  }

  #argument(frame: Frame | undefined, value: string | number): KeyKind | undefined {
    if (frame === undefined || frame.object || frame.kind !== 'none') return undefined
    if (typeof value === 'string') frame.args ??= new Arguments(this.#rules.judge)
    return frame.args?.kind(value)
  }

  #passed(): void {
    this.#expected = this.#frame === undefined ? 'value' : 'after'
  }

  #rewrite(start: number, end: number, masked: string): void {
    this.rewrites.push({ start, end, masked: JSON.stringify(masked) })
  }
}

function kindOf(frame: Frame, rules: JsonRules): KeyKind {
  if (frame.kind !== 'none' || !frame.object) return frame.kind
  if (frame.schema !== 'none' && SCHEMA_SAMPLES.has(frame.key)) return frame.schema
  if (frame.name !== '' && frame.said === 'none' && PAIR_VALUES.has(frame.key)) return rules.judge(frame.name)
  if (frame.said === 'none' && frame.key === 'data') return partKind(frame.part, rules.judge)
  return frame.said
}

/** The kind that the type of a data part gives to its `data`. Models stream text in parts such as `data-token`, so only `all` counts. */
export function partKind(type: unknown, judge: (name: string) => KeyKind): KeyKind {
  return typeof type === 'string' && type.length <= 64 && type.startsWith('data-') && judge(type.slice(5)) === 'all' ? 'all' : 'none'
}

/**
 * Whether the kind of a key also applies to the object under it. A path (`node_modules/js-tokens`, `/oauth/token`) names the object itself,
 * and weak evidence does not reach two levels down.
 */
export function inherited(kind: KeyKind, key: string): boolean {
  return kind !== 'weak' && kind !== 'digits' && kind !== 'likely' && !key.includes('/')
}

function space(text: string, from: number): number {
  let at = from
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code !== 32 && code !== 10 && code !== 13 && code !== 9) break
  }
  return at
}

/** Returns the end of the literal that begins here, WAITS if it is cut off, or -1 if no literal begins here. */
function literalEnd(text: string, at: number): number {
  return text.charCodeAt(at) === 34 ? quoteEnd(text, at + 1, at) : -1
}

/** Returns the place after the quote that ends a literal, or WAITS. `floor` is the beginning of the literal. */
function quoteEnd(text: string, from: number, floor: number): number {
  for (let end = text.indexOf('"', from); end >= 0; end = text.indexOf('"', end + 1)) {
    let slashes = 0
    while (end - slashes > floor && text.charCodeAt(end - slashes - 1) === 92) slashes++
    if (slashes % 2 === 0) return end + 1
  }
  return WAITS
}

function decode(text: string, start: number, end: number): string | undefined {
  const inner = text.slice(start + 1, end - 1)
  // A raw line end is not allowed in a literal, but the literal is still checked.
  if (!inner.includes('\\')) return inner
  try {
    return JSON.parse(text.slice(start, end)) as string
  } catch {
    return undefined
  }
}
