// Masks the secrets in one text. A first scan tells which rules could find anything, and only those run.
import { assignmentSpans } from './assignments.ts'
import type { Bound } from './bound.ts'
import type { KeyJudge } from './keys.ts'
import { manifestSpans, openManifest } from './manifests.ts'
import { attributeSpans, elementSpans, openMarkup } from './markup.ts'
import { besideSpans } from './pairs.ts'
import { chpasswdSpans, netrcSpans, openAccounts, redisSpans } from './password-lines.ts'
import { pemSpans } from './pem.ts'
import { percentSpans } from './percent.ts'
import { commandSpans, formSpans, phraseSpans } from './phrases.ts'
import { placeholder, placeholderLength, type Tag } from './placeholder.ts'
import { withoutRepeats } from './repeats.ts'
import { couldBeSealed, openSealed, sealedSpans } from './sealed.ts'
import { openShapes } from './shapes.ts'
import { apart, replace, rewrite, type Span } from './spans.ts'
import {
  ASSIGN,
  AT,
  BRACE,
  COMMAND,
  ELEMENT,
  LINE,
  LONG,
  mentions,
  OPTION,
  PASS,
  PERCENT,
  PHRASE,
  PIPE,
  QUOTE,
  rare,
  SLASH,
  survey,
} from './survey.ts'
import { tableSpans } from './tables.ts'
import { tokenSpans } from './tokens.ts'
import { toolSpans } from './tool-forms.ts'
import type { Undecided } from './undecided.ts'
import { couldBeHook, hookSpans, urlSpans } from './urls.ts'

