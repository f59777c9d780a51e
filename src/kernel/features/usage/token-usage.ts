// Counts as the AI SDK reports them: parts of the input and the output stand in objects of their own, and unknown counts are `undefined`.

/** The usage object of the AI SDK (`result.usage`, `result.totalUsage`), or counts of one's own. An absent count is zero. */
export interface TokenUsage {
  /** All of the input, cached or not. */
  readonly inputTokens?: number | undefined
  /** All of the output, reasoning included. */
  readonly outputTokens?: number | undefined
  /** Part of `outputTokens`. */
  readonly reasoningTokens?: number | undefined
  readonly inputTokenDetails?:
    | {
        readonly noCacheTokens?: number | undefined
        readonly cacheReadTokens?: number | undefined
        readonly cacheWriteTokens?: number | undefined
      }
    | undefined
  readonly outputTokenDetails?: { readonly textTokens?: number | undefined; readonly reasoningTokens?: number | undefined } | undefined
  /** `cacheReadTokens` in version 5 of the SDK. */
  readonly cachedInputTokens?: number | undefined
  /** Not counted: it is the sum of the others. */
  readonly totalTokens?: number | undefined
  /** Not counted: the provider's own words. */
  readonly raw?: unknown
}

const MARKS = ['inputTokenDetails', 'outputTokenDetails', 'totalTokens', 'raw', 'cachedInputTokens'] as const

/** Whether these are counts of the AI SDK. It may add members at any time, so its unknown ones are left out. */
export const isOfSdk = (given: object): boolean => MARKS.some((name) => Object.hasOwn(given, name))

interface Counts {
  readonly inputTokens?: unknown
  readonly outputTokens?: unknown
  readonly cacheReadTokens?: unknown
  readonly cacheWriteTokens?: unknown
  readonly reasoningTokens?: unknown
}

/** The counts with the parts that stand in details. Some providers report only parts, or leave reasoning out of the output. */
export function flatCounts(given: TokenUsage & Counts): Counts {
  const { noCacheTokens, cacheReadTokens: read, cacheWriteTokens: written } = given.inputTokenDetails ?? {}
  const { textTokens, reasoningTokens: thought } = given.outputTokenDetails ?? {}
  const reasoningTokens = given.reasoningTokens ?? thought
  // Zero as well: usage that is reasoning alone is output.
  const output = given.outputTokens || sumOf(textTokens, reasoningTokens)
  return {
    inputTokens: given.inputTokens ?? sumOf(noCacheTokens, read, written),
    outputTokens: isOfSdk(given) && Number(output) < Number(reasoningTokens) ? reasoningTokens : output,
    cacheReadTokens: given.cacheReadTokens ?? read ?? given.cachedInputTokens,
    cacheWriteTokens: given.cacheWriteTokens ?? written,
    reasoningTokens,
  }
}

/** Undefined where nothing is known. A part that is no number goes on to the check of the sum. */
function sumOf(...parts: readonly unknown[]): unknown {
  const known = parts.filter((part) => part !== undefined && part !== null)
  return known.length === 0 ? undefined : known.reduce<number>((sum, part) => sum + (part as number), 0)
}
