// Finds the password in `scheme://user:password@host`, with any scheme, and a lone key before the `@`. User and host stay: they show where
// the agent went.
import { absentWord, random } from './looks.ts'
import { placeholderEnd } from './placeholder.ts'
import type { Span } from './spans.ts'
import { isWide, type Undecided } from './undecided.ts'

const STOPS = ' \t\r\n"\'`<>\\,;|)}]'
const LONGEST = 1024
const ORACLE = /jdbc:oracle:thin:[^/\s]{1,64}\/([^@\s]{1,128})@/g
const ORACLE_BEGUN = /(jdbc:oracle:thin:[^/\s]{1,64}\/)[^@\s]{1,128}$/
const LONGEST_ORACLE = 210

export function urlSpans(text: string, spans: Span[], undecided?: Undecided): void {
  for (let at = text.indexOf('://'); at >= 0; at = text.indexOf('://', at + 3)) {
    const start = at + 3
    const info = userInfoEnd(text, start, undecided)
    if (info < 0) continue
    // A user that is masked has colons of its own.
    const colon = text.indexOf(':', Math.max(start, placeholderEnd(text, start)))
    const named = colon >= 0 && colon < info
    const from = named ? colon + 1 : start
    const secret = text.slice(from, info)
    if (absentWord(secret)) continue
    if (named || random(secret, 16) || /^[a-f0-9]{32}$/.test(secret)) spans.push({ start: from, end: info, kind: 'url-password' })
  }
  if (undecided !== undefined && text.includes('jdbc:oracle:')) {
    const from = Math.max(0, text.length - 2 * LONGEST_ORACLE)
    const begun = ORACLE_BEGUN.exec(text.slice(from))
    if (begun !== null) undecided(from + begun.index + (begun[1] as string).length)
  }
  for (const hit of text.matchAll(ORACLE)) {
    const end = hit.index + hit[0].length - 1
    spans.push({ start: end - (hit[1] as string).length, end, kind: 'url-password' })
  }
}

const HOOKS =
  /(?<=hooks\.zapier\.com\/hooks\/(?:catch|standard)\/)\d{4,10}\/[A-Za-z0-9]{5,40}|(?<=hook\.[a-z0-9-]{2,12}\.make\.com\/)[A-Za-z0-9]{20,48}|(?<=\/with\/key\/)[A-Za-z0-9_-]{20,64}/g

/** The letters `z` and `k` are rare, and V8 looks for the first character of a word. */
export function couldBeHook(text: string): boolean {
  return text.includes('zapier.com/') || text.includes('ke.com/') || text.includes('key/')
}

/** A webhook address is a secret without a word of its own shape. Its host stays, because it shows where the agent posted. */
export function hookSpans(text: string, spans: Span[]): void {
  for (const hit of text.matchAll(HOOKS)) spans.push({ start: hit.index, end: hit.index + hit[0].length, kind: 'webhook' })
}

/** Returns the place of the `@` that ends the user info, or -1. Many passwords are not encoded as they should be. */
function userInfoEnd(text: string, start: number, undecided: Undecided | undefined): number {
  let last = -1
  let slash = false
  let colon = false
  const limit = Math.min(text.length, start + LONGEST)
  for (let at = start; at < limit; at++) {
    const char = text[at] as string
    if (char === '@') {
      last = at
      if (slash) break
    } else if (char === ':') {
      if (text.startsWith('//', at + 1)) break
      colon = true
    } else if (char === '/' || char === '?' || char === '#') {
      // `user:pa/ss@host` and `host:8080/@name` differ in the text between the colon and the slash.
      if (last >= 0 || !colon || (!slash && /:\d{0,5}$/.test(text.slice(Math.max(start, at - 6), at)))) break
      slash = true
    } else if (isWide(text.charCodeAt(at)) || (STOPS.includes(char) && !(colon && last < 0 && ',;)}]|'.includes(char)))) break
    if (at === text.length - 1) undecided?.(start)
  }
  return last
}