/** No shorter text can contain a named secret (`pwd=x1`). */
const SHORTEST = 6
/** No shorter text can contain a name beside its secret (`'pw', '…'`). */
const PAIR = 16
const OPTIONS = /(?:^|[\s"'`([])--?[A-Za-z]/

/** In a text without digits and long words. */
const PASS_LETTERS = /epass|pass[wp:]/i
const FORM = rare('form-data', String.raw`\W`)
const MACHINE = rare('machine', String.raw`\s`)
const ACCOUNTS = rare('chpassw', 'd?')

/** A secret hidden behind another is found on the next pass. The limit keeps the cost linear. */
const LOOKS = 4
const EVERY = LONG | PHRASE | ASSIGN | AT | OPTION | ELEMENT | PERCENT | BRACE | LINE | PIPE | SLASH | QUOTE

/** Returns the text with its secrets masked. Masking is idempotent. */
export function maskText(text: string, judge: KeyJudge, bound: Bound, tag: Tag): string {
  return replace(text, scan(text, judge, bound), tag)
}

/**
 * Returns the secrets of a part of a longer text, in order and without overlaps. Rules that the rest of the text could call for run too.
 * `undecided`: more text follows, and is told where it may make a secret of what is there.
 */
export function secretSpans(part: string, judge: KeyJudge, bound: Bound, undecided?: Undecided): readonly Span[] {
  return scan(part, judge, bound, EVERY, undecided)
}

/** Passes repeat until one finds nothing: a placeholder can bring out the secret beside it. */
function scan(text: string, judge: KeyJudge, bound: Bound, traits?: number, undecided?: Undecided): readonly Span[] {
  let spans = look(text, judge, bound, traits, undecided)
  for (let more = spans.length > 0, looks = 1; more && looks < LOOKS; looks++) {
    const short = withoutRepeats(text, spans, untagged)
    if (short !== undefined && look(short, judge, bound, traits).length === 0) break
    const fresh = look(rewrite(text, spans, untagged), judge, bound, traits)
    more = fresh.length > 0
    if (more) spans = merge(spans, fresh)
  }
  return spans
}

/** Tags are computed once, after the last look. Until then one stands for all that looks more random than any other. */
const untagged = (span: Span) => placeholder(span.kind, '1a2b3c4d')

function look(text: string, judge: KeyJudge, bound: Bound, traits?: number, undecided?: Undecided): readonly Span[] {
  const found: Span[] = []
  bound.find(text, found)
  const value = undecided && bound.open(text)
  if (value !== undefined) undecided?.(value.start)
  if (text.length >= SHORTEST || undecided !== undefined) {
    const here = traits ?? survey(text)
    find(text, judge, found, here, undecided)
    // Most short texts have neither, and need not be searched.
    if ((here & (ASSIGN | QUOTE)) !== 0 && (text.length >= PAIR || undecided !== undefined))
      besideSpans(text, judge, found, here, undecided)
    if ((here & PERCENT) !== 0)
      percentSpans(text, (decoded, inside, open) => find(decoded, judge, inside, traits ?? survey(decoded), open), found, undecided)
  }
  return apart(text, found)
}

/** Moves spans of the masked text back to their places in the text itself. They never touch a placeholder. */
function merge(before: readonly Span[], fresh: readonly Span[]): Span[] {
  const out: Span[] = []
  let grown = 0
  let next = 0
  for (const span of fresh) {
    for (; next < before.length; next++) {
      const known = before[next] as Span
      if (known.start + grown >= span.start) break
      out.push(known)
      grown += placeholderLength(known.kind) - (known.end - known.start)
    }
    out.push({ ...span, start: span.start - grown, end: span.end - grown })
  }
  return [...out, ...before.slice(next)]
}

function find(text: string, judge: KeyJudge, spans: Span[], surveyed: number, undecided?: Undecided): void {
  const wordless = (surveyed & PHRASE) === 0
  // A password of letters alone is in a sentence that names it.
  const phrases = !wordless || PASS_LETTERS.test(text)
  const pass = phrases && (phraseSpans(text, spans, undecided) || wordless)
  const command = (surveyed & OPTION) !== 0 && OPTIONS.test(text)
  const traits = surveyed | (pass ? PASS : 0) | (command ? COMMAND : 0)
  if (undecided !== undefined) {
    openManifest(text, undecided)
    openSealed(text, undecided)
    openAccounts(text, undecided)
    openMarkup(text, judge, undecided)
    openShapes(text, undecided)
  }
  if ((traits & LONG) !== 0) tokenSpans(text, (traits & PERCENT) !== 0, spans)
  if ((traits & ASSIGN) !== 0) {
    assignmentSpans(text, judge, spans, undecided)
    if ((traits & AT) !== 0) urlSpans(text, spans, undecided)
    if ((traits & SLASH) !== 0 && couldBeHook(text)) hookSpans(text, spans)
    if ((traits & LINE) !== 0 && text.includes('Secret')) manifestSpans(text, spans)
    if ((traits & BRACE) !== 0 && couldBeSealed(text)) sealedSpans(text, spans)
    if (pass && (traits & PIPE) !== 0 && mentions(text, ACCOUNTS)) chpasswdSpans(text, spans)
  }
  if ((traits & OPTION) !== 0) {
    if (command) commandSpans(text, judge, spans, pass, undecided)
    if ((traits & ASSIGN) !== 0 && text.includes('="') && mentions(text, FORM)) formSpans(text, judge, spans, undecided)
    if (text.includes('BEGIN ') || text.includes('Private-Lines')) pemSpans(text, spans, undecided)
  }
  if (pass && phrases && text.includes('quirep')) redisSpans(text, spans, undecided)
  if ((traits & PIPE) !== 0 && (traits & LINE) !== 0) tableSpans(text, judge, spans, undecided)
  if ((traits & (PHRASE | ASSIGN | QUOTE | COMMAND)) !== 0) toolSpans(text, judge, spans, traits, undecided)
  if ((traits & ELEMENT) !== 0) {
    if (text.includes('</')) elementSpans(text, judge, spans)
    if ((traits & ASSIGN) !== 0) attributeSpans(text, judge, spans)
  }
  if (pass && text.length > 20 && mentions(text, MACHINE)) netrcSpans(text, spans, undecided)
}
