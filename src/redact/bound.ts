// Finds the exact secrets that the user bound (`redact.values`), also inside JSON text, in a URL and in base64.
import { base64 } from './looks.ts'
import type { Span } from './spans.ts'

export interface Bound {
  /** False if no values are bound. */
  readonly any: boolean
  find(text: string, spans: Span[]): void
  /** Returns the value at the end of the text whose rest has not come, the longest if there are several. */
  open(text: string): OpenValue | undefined
  /** Also used for numbers, by their text. */
  has(text: string): boolean
}

/** A bound value, or an encoded form of it, of which only the beginning is in the text. */
export interface OpenValue {
  readonly start: number
  readonly form: string
}

/** A shorter value would occur by accident in half of all texts, so it is not bound. */
const SHORTEST = 4
/** The base64 form is searched only if enough is left after trimming its unaligned ends. */
const SHORTEST_ENCODED = 8

const NOTHING: Bound = { any: false, find: () => undefined, open: () => undefined, has: () => false }

export function bind(values: readonly string[] = []): Bound {
  const forms = new Map<string, string>()
  const secrets = new Set(values.filter((value) => value.length >= SHORTEST))
  for (const secret of secrets) for (const form of formsOf(secret)) if (!forms.has(form)) forms.set(form, secret)
  for (const secret of secrets) forms.set(secret, secret)
  if (forms.size === 0) return NOTHING
  // Longest first: if one secret begins another, the longer one is found.
  const all = [...forms.keys()].sort((a, b) => b.length - a.length)
  const shortest = all.at(-1)?.length ?? 0
  let begun: { readonly form: string; readonly borders: Uint32Array }[] | undefined
  const pattern = new RegExp(all.map((form) => form.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('|'), 'g')
  return {
    any: true,
    find: (text, spans) => {
      if (text.length < shortest) return
      pattern.lastIndex = 0
      for (let hit = pattern.exec(text); hit !== null; hit = pattern.exec(text)) {
        spans.push({ start: hit.index, end: hit.index + hit[0].length, kind: 'value', secret: forms.get(hit[0]) ?? hit[0] })
      }
    },
    open: (text) => {
      begun ??= all.map((form) => ({ form, borders: bordersOf(form) }))
      let longest = 0
      let open: OpenValue | undefined
      for (const { form, borders } of begun) {
        const size = overlap(text, form, borders)
        if (size <= longest) continue
        longest = size
        open = { start: text.length - size, form }
      }
      return open
    },
    has: (text) => secrets.has(text),
  }
}

/** Returns how many characters of the form stand at the end of the text, fewer than all, by the algorithm of Knuth, Morris and Pratt. */
function overlap(text: string, form: string, borders: Uint32Array): number {
  let size = 0
  for (let at = Math.max(0, text.length - form.length + 1); at < text.length; at++) size = extend(form, borders, size, text.charCodeAt(at))
  return size
}

/** For every beginning of the form, the length of the longest shorter beginning that it ends with. */
function bordersOf(form: string): Uint32Array {
  const borders = new Uint32Array(form.length)
  for (let at = 1; at < form.length; at++) borders[at] = extend(form, borders, borders[at - 1] as number, form.charCodeAt(at))
  return borders
}

function extend(form: string, borders: Uint32Array, size: number, code: number): number {
  let kept = size
  while (kept > 0 && form.charCodeAt(kept) !== code) kept = borders[kept - 1] as number
  return form.charCodeAt(kept) === code ? kept + 1 : 0
}

function formsOf(secret: string): string[] {
  const once = JSON.stringify(secret).slice(1, -1)
  const twice = JSON.stringify(once).slice(1, -1)
  const url = encodeURIComponent(secret.toWellFormed())
  const forms = [once, twice, url, url.replaceAll('%20', '+')]
  const bytes = new TextEncoder().encode(secret)
  if (bytes.length >= SHORTEST_ENCODED) {
    for (const shift of [0, 1, 2]) {
      const padded = new Uint8Array(shift + bytes.length)
      padded.set(bytes, shift)
      const text = base64(padded).replace(/=+$/, '')
      // Characters that share bits with the text before or after are trimmed.
      const own = text.slice(shift === 0 ? 0 : shift + 1, padded.length % 3 === 0 ? text.length : text.length - 1)
      forms.push(own, own.replaceAll('+', '-').replaceAll('/', '_'))
    }
  }
  return forms
}
