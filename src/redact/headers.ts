// Finds where the secret of an HTTP header ends: a cookie, a digest, or the rest of the line.
import type { Span } from './spans.ts'
import type { Undecided } from './undecided.ts'

const LINE_END = /[\r\n"'`]|\\[nr"']/g

export function lineEnd(text: string, from: number, undecided?: Undecided): number {
  LINE_END.lastIndex = from
  const hit = LINE_END.exec(text)
  if (hit === null) undecided?.(from)
  return hit === null ? text.length : hit.index
}

const DIGEST_RESPONSE = /[^\r\n]{0,1024}?\bresponse=\\{0,3}["']?[^\s"',\\]{1,128}/y
const DIGEST_BEGUN = /[^\r\n]{0,1190}$/y

/** The parameters of a digest are in quotes; the last secret one is the response. */
export function digestEnd(text: string, from: number, undecided?: Undecided): number {
  DIGEST_RESPONSE.lastIndex = from
  const end = DIGEST_RESPONSE.test(text) ? DIGEST_RESPONSE.lastIndex : undefined
  if (undecided !== undefined && (end === undefined || end === text.length)) {
    DIGEST_BEGUN.lastIndex = from
    if (DIGEST_BEGUN.test(text)) undecided(from)
  }
  return end ?? lineEnd(text, from)
}

const PAIR = /(?:\[redacted:[a-z0-9-]{1,32}:[0-9a-f]{8}\][;,\s]{0,3}){0,32}[^\s=;:"'`<>$\\\u0e00-\uffff]{1,128}=/y
const NAME_BEGUN = /(?:\[redacted:[a-z0-9-]{1,32}:[0-9a-f]{8}\][;,\s]{0,3}){0,32}[^\s=;:"'`<>$\\\u0e00-\uffff]{0,128}$/y
const MORE = /(?:[^\s=;,"'`<>\\\u0e00-\uffff]{1,256}(?:=[^\s;"'`<>\\\u0e00-\uffff]{0,4096})?)(?:; {0,2})?/y

/** A cookie header is pairs separated by semicolons; the text after the last pair is the rest of the sentence. */
export function cookieSpan(text: string, from: number, undecided?: Undecided): Span | undefined {
  PAIR.lastIndex = from
  if (!PAIR.test(text)) {
    NAME_BEGUN.lastIndex = from
    if (undecided !== undefined && NAME_BEGUN.test(text)) undecided(from)
    return undefined
  }
  let end = from
  for (let more = true; more; ) {
    MORE.lastIndex = end
    const hit = MORE.exec(text)
    if (hit === null) break
    end += hit[0].trimEnd().length
    more = hit[0].includes(';')
    if (more) end = MORE.lastIndex
  }
  if (end === text.length) undecided?.(from)
  while (end > from && '; ,.'.includes(text[end - 1] as string)) end--
  return { start: from, end, kind: 'cookie' }
}
