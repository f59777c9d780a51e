// Parses the arguments of a command: the store, names, JSON and times.

import { type Duration, milliseconds } from '../model/time.ts'
import { usage } from './exit.ts'
import { environment } from './terminal.ts'

export interface Named {
  /** Undefined if INKFAST_URL names the store. */
  readonly url: string | undefined
  /** One for each wanted argument. */
  readonly names: readonly string[]
}

/**
 * Parses `[store]` and one argument for each of `wanted`, which maps its noun to the command that lists what can be named. The store may be
 * left out if INKFAST_URL names it.
 */
export function namedWords(words: readonly string[], wanted: Readonly<Record<string, string>>): Named {
  const nouns = Object.keys(wanted)
  const unnamed = environment.url !== undefined && words.length <= nouns.length
  const names = unnamed ? words : words.slice(1)
  const missing = nouns[names.length]
  if (missing !== undefined) {
    const shows = wanted[missing] === '' ? '' : ` See what exists with ${wanted[missing]}.`
    throw usage(`Missing <${missing}>: write it after the ${names.length === 0 ? 'store' : nouns[names.length - 1]}.${shows}`)
  }
  if (names.length > nouns.length) throw usage(`Unexpected argument '${names[nouns.length]}'.`)
  return { url: unnamed ? undefined : words[0], names }
}

/** Parses `[store]` and nothing else. */
export function onlyStore([url, ...more]: readonly string[]): string | undefined {
  if (more.length > 0) throw usage(`Unexpected argument '${more[0]}'. If it belongs to a verb, write the verb before the store.`)
  return url
}

/** Checks the reason of a change, which the journal keeps. */
export function reasonWord(reason: string | undefined): string {
  if (reason === undefined || reason.trim() === '') throw usage('Missing --reason: say why; the journal keeps it.')
  return reason
}

/** Parses JSON. `of` names the argument in the message: `--payload`. */
export function jsonWord(text: string, of: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw usage(`${of} is not JSON. Quote it for the shell: '{"id":1}', and a text as '"sent"'.`)
  }
}

/** Passes a duration on; the library checks it. A plain number is milliseconds. */
export const durationWord = (text: string): Duration => (/^\d+$/.test(text) ? Number(text) : (text as Duration))

const AGO = /^\d+(\.\d+)?(ms|s|m|h|d)$/
const INSTANT = /^(\d{4})-(\d\d)-(\d\d)(T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d))?$/

/** Parses a time with an offset, a day in UTC or, if `now` is given, an age such as 15m. */
export function timeWord(text: string, of: string, now?: number): number {
  if (now !== undefined && AGO.test(text)) return now - milliseconds(text as Duration)
  const [, year, month, day, clock = 'T00:00Z'] = INSTANT.exec(text) ?? []
  const at = day === undefined ? Number.NaN : Date.parse(`${year}-${month}-${day}${clock}`)
  // Date.parse takes 30 February for a day in March.
  const isDay = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day))).getUTCDate() === Number(day)
  if (!Number.isNaN(at) && isDay) return at
  const ago = now === undefined ? '' : ', or an age such as 15m, 2h or 3d'
  throw usage(`${of} '${text}' is not a time. Write 2026-01-31T09:00:00Z, or a day such as 2026-01-31${ago}.`)
}

/** Drops undefined members. */
export const given = <T extends object>(some: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(some).filter(([, value]) => value !== undefined)) as { [K in keyof T]?: Exclude<T[K], undefined> }
