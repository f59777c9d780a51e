// Finds armoured private keys: PEM, OpenSSH, PGP and PuTTY. Certificates and public keys are public and stay.
import type { Span } from './spans.ts'
import { runStart, type Undecided } from './undecided.ts'

const BEGIN = '-----BEGIN '
const LABEL = /-----BEGIN ([A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?)-----/y
const LABEL_BEGUN = /-----BEGIN [A-Z0-9 ]{0,60}-{0,5}$/y
/** Characters of an armoured body: base64, line ends written as `\n`, headers, and the marks of comments and quotations before a line. */
const BODY = /[A-Za-z0-9+/=\s\\:,.\-"'>|()#*;%<@]{1,1024}|\[redacted:[^\s\]]{0,64}\]/y
const PUTTY = /Private-Lines: \d{1,4}(?:\s|\\{1,8}[nr]){1,4}((?:[A-Za-z0-9+/=\s]|\\{1,8}[nr]){1,8192})/g
/** Longer than any key. A closing line that is farther away belongs to another block. */
const LONGEST = 16_384

export function pemSpans(text: string, spans: Span[], undecided?: Undecided): void {
  for (let at = text.indexOf(BEGIN); at >= 0; ) {
    LABEL.lastIndex = at
    const label = LABEL.exec(text)
    if (label === null) {
      LABEL_BEGUN.lastIndex = at
      // A key right before it is one only if the block is masked.
      if (undecided !== undefined && LABEL_BEGUN.test(text)) undecided(runStart(text, 0, at))
      at = text.indexOf(BEGIN, at + BEGIN.length)
      continue
    }
    const end = blockEnd(text, at + label[0].length, `-----END ${label[1]}-----`)
    if (undecided !== undefined && !closed(text, at + label[0].length, end)) undecided(runStart(text, 0, at))
    spans.push({ start: at, end, kind: 'private-key' })
    at = text.indexOf(BEGIN, end)
  }
  for (const hit of text.matchAll(PUTTY)) {
    const end = hit.index + hit[0].length
    if (end === text.length) undecided?.(end - (hit[1] as string).length)
    spans.push({ start: end - (hit[1] as string).length, end, kind: 'private-key' })
  }
}

function blockEnd(text: string, from: number, closing: string): number {
  const dashes = text.indexOf('-----', from)
  if (dashes >= 0 && dashes - from <= LONGEST && text.startsWith(closing, dashes)) return dashes + closing.length
  // A block that was cut off is masked as far as it looks like one: half a key is still half a key.
  return bodyEnd(text, from, dashes < 0 ? text.length : dashes)
}

/** Returns the place up to which the text could be the body of a block. */
export function bodyEnd(text: string, from: number, limit: number): number {
  let at = from
  for (BODY.lastIndex = at; at < limit && BODY.test(text); ) at = BODY.lastIndex
  return Math.min(at, limit)
}

/** The longest closing line of an armoured block. */
export const CLOSING_CHARS = 80

/** Whether nothing that follows can move the end of a block. */
function closed(text: string, from: number, end: number): boolean {
  const dashes = text.indexOf('-----', from)
  return dashes >= 0 && (end > dashes || text.length - dashes >= CLOSING_CHARS)
}
