// Finds the end of a secret that is too long to be held as a whole. The first part of it is masked already, and the rest is dropped.
import { BODY, END_LINE } from './pem.ts'

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

/** The longest closing line of an armoured block. */
const LONGEST_LINE = 80

const armourTail: Tail = (text, from, last) => {
  let at = from
  for (; at < text.length && BODY.test(text[at] as string); at++) {
    if (text[at] !== '-') continue
    END_LINE.lastIndex = at
    const line = END_LINE.exec(text)
    if (line !== null) return { at: at + line[0].length, done: true }
    if (text.startsWith('-----', at) && (last || text.length - at >= LONGEST_LINE)) return { at, done: true }
    // The line may still be coming.
    if (!last && text.length - at < LONGEST_LINE) return { at, done: false }
  }
  return { at, done: at < text.length }
}

function before(stop: RegExp, text: string, from: number): TailEnd {
  stop.lastIndex = from
  const hit = stop.exec(text)
  return hit === null ? { at: text.length, done: false } : { at: hit.index, done: true }
}
