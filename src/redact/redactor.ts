// The redactor walks JSON data and masks every secret before anything is hashed, indexed or logged.

import { Arguments } from './arguments.ts'
import { assignmentSpans, spanOf } from './assignments.ts'
import { bind } from './bound.ts'
import { inherited, JsonReader, type JsonRules, maskJson, partKind } from './json.ts'
import { keyJudge } from './keys.ts'
import { absentValue, passwordLike } from './looks.ts'
import { isPlaceholder, placeholder, placeholdersIn } from './placeholder.ts'
import { couldBeSealed, isSealed, sealedSpans } from './sealed.ts'
import { mask, type Span } from './spans.ts'
import { MaskedStream, type StreamBounds, type StreamRules } from './stream.ts'
import { maskText, secretSpans } from './text.ts'
import { type KeyKind, PAIR_NAMES, PAIR_VALUES, SCHEMA_SAMPLES } from './words.ts'

export interface RedactOptions {
  /** Additional key fragments that name a secret, e.g. `ssn`. */
  readonly keys?: readonly string[]
  /** Exact secrets, masked wherever they occur. Values shorter than four characters are ignored. */
  readonly values?: readonly string[]
  /** Key names that are never treated as secret. */
  readonly allow?: readonly string[]
}

export interface Redactor {
  /** Returns a copy of `data` with every secret masked, or the same reference if nothing was masked. Never mutates its input. */
  value(data: unknown): unknown
  text(text: string): string
  /** A text that comes in pieces and is masked as it comes. */
  stream(bounds: StreamBounds): MaskedStream
}

type Data = Readonly<Record<string, unknown>>

/** Maximum depth of JSON inside strings. Each level doubles the backslashes, so real data has fewer. */
const DEEPEST = 8
const REMEMBERED = 4096
const REMEMBERED_TEXT = 64
const SCHEMA_TYPES: ReadonlySet<unknown> = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object', 'null'])

