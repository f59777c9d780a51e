// Masks the secrets in one text. A first scan tells which rules could find anything, and only those run.
import { assignmentSpans } from './assignments.ts'
import type { Bound } from './bound.ts'
import type { KeyJudge } from './keys.ts'
import { manifestSpans } from './manifests.ts'
import { attributeSpans, elementSpans } from './markup.ts'
import { chpasswdSpans, netrcSpans, pgpassSpans } from './password-lines.ts'
import { pemSpans } from './pem.ts'
import { percentSpans } from './percent.ts'
import { commandSpans, formSpans, phraseSpans } from './phrases.ts'
import type { Tag } from './placeholder.ts'
import { sealedSpans } from './sealed.ts'
import { mask, type Span } from './spans.ts'
import { ASSIGN, AT, ELEMENT, LONG, OPTION, PERCENT, PHRASE, survey } from './survey.ts'
import { tokenSpans } from './tokens.ts'
import { urlSpans, zapierSpans } from './urls.ts'

/** No shorter text can contain a named secret (`pwd=x1`). */
const SHORTEST = 6
const COMMAND = /(?:^|[\s"'`([])--?[A-Za-z]/

/** A secret hidden behind another is found on the next pass. The limit keeps the cost linear. */
const LOOKS = 4

/** Returns the text with its secrets masked. Passes repeat until one finds nothing, so masking is idempotent. */
export function maskText(text: string, judge: KeyJudge, bound: Bound, tag: Tag): string {
  let before = text
  for (let look = 0; look < LOOKS; look++) {
    const spans: Span[] = []
    bound.find(before, spans)
    if (before.length >= SHORTEST) {
      const traits = find(before, judge, spans)
      if ((traits & PERCENT) !== 0) percentSpans(before, (decoded, found) => find(decoded, judge, found), spans)
    }
    if (spans.length === 0) return before
    const after = mask(before, spans, tag)
    if (after === before) return before
    before = after
  }
  return before
}

function find(text: string, judge: KeyJudge, spans: Span[]): number {
  const traits = survey(text)
  if ((traits & LONG) !== 0) tokenSpans(text, spans)
  if ((traits & ASSIGN) !== 0) {
    assignmentSpans(text, judge, spans)
    if ((traits & AT) !== 0) urlSpans(text, spans)
    pgpassSpans(text, spans)
    if (text.includes('chpasswd')) chpasswdSpans(text, spans)
    if (text.includes('hooks.zapier.com')) zapierSpans(text, spans)
    if (text.includes('Secret')) manifestSpans(text, spans)
    sealedSpans(text, spans)
  }
  if ((traits & OPTION) !== 0) {
    if (COMMAND.test(text)) commandSpans(text, judge, spans)
    if (text.includes('form-data')) formSpans(text, judge, spans)
    if (text.includes('-----BEGIN ') || text.includes('Private-Lines')) pemSpans(text, spans)
  }
  if ((traits & PHRASE) !== 0) phraseSpans(text, spans)
  if ((traits & ELEMENT) !== 0) {
    if (text.includes('</')) elementSpans(text, judge, spans)
    if ((traits & ASSIGN) !== 0) attributeSpans(text, judge, spans)
  }
  if (text.length > 20 && text.includes('machine ')) netrcSpans(text, spans)
  return traits
}
