// Usage of models: token counts and cost, by the purpose and the model. Counts are integers, so that sums stay exact.

import type { Id, RunId, SessionId } from './ids.ts'

export interface UsageCounts {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cacheReadTokens: number
  readonly cacheWriteTokens: number
  /** Included in the output tokens. */
  readonly reasoningTokens: number
  /** In billionths of a dollar, so that sums are exact. */
  readonly costNanoUsd: number
}

export interface Usage extends UsageCounts {
  readonly source: string
  readonly model: string
}

/** The usage of one session, source and model in one UTC hour. */
export interface UsageRow extends Usage {
  readonly id: Id<'usage'>
  readonly session: SessionId
  /** Unix milliseconds at which the hour begins. */
  readonly hour: number
  /** A count would be larger than 2^53 − 1 and stays there, because larger sums are not exact. */
  readonly overflow?: boolean | undefined
}

/** The data of `usage.added`. */
export interface UsageAdded extends Usage {
  readonly session: SessionId
  readonly run?: RunId | undefined
  readonly hour: number
}
