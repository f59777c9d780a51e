// A span is the place of a secret in a text. This file merges the spans that rules found and replaces them by placeholders.

export interface Span {
  readonly start: number
  readonly end: number
  readonly kind: string
  /** The secret that the tag is made of, if it differs from the text of the span (an encoded form of a bound value). */
  readonly secret?: string
}

export type Tag = (secret: string) => string

const PLACEHOLDER = /\[redacted:[a-z0-9-]{1,32}:[^\]\s]{1,128}\]/g

export function placeholder(kind: string, secret: string, tag: Tag): string {
  return `[redacted:${kind}:${tag(secret)}]`
}

export function hasPlaceholder(text: string): boolean {
  return text.includes('[redacted:') && text.search(PLACEHOLDER) >= 0
}

/** Returns the text with every span masked, or the same text if there is none. */
export function mask(text: string, found: Span[], tag: Tag): string {
  const spans = join(apartFromPlaceholders(text, found))
  if (spans.length === 0) return text
  let out = ''
  let from = 0
  for (const span of spans) {
    out += text.slice(from, span.start) + placeholder(span.kind, span.secret ?? text.slice(span.start, span.end), tag)
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

/** Drops spans that touch a placeholder, because masking must be idempotent. */
function apartFromPlaceholders(text: string, found: Span[]): Span[] {
  if (found.length === 0 || !text.includes('[redacted:')) return found
  const taken = [...text.matchAll(PLACEHOLDER)].map((hit) => ({ start: hit.index, end: hit.index + hit[0].length }))
  if (taken.length === 0) return found
  const sorted = found.sort((a, b) => a.start - b.start)
  let next = 0
  return sorted.filter((span) => {
    while (next < taken.length && (taken[next]?.end ?? 0) <= span.start) next++
    const hit = taken[next]
    return hit === undefined || hit.start >= span.end
  })
}
