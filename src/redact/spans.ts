// A span is the place of a secret in a text. This file merges the spans that rules found and replaces them by placeholders.
import { passwordLike } from './looks.ts'
import { placeholder, placeholdersIn, type Range, type Tag } from './placeholder.ts'

export interface Span extends Range {
  readonly kind: string
  /** The secret that the tag is made of, if it differs from the text of the span (an encoded form of a bound value). */
  readonly secret?: string
  /** The text that replaces the span, if it is not a placeholder alone (a JSON literal). */
  readonly masked?: string
}

/** Returns the text with every span masked, or the same text if there is none. Placeholders in the text stay. */
export function mask(text: string, found: Span[], tag: Tag): string {
  return replace(text, apart(text, found), tag)
}

/** Merges the spans and cuts the placeholders in the text out of them, because masking must be idempotent. */
export function apart(text: string, found: Span[]): Span[] {
  return found.length === 0 ? found : join(around(text, found, placeholdersIn(text)))
}

/** Masks spans that are in order and do not overlap. */
export function replace(text: string, spans: readonly Span[], tag: Tag): string {
  // A log repeats its secrets, so the tag of each is computed once.
  const tags = new Map<string, string>()
  return rewrite(text, spans, (span) => {
    if (span.masked !== undefined) return span.masked
    const secret = span.secret ?? text.slice(span.start, span.end)
    let known = tags.get(secret)
    if (known === undefined) {
      known = tag(secret)
      tags.set(secret, known)
    }
    return placeholder(span.kind, known)
  })
}

/** Replaces each span by the text that is written for it. */
export function rewrite(text: string, spans: readonly Span[], written: (span: Span) => string): string {
  if (spans.length === 0) return text
  let out = ''
  let from = 0
  for (const span of spans) {
    out += text.slice(from, span.start) + written(span)
    from = span.end
  }
  return out + text.slice(from)
}

/** Merges overlapping spans. A kind known from the secret's shape says more than `key`, so it names the whole. */
function join(found: Span[]): Span[] {
  if (found.length < 2) return found
  const sorted = found.sort((a, b) => a.start - b.start || b.end - a.end)
  const out: Span[] = []
  for (const span of sorted) {
    const last = out.at(-1)
    if (last === undefined || span.start >= last.end) {
      out.push(span)
      continue
    }
    const better = last.kind === 'key' ? span.kind : last.kind
    if (span.end <= last.end) out[out.length - 1] = { ...last, kind: span.end === last.end ? better : last.kind }
    else out[out.length - 1] = { start: last.start, end: span.end, kind: better }
  }
  return out
}

/** Splits the spans around the holes. The holes are in order and do not overlap. */
export function around(text: string, found: Span[], holes: readonly Range[]): Span[] {
  if (holes.length === 0) return found
  const sorted = found.sort((a, b) => a.start - b.start)
  const out: Span[] = []
  let next = 0
  for (const span of sorted) {
    while (next < holes.length && (holes[next] as Range).end <= span.start) next++
    let hole = holes[next]
    if (hole === undefined || hole.start >= span.end) {
      out.push(span)
      continue
    }
    // A rule that took the inside of a placeholder for a name or a value has found nothing.
    if (hole.start < span.start) continue
    let from = span.start
    for (let n = next; hole !== undefined && hole.start < span.end; hole = holes[++n]) {
      rest(text, from, hole.start, span.kind, out)
      from = hole.end
    }
    rest(text, from, span.end, span.kind, out)
  }
  return out
}

const EDGES = ' \t\r\n;,'
const COOKIE_NAME = /(?:^|[\s;,])([^\s=;,]{1,128})=$/
/** A letter, a digit, or more marks than a separator has. */
const CONTENT = /[\p{L}\p{N}]|\S{4}/u

/** Adds the part of a span beside a hole, unless it only separates one secret from the next. */
function rest(text: string, from: number, to: number, kind: string, out: Span[]): void {
  let start = from
  let end = to
  // The name of a cookie whose value is masked already tells nothing, unless it looks like a secret itself.
  const name = kind === 'cookie' ? COOKIE_NAME.exec(text.slice(Math.max(from, to - 130), to))?.[1] : undefined
  if (name !== undefined && !passwordLike(name)) end -= name.length + 1
  while (start < end && EDGES.includes(text[start] as string)) start++
  while (end > start && EDGES.includes(text[end - 1] as string)) end--
  if (CONTENT.test(text.slice(start, end))) out.push({ start, end, kind })
}
