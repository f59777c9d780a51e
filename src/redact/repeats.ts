// Shortens a masked text that says the same thing again and again: a dump of keys, a log of requests. A rule that finds nothing in one
// stretch of it finds nothing in a copy of that stretch, so the next look reads each stretch once.
import type { Span } from './spans.ts'

/** Fewer secrets are cheaper to read than to compare. */
const FEWEST = 32
/** Different units that are told apart. A text with more of them does not repeat itself. */
const UNITS = 64
/** Units that are compared together: the neighbours of a placeholder are read with it. */
const STRETCH = 7
const OLDER = UNITS ** (STRETCH - 1)

/**
 * Returns the masked text without its repeats, or undefined if it has few. A unit is a placeholder and the text before it. `written` gives
 * the placeholder of a span, the same for all secrets of its kind.
 */
export function withoutRepeats(text: string, spans: readonly Span[], written: (span: Span) => string): string | undefined {
  if (spans.length < FEWEST) return undefined
  const units = new Map<string, Map<string, number>>()
  const stretches = new Set<number>()
  let size = 0
  let stretch = 0
  let out = ''
  /** The next unit to copy. */
  let next = 0
  const gap = (n: number) => text.slice(n === 0 ? 0 : (spans[n - 1] as Span).end, (spans[n] as Span).start)
  for (let n = 0; n < spans.length; n++) {
    const { kind } = spans[n] as Span
    let ofKind = units.get(kind)
    if (ofKind === undefined) {
      ofKind = new Map()
      units.set(kind, ofKind)
    }
    const before = gap(n)
    let id = ofKind.get(before)
    if (id === undefined) {
      id = size++
      if (id === UNITS || (n > 0 && oddQuotes(before))) return undefined
      ofKind.set(before, id)
    }
    stretch = (stretch % OLDER) * UNITS + id
    if (stretches.has(stretch) && n < spans.length - 1) continue
    stretches.add(stretch)
    for (next = Math.max(next, n - STRETCH + 1); next <= n; next++) out += gap(next) + written(spans[next] as Span)
  }
  return out + text.slice((spans.at(-1) as Span).end)
}

const QUOTES = ['"', "'", '`']

/** Whether quotes that open here close in another unit. Then the repeats depend on the units between them. */
function oddQuotes(text: string): boolean {
  return QUOTES.some((quote) => text.split(quote).length % 2 === 0)
}
