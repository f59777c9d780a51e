// Finds the exact secrets that the user bound (`redact.values`), also inside JSON text, in a URL and in base64.
import { base64 } from './looks.ts'
import type { Span } from './spans.ts'

export interface Bound {
  /** False if no values are bound. */
  readonly any: boolean
  find(text: string, spans: Span[]): void
  /** Returns the value that begins before `before` and whose rest has not come, if more than `PROBE` characters of it are there. */
  open(text: string, before: number): OpenValue | undefined
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

/** The beginning by which an open value is searched. */
const PROBE = 64

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
    open: (text, before) => {
      for (const form of all) {
        if (form.length <= text.length - before) return undefined
        const probe = form.slice(0, PROBE)
        for (
          let start = text.indexOf(probe, text.length - form.length + 1);
          start >= 0 && start < before;
          start = text.indexOf(probe, start + 1)
        )
          if (form.startsWith(text.slice(start))) return { start, form }
      }
      return undefined
    },
    has: (text) => secrets.has(text),
  }
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
