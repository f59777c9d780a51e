// Finds armoured private keys: PEM, OpenSSH, PGP and PuTTY. Certificates and public keys are public and stay.
import type { Span } from './spans.ts'

const BEGIN = '-----BEGIN '
const LABEL = /-----BEGIN ([A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?)-----/y
/** Characters of an armoured body, including line ends written as `\n`. */
const BODY = /[A-Za-z0-9+/=\s\\:,.\-"'>|()]/
const PUTTY = /Private-Lines: \d{1,4}\s{1,4}([A-Za-z0-9+/=\s]{1,8192})/

export function pemSpans(text: string, spans: Span[]): void {
  for (let at = text.indexOf(BEGIN); at >= 0; ) {
    LABEL.lastIndex = at
    const label = LABEL.exec(text)
    if (label === null) {
      at = text.indexOf(BEGIN, at + BEGIN.length)
      continue
    }
    let end = at + label[0].length
    while (end < text.length && BODY.test(text[end] as string) && !text.startsWith('-----', end)) end++
    const closing = `-----END ${label[1]}-----`
    // A block that was cut off is masked as far as it looks like one: half a key is still half a key.
    if (text.startsWith(closing, end)) end += closing.length
    spans.push({ start: at, end, kind: 'private-key' })
    at = text.indexOf(BEGIN, end)
  }
  const putty = PUTTY.exec(text)
  if (putty?.[1] !== undefined) {
    const end = putty.index + putty[0].length
    spans.push({ start: end - putty[1].length, end, kind: 'private-key' })
  }
}