/** `tag` turns a secret into a short, keyed, irreversible tag (HMAC-SHA256 in hex, truncated). */
export function redactor(options: RedactOptions, tag: (secret: string) => string): Redactor {
  const judge = keyJudge(options.keys, options.allow)
  const bound = bind(options.values)
  const plain = (text: string) => maskText(text, judge, bound, tag)

  // Caches the kinds of keys that contain no secret themselves: one lookup per key of an event.
  const known = new Map<string, KeyKind>()
  const kindOfKey = (key: string): KeyKind | undefined => {
    const before = known.get(key)
    if (before !== undefined) return before
    if (plain(key) !== key) return undefined
    const kind = judge(key)
    if (key.length <= 64) {
      if (known.size >= REMEMBERED) known.clear()
      known.set(key, kind)
    }
    return kind
  }

  let depth = 0
  const rules: JsonRules = {
    key: kindOfKey,
    maskKey: plain,
    judge,
    string: (value, kind) => string(value, kind),
    number: (written, kind) => number(written, kind),
  }

  const nested = (text: string, kind: KeyKind): string | undefined => {
    if (depth >= DEEPEST || !couldBeJson(text)) return undefined
    depth++
    try {
      return maskJson(unsealed(text), rules, kind)
    } finally {
      depth--
    }
  }

  /** Masks members that only their object tells, while the whole object is in sight. */
  const unsealed = (text: string): string => {
    if (!couldBeSealed(text)) return text
    const spans: Span[] = []
    sealedSpans(text, spans)
    return mask(text, spans, tag)
  }

  // Caches short texts without secrets: tool names, roles, commands and paths repeat with every event.
  const clean = new Set<string>()
  const string = (text: string, kind: KeyKind): string => {
    if (kind !== 'none' && text !== '' && !absentValue(text)) {
      const masked = underKey(text, kind)
      if (masked !== undefined) return masked
    }
    if (depth === 0 && clean.has(text)) return text
    const masked = nested(text, 'none') ?? plain(text)
    if (depth === 0 && masked === text && text.length <= REMEMBERED_TEXT) {
      if (clean.size >= REMEMBERED) clean.clear()
      clean.add(text)
    }
    return masked
  }

  /** Masks the value of a secret key. Returns undefined if this value is not a secret. */
  const underKey = (text: string, kind: KeyKind): string | undefined => {
    const json = nested(text, kind)
    if (json !== undefined) return json
    const parts = plain(text)
    // The secret was recognised by its own shape, or it is a connection string whose host may stay.
    if (isPlaceholder(parts) || (kind === 'mixed' && (parts !== text || maskedConnection(text)))) return parts
    const span = spanOf(text, 0, kind)
    return span === undefined ? undefined : mask(text, [span], tag)
  }

  const number = (written: string, kind: KeyKind): string | undefined => {
    if (bound.has(written)) return placeholder('value', tag(written))
    return kind === 'all' || (kind === 'digits' && /^\d{3,10}$/.test(written)) ? placeholder('key', tag(written)) : undefined
  }

  const walk = (data: unknown, kind: KeyKind): unknown => {
    if (typeof data === 'string') return string(data, kind)
    if (typeof data === 'number') return kind === 'none' && !bound.any ? data : (number(String(data), kind) ?? data)
    if (typeof data !== 'object' || data === null) return data
    return Array.isArray(data) ? list(data, kind) : object(data as Data, kind)
  }

  const list = (data: readonly unknown[], kind: KeyKind): unknown => {
    let copy: unknown[] | undefined
    // `['authorization', 'Bearer …']`: many libraries pass headers this way.
    const pair = kind === 'none' && data.length === 2 && typeof data[0] === 'string' && typeof data[1] === 'string'
    let args: Arguments | undefined
    for (let at = 0; at < data.length; at++) {
      const item = data[at]
      if (kind === 'none' && typeof item === 'string') args ??= new Arguments(judge)
      let said = args === undefined ? kind : args.kind(item)
      if (said === 'none' && pair && at === 1 && passwordLike(item as string)) said = judge(data[0] as string)
      const masked = walk(item, said)
      if (masked === item) continue
      copy ??= data.slice()
      copy[at] = masked
    }
    return copy ?? data
  }

  const object = (data: Data, above: KeyKind): unknown => {
    const keys = Object.keys(data)
    const schema = above !== 'none' && describesSchema(data)
    const named = above === 'none' ? pairKind(data, keys) : 'none'
    let copy: Record<string, unknown> | undefined
    for (let at = 0; at < keys.length; at++) {
      const key = keys[at] as string
      const item = data[key]
      const said = kindOfKey(key)
      let kind = above === 'none' || schema ? (said ?? judge(key)) : above
      if (schema && SCHEMA_SAMPLES.has(key)) kind = above
      if (named !== 'none' && PAIR_VALUES.has(key)) kind = named
      if (kind === 'none' && key === 'data' && Object.hasOwn(data, 'type')) kind = partKind(data.type, judge)
      if (isSealed(data, key)) kind = 'all'
      if (kind !== 'none' && typeof item === 'object' && !Array.isArray(item) && !inherited(kind, key)) kind = 'none'
      const masked = walk(item, kind)
      const name = said === undefined ? plain(key) : key
      if (copy === undefined) {
        if (masked === item && name === key) continue
        copy = {}
        for (let n = 0; n < at; n++) define(copy, keys[n] as string, data[keys[n] as string])
      }
      define(copy, name, masked)
    }
    return copy ?? data
  }

  /** The kind that `name` gives to the `value` beside it: `{ name: 'DB_PASSWORD', value: '…' }`. */
  const pairKind = (data: Data, keys: readonly string[]): KeyKind => {
    if (keys.length > 6 || !keys.some((key) => PAIR_VALUES.has(key))) return 'none'
    for (const key of keys) {
      const name = PAIR_NAMES.has(key) ? data[key] : undefined
      if (typeof name === 'string' && name.length <= 64) return judge(name)
    }
    return 'none'
  }

  const streamed: StreamRules = {
    spans: (part, undecided) => secretSpans(part, judge, bound, undecided),
    named: (part) => {
      const spans: Span[] = []
      assignmentSpans(part, judge, spans)
      return spans
    },
    value: (part) => bound.open(part),
    json: () => new JsonReader(rules, 'none'),
    tag,
  }

  return {
    value: (data) => walk(data, 'none'),
    text: (text) => string(text, 'none'),
    stream: (bounds) => new MaskedStream(streamed, bounds),
  }
}

/** Tool parameters may include `password: { type: 'string' }`: a description, which stays readable. */
function describesSchema(data: Data): boolean {
  const type = Object.hasOwn(data, 'type') ? data.type : undefined
  if (Object.hasOwn(data, 'enum') && Array.isArray(data.enum)) return true
  return SCHEMA_TYPES.has(type) || ['$ref', 'anyOf', 'oneOf', 'allOf'].some((key) => Object.hasOwn(data, key))
}

/** Plain assignment would call the setter of `__proto__`. */
function define(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true })
  else target[key] = value
}

/** Whether a connection string was masked before: its placeholder stands in a URL or a field. */
function maskedConnection(text: string): boolean {
  return (text.includes('://') || text.includes('=')) && placeholdersIn(text).length > 0
}

function couldBeJson(text: string): boolean {
  let first = 0
  while (first < text.length && text.charCodeAt(first) <= 32) first++
  const open = text.charCodeAt(first)
  if (open !== 123 && open !== 91 && open !== 34) return false
  let last = text.length - 1
  while (last > first && text.charCodeAt(last) <= 32) last--
  const close = text.charCodeAt(last)
  return last > first && (close === 125 || close === 93 || close === 34)
}
