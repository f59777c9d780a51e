// Finds where the secret of an HTTP header ends: a cookie, a digest, or the rest of the line.
import type { Span } from './spans.ts'

const LINE_END = /[\r\n"'`]|\\[nr"']/g

export function lineEnd(text: string, from: number): number {
  LINE_END.lastIndex = from
  const hit = LINE_END.exec(text)
  return hit === null ? text.length : hit.index
}

const DIGEST_RESPONSE = /[^\r\n]{0,1024}?\bresponse=\\{0,3}["']?[^\s"',\\]{1,128}/y

/** The parameters of a digest are in quotes; the last secret one is the response. */
export function digestEnd(text: string, from: number): number {
  DIGEST_RESPONSE.lastIndex = from
  return DIGEST_RESPONSE.test(text) ? DIGEST_RESPONSE.lastIndex : lineEnd(text, from)
}

const PAIR = /(?:\[redacted:[a-z0-9-]{1,32}:[0-9a-f]{8}\][;,\s]{0,3}){0,32}[^\s=;:"'`<>$\\]{1,128}=/y
const MORE = /(?:[^\s=;,"'`<>\\]{1,256}(?:=[^\s;"'`<>\\]{0,4096})?)(?:; {0,2})?/y

/** A cookie header is pairs separated by semicolons; the text after the last pair is the rest of the sentence. */
export function cookieSpan(text: string, from: number): Span | undefined {
  PAIR.lastIndex = from
  if (!PAIR.test(text)) return undefined
  let end = from
  for (let more = true; more; ) {
    MORE.lastIndex = end
    const hit = MORE.exec(text)
    if (hit === null) break
    end += hit[0].trimEnd().length
    more = hit[0].includes(';')
    if (more) end = MORE.lastIndex
  }
  while (end > from && '; ,.'.includes(text[end - 1] as string)) end--
  return { start: from, end, kind: 'cookie' }
}
