// Finds armoured private keys: PEM, OpenSSH, PGP and PuTTY. Certificates and public keys are public and stay.
import { placeholderEnd } from './placeholder.ts'
import type { Span } from './spans.ts'

const BEGIN = '-----BEGIN '
const LABEL = /-----BEGIN ([A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?)-----/y
/** Characters of an armoured body, including line ends written as `\n`. */
export const BODY = /[A-Za-z0-9+/=\s\\:,.\-"'>|()]/
export const END_LINE = /-----END [A-Z0-9 ]{0,60}-----/y
const PUTTY = /Private-Lines: \d{1,4}\s{1,4}([A-Za-z0-9+/=\s]{1,8192})/g
/** Longer than any key. A closing line that is farther away belongs to another block. */
const LONGEST = 16_384

export function pemSpans(text: string, spans: Span[]): void {
  for (let at = text.indexOf(BEGIN); at >= 0; ) {
    LABEL.lastIndex = at
    const label = LABEL.exec(text)
    if (label === null) {
      at = text.indexOf(BEGIN, at + BEGIN.length)
      continue
    }
    const end = blockEnd(text, at + label[0].length, `-----END ${label[1]}-----`)
    spans.push({ start: at, end, kind: 'private-key' })
    at = text.indexOf(BEGIN, end)
  }
  for (const hit of text.matchAll(PUTTY)) {
    const end = hit.index + hit[0].length
    spans.push({ start: end - (hit[1] as string).length, end, kind: 'private-key' })
  }
}

function blockEnd(text: string, from: number, closing: string): number {
  const dashes = text.indexOf('-----', from)
  if (dashes >= 0 && dashes - from <= LONGEST && text.startsWith(closing, dashes)) return dashes + closing.length
  // A block that was cut off is masked as far as it looks like one: half a key is still half a key.
  let end = from
  while (end < text.length && end !== dashes) {
    const skipped = text[end] === '[' ? placeholderEnd(text, end) : -1
    if (skipped < 0 && !BODY.test(text[end] as string)) break
    end = skipped < 0 ? end + 1 : skipped
  }
  return end
}
