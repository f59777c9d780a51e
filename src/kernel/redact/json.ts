// Masks JSON inside a string, in place. Only literals with a secret are rewritten, so spacing, numbers, repeated keys and line-delimited
// documents stay byte for byte. Parsing and writing again would lose all four.
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
  key: string
  said: KeyKind
}

const SCALAR = /-?(?:0|[1-9]\d{0,400})(?:\.\d{1,400})?(?:[eE][+-]?\d{1,5})?|true|false|null/y
const TYPES = '"type"\\s{0,8}:\\s{0,8}(?:"(?:string|number|integer|boolean|array|object|null)"|\\[)'
const SCHEMA = new RegExp(
  `\\{\\s{0,64}(?:${TYPES}|"(?:\\$ref|anyOf|oneOf|allOf)"|"(?:description|title)"\\s{0,8}:[^{}]{0,400}?${TYPES})`,
  'y',
)

/** Returns the masked text, the same text if nothing was masked, or undefined if it is not JSON. */
export function maskJson(text: string, rules: JsonRules, top: KeyKind): string | undefined {
  const size = text.length
  const stack: Frame[] = []
  let out = ''
  let copied = 0
  let at = space(text, 0)
  let frame: Frame | undefined
  let wantsKey = false
  const rewrite = (start: number, end: number, masked: string) => {
    out += text.slice(copied, start) + JSON.stringify(masked)
    copied = end
  }

  while (at < size) {
    const code = text.charCodeAt(at)
    if (frame !== undefined && code === (frame.object ? 125 : 93)) {
      stack.pop()
      frame = stack.at(-1)
      at = after(text, at + 1, frame)
    } else if (wantsKey && frame !== undefined) {
      const end = literalEnd(text, at)
      const name = end < 0 ? undefined : decode(text, at, end)
      if (name === undefined) return undefined
      const said = rules.key(name)
      if (said === undefined) rewrite(at, end, rules.maskKey(name))
      frame.key = name
      frame.said = said ?? rules.judge(name)
      at = space(text, end)
      if (text.charCodeAt(at) !== 58) return undefined
      at = space(text, at + 1)
      wantsKey = false
      continue
    } else {
      const kind = frame === undefined ? top : kindOf(frame, rules)
      if (code === 123 || code === 91) {
        SCHEMA.lastIndex = at
        const schema = code === 123 && kind !== 'none' && SCHEMA.test(text)
        frame = {
          object: code === 123,
          kind: schema || (code === 123 && !inherited(kind, frame?.key ?? '')) ? 'none' : kind,
          schema: schema ? kind : 'none',
          name: '',
          key: '',
          said: 'none',
        }
        stack.push(frame)
        at = space(text, at + 1)
        wantsKey = frame.object
        continue
      }
      if (code === 34) {
        const end = literalEnd(text, at)
        const value = end < 0 ? undefined : decode(text, at, end)
        if (value === undefined) return undefined
        const masked = rules.string(value, kind)
        if (masked !== value) rewrite(at, end, masked)
        if (frame?.object === true && PAIR_NAMES.has(frame.key)) frame.name = value
        at = after(text, end, frame)
      } else {
        SCALAR.lastIndex = at
        const scalar = SCALAR.exec(text)
        if (scalar === null) return undefined
        const end = at + scalar[0].length
        const masked = code === 116 || code === 102 || code === 110 ? undefined : rules.number(scalar[0], kind)
        if (masked !== undefined) rewrite(at, end, masked)
        at = after(text, end, frame)
      }
    }
    if (at < 0) return undefined
    wantsKey = frame?.object === true
  }
  if (frame !== undefined) return undefined
  return copied === 0 ? text : out + text.slice(copied)
}

function kindOf(frame: Frame, rules: JsonRules): KeyKind {
  if (frame.kind !== 'none' || !frame.object) return frame.kind
  if (frame.schema !== 'none' && SCHEMA_SAMPLES.has(frame.key)) return frame.schema
  if (frame.name !== '' && frame.said === 'none' && PAIR_VALUES.has(frame.key)) return rules.judge(frame.name)
  return frame.said
}

/**
 * Whether the kind of a key also applies to the object under it. A path (`node_modules/js-tokens`, `/oauth/token`) names the object itself,
 * and weak evidence does not reach two levels down.
 */
export function inherited(kind: KeyKind, key: string): boolean {
  return kind !== 'weak' && kind !== 'digits' && kind !== 'likely' && !key.includes('/')
}

/** Returns the place after the comma, at the closing bracket, or at the next document; -1 if none follows. */
function after(text: string, from: number, frame: Frame | undefined): number {
  const at = space(text, from)
  if (frame === undefined) return at
  const code = text.charCodeAt(at)
  if (code === (frame.object ? 125 : 93)) return at
  if (code !== 44) return -1
  const next = space(text, at + 1)
  return next < text.length && text.charCodeAt(next) !== (frame.object ? 125 : 93) ? next : -1
}

function space(text: string, from: number): number {
  let at = from
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code !== 32 && code !== 10 && code !== 13 && code !== 9) break
  }
  return at
}

function literalEnd(text: string, at: number): number {
  if (text.charCodeAt(at) !== 34) return -1
  for (let end = text.indexOf('"', at + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let slashes = 0
    while (text.charCodeAt(end - slashes - 1) === 92) slashes++
    if (slashes % 2 === 0) return end + 1
  }
  return -1
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
