// Finds the end of a secret that is too long to be held as a whole. The first part of it is masked already, and the rest is dropped.
import { bodyEnd, CLOSING_CHARS } from './pem.ts'

export interface TailEnd {
  /** The place up to which the text belongs to the secret. */
  readonly at: number
  /** Whether the secret ends there. Otherwise the next text decides. */
  readonly done: boolean
}

/** Looks for the end of a secret from `from` on. `last`: no more text follows. */
export type Tail = (text: string, from: number, last: boolean) => TailEnd

export function tailOf(kind: string): Tail {
  if (kind === 'private-key') return armourTail
  return kind === 'cookie' || kind === 'bearer' || kind === 'basic' ? lineTail : wordTail
}

const wordTail: Tail = (text, from) => before(/[\s"'`<>\\]/g, text, from)
const lineTail: Tail = (text, from) => before(/[\r\n"'`]/g, text, from)

/** The end of a value in quotes. A quote behind an odd number of backslashes belongs to the value. */
export function quoteTail(quote: string): Tail {
  return (text, from) => {
    for (let at = text.indexOf(quote, from); at >= 0; at = text.indexOf(quote, at + 1)) {
      let slashes = 0
      while (at > slashes && text.charCodeAt(at - slashes - 1) === 92) slashes++
      if (slashes % 2 === 0) return { at, done: true }
    }
    return { at: text.length, done: false }
  }
}

/** The rest of a value that is known by heart. It ends early if the text differs from it. */
export function valueTail(rest: string): Tail {
  let left = rest
  return (text, from) => {
    let same = 0
    while (same < left.length && from + same < text.length && left.charCodeAt(same) === text.charCodeAt(from + same)) same++
    const at = from + same
    left = left.slice(same)
    return { at, done: left === '' || at < text.length }
  }
}

const END_LINE = /-----END [A-Z0-9 ]{0,60}-----/y

const armourTail: Tail = (text, from, last) => {
  const dashes = text.indexOf('-----', from)
  const limit = dashes >= 0 ? dashes : last ? text.length : Math.max(from, text.length - CLOSING_CHARS)
  const at = bodyEnd(text, from, limit)
  if (at < limit) return { at, done: true }
  if (dashes < 0) return { at, done: false }
  END_LINE.lastIndex = dashes
  const line = END_LINE.exec(text)
  if (line !== null) return { at: dashes + line[0].length, done: true }
  // The line may still be coming.
  return { at, done: last || text.length - dashes >= CLOSING_CHARS }
}

function before(stop: RegExp, text: string, from: number): TailEnd {
  stop.lastIndex = from
  const hit = stop.exec(text)
  return hit === null ? { at: text.length, done: false } : { at: hit.index, done: true }
}
