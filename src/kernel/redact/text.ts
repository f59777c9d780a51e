// Masks the secrets in one text. A single pass over the characters says which rules could find anything at all; most texts
// end there.
import { assignmentSpans } from './assignments.ts'
import type { Bound } from './bound.ts'
import type { KeyJudge } from './keys.ts'
import { pemSpans } from './pem.ts'
import { commandSpans, elementSpans, netrcSpans, phraseSpans } from './phrases.ts'
import { mask, type Span, type Tag } from './spans.ts'
import { tokenSpans } from './tokens.ts'
import { urlSpans } from './urls.ts'

/** Nothing shorter can hold a named secret (`pwd=x1`). */
const SHORTEST = 6

const LONG = 1
const MIXED = 2
const ASSIGN = 4
const AT = 8
const FLAG = 16
const DASHES = 32
const ELEMENT = 64

const LETTER = 1
const DIGIT = 2
const JOINT = 4
const SEPARATOR = 8
const ROUTE = 16
const ANGLE = 32
const CLASS = new Uint8Array(128)
for (const char of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz') CLASS[char.charCodeAt(0)] = LETTER
for (const char of '0123456789') CLASS[char.charCodeAt(0)] = DIGIT
for (const char of '_-') CLASS[char.charCodeAt(0)] = JOINT
for (const char of ':=') CLASS[char.charCodeAt(0)] = SEPARATOR
CLASS[64] = ROUTE
CLASS[60] = ANGLE

export function maskText(text: string, judge: KeyJudge, bound: Bound, tag: Tag): string {
  const spans: Span[] = []
  bound.find(text, spans)
  const traits = text.length < SHORTEST ? 0 : survey(text)
  if (traits !== 0) {
    if ((traits & DASHES) !== 0) pemSpans(text, spans)
    if ((traits & LONG) !== 0) tokenSpans(text, spans)
    if ((traits & ASSIGN) !== 0) {
      assignmentSpans(text, judge, spans)
      if ((traits & AT) !== 0) urlSpans(text, spans)
    }
    if ((traits & (MIXED | LONG)) !== 0) phraseSpans(text, spans)
    if ((traits & FLAG) !== 0) commandSpans(text, judge, spans)
    if ((traits & ELEMENT) !== 0) elementSpans(text, judge, spans)
    if (text.startsWith('machine ') || text.includes('\nmachine ')) netrcSpans(text, spans)
  }
  return spans.length === 0 ? text : mask(text, spans, tag)
}

function survey(text: string): number {
  let traits = 0
  let seen = 0
  let start = 0
  const size = text.length
  for (let at = 0; at <= size; at++) {
    const code = at < size ? text.charCodeAt(at) : 32
    const kind = code < 128 ? (CLASS[code] as number) : 0
    if (kind !== 0 && kind <= JOINT) {
      seen |= kind
      continue
    }
    if (seen !== 0) {
      const length = at - start
      if (length >= 6) {
        if (length >= 16) traits |= LONG
        if ((seen & (LETTER | DIGIT)) === (LETTER | DIGIT)) traits |= MIXED
      }
      if (length >= 2 && text.charCodeAt(start) === 45) traits |= length >= 5 && (seen & DIGIT) === 0 && text.startsWith('-----', start) ? DASHES | FLAG : FLAG
      seen = 0
    }
    start = at + 1
    if (kind === SEPARATOR) traits |= ASSIGN
    else if (kind === ROUTE) traits |= AT
    else if (kind === ANGLE) traits |= ELEMENT
  }
  return traits
}
