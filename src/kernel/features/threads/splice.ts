// The change from one text to the next: a streamed message grows near its end, so an event holds only what is new.

export interface Splice {
  /** Characters that stay at the beginning. */
  readonly keep: number
  /** Characters that stay at the end. */
  readonly end: number
  readonly text: string
}

export function spliceBetween(before: string, after: string): Splice {
  const most = Math.min(before.length, after.length)
  let keep = 0
  while (keep < most && before.charCodeAt(keep) === after.charCodeAt(keep)) keep++
  if (isHigh(after.charCodeAt(keep - 1))) keep--
  let end = 0
  while (end < most - keep && before.charCodeAt(before.length - 1 - end) === after.charCodeAt(after.length - 1 - end)) end++
  if (end > 0 && isLow(after.charCodeAt(after.length - end))) end--
  return { keep, end, text: after.slice(keep, after.length - end) }
}

export const applySplice = (before: string, { keep, end, text }: Splice): string =>
  before.slice(0, keep) + text + before.slice(before.length - end)

// A pair of surrogates stays together: the journal stores no half of one.
const isHigh = (code: number): boolean => code >= 0xd800 && code < 0xdc00
const isLow = (code: number): boolean => code >= 0xdc00 && code < 0xe000
