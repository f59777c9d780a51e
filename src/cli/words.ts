// What the words after a command mean: which store, and what of it; and what a person writes as JSON or as a time.

import { type Duration, milliseconds } from '../model/time.ts'
import { usage } from './exit.ts'
import { environment } from './terminal.ts'

export interface Named {
  /** Undefined where INKFAST_URL names it. */
  readonly url: string | undefined
  /** One for each word that was asked for. */
  readonly names: readonly string[]
}

/**
 * `[store]`, and then a word for each of `wanted`, each with the command that shows what there is to name. The store may be left out where
 * INKFAST_URL names it.
 */
export function namedWords(words: readonly string[], wanted: Readonly<Record<string, string>>): Named {
  const nouns = Object.keys(wanted)
  const unnamed = environment.url !== undefined && words.length <= nouns.length
  const names = unnamed ? words : words.slice(1)
  const missing = nouns[names.length]
  if (missing !== undefined) {
    const shows = wanted[missing] === '' ? '' : `; ${wanted[missing]} shows what is there`
    throw usage(`Which ${missing}? Write it after the ${names.length === 0 ? 'store' : nouns[names.length - 1]}${shows}.`)
  }
  if (names.length > nouns.length) throw usage(`'${names[nouns.length]}' is one word too many.`)
  return { url: unnamed ? undefined : words[0], names }
}

/** `[store]` and nothing else. */
export function onlyStore([url, ...more]: readonly string[], instead: string): string | undefined {
  if (more.length > 0) throw usage(`'${more[0]}' is one word too many. What to do comes first: ${instead}.`)
  return url
}

/** Why somebody does it: asked for, and kept. */
export function reasonWord(reason: string | undefined): string {
  if (reason === undefined || reason.trim() === '') throw usage('Why? Write it with --reason; it is kept in the journal.')
  return reason
}

/** `of` is how the person named it: `--payload`. */
export function jsonWord(text: string, of: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw usage(`What ${of} says is not JSON. Quote it for the shell: '{"id":1}', and a text as '"sent"'.`)
  }
}

/** A duration as the library takes it: what is none is refused there, in its own words. */
export const durationWord = (text: string): Duration => text as Duration

const AGO = /^\d+(\.\d+)?(ms|s|m|h|d)$/
const INSTANT = /^(\d{4})-(\d\d)-(\d\d)(T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d))?$/

/** A time that means the same on every machine: with its offset, a day in UTC, or, where `now` is given, how long ago. */
export function timeWord(text: string, of: string, now?: number): number {
  if (now !== undefined && AGO.test(text)) return now - milliseconds(text as Duration)
  const [, year, month, day, clock = 'T00:00Z'] = INSTANT.exec(text) ?? []
  const at = day === undefined ? Number.NaN : Date.parse(`${year}-${month}-${day}${clock}`)
  // Date.parse takes 30 February for a day in March.
  const isDay = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day))).getUTCDate() === Number(day)
  if (!Number.isNaN(at) && isDay) return at
  const ago = now === undefined ? '' : ', or how long ago: 15m, 2h, 3d'
  throw usage(`${of} '${text}' is not a time. Write 2026-01-31T09:00:00Z, or a day such as 2026-01-31${ago}.`)
}

/** Only what was said. */
export const given = <T extends object>(some: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(some).filter(([, value]) => value !== undefined)) as { [K in keyof T]?: Exclude<T[K], undefined> }
